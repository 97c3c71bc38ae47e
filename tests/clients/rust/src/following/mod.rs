//! A reflector that follows a server through stops and kills while a writer keeps writing.
//!
//! The writer is the only one in its namespace, and determines the outcome of each write without an answer. So it knows
//! every change, in order. The reflector must receive exactly these, each once, and its store must finally equal the
//! server's list. The server keeps its history across restarts, so no restart makes the client list again.

mod writer;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::StreamExt;
use k8s_openapi::api::core::v1::Namespace;
use kindsmith::kube::Kube;
use kube::{
    Api, Client, ResourceExt,
    api::{ListParams, PostParams},
    runtime::{
        WatchStreamExt,
        reflector::{self, Store},
        watcher::{self, Event},
    },
};
use library::Book;
use serde_json::Value;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use self::writer::{Change, Writer};
use crate::{
    Failure,
    kinds::{book, named},
    server::Server,
};

/// Books that exist from the beginning and are never written: more than fit into a chunk.
const KEPT: usize = 20;

/// The number of writes before and after each end of the server.
const WRITES: usize = 50;

/// The maximum time until the reflector is up to date. The client waits longer after each failure.
const PATIENCE: Duration = Duration::from_mins(1);

/// How the server ends.
pub enum End {
    /// By SIGTERM.
    Stop,
    /// By SIGKILL.
    Kill,
}

/// Follows books in a separate namespace while the server ends and starts again.
pub async fn through(
    library: Arc<tokio::sync::Mutex<Server>>,
    namespace: &str,
    config: watcher::Config,
    ends: Vec<End>,
) -> Result<(), Failure> {
    let mut library = library.lock().await;
    // An earlier step may have failed while the server was down.
    library.start_again().await?;
    let client = library.client().await?;
    let books = books_of(client.clone(), namespace).await?;
    // A separate client, like that of a controller elsewhere.
    let follower = Follower::start(Api::namespaced(library.client().await?, namespace), config).await?;

    let (writer, progress) = Writer::new(books.clone());
    let mut written = 0;
    let mut tasks = JoinSet::new();
    let stop = writer.stop();
    tasks.spawn(writer.run());
    for end in ends {
        written = progress.wait_for(written + WRITES, &mut tasks).await?;
        match end {
            End::Stop => library.stop().await?,
            End::Kill => library.kill().await?,
        }
        library.start_again().await?;
        written = progress.wait_for(written + WRITES, &mut tasks).await?;
    }
    stop.stop();
    let changes = tasks.join_next().await.ok_or("the writer is there")???;

    let wanted = listed(&books).await?;
    let converged = timeout(PATIENCE, async {
        while follower.stored()? != wanted || follower.told() < changes.len() {
            sleep(Duration::from_millis(20)).await;
        }
        Ok::<_, Failure>(())
    });
    // If it does not converge, the difference is more informative than a timeout.
    let in_time = converged.await;
    follower.compare(&changes)?;
    in_time.map_err(|_| "the store never became what the server lists")??;
    assert_eq!(
        written_names(&changes, KEPT),
        wanted.into_keys().collect::<Vec<_>>(),
        "the list holds what was written"
    );
    Ok(())
}

/// The Api of a new namespace, with some books in it.
async fn books_of(client: Client, namespace: &str) -> Result<Api<Kube<Book>>, Failure> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces
        .create(&PostParams::default(), &Namespace { metadata: named(namespace), ..Namespace::default() })
        .await?;
    let books: Api<Kube<Book>> = Api::namespaced(client, namespace);
    for number in 0..KEPT {
        books.create(&PostParams::default(), &book(&format!("kept-{number:02}"), 1)).await?;
    }
    Ok(books)
}

/// The server's complete list, by name.
async fn listed(books: &Api<Kube<Book>>) -> Result<BTreeMap<String, Value>, Failure> {
    let list = books.list(&ListParams::default()).await?;
    list.items.iter().map(|book| Ok((book.name_any(), serde_json::to_value(book)?))).collect()
}

/// The expected names after all changes, sorted.
fn written_names(changes: &[Change], kept: usize) -> Vec<String> {
    let mut names: BTreeMap<String, bool> = (0..kept).map(|number| (format!("kept-{number:02}"), true)).collect();
    names.extend(changes.iter().map(|change| (change.name.clone(), change.revision.is_some())));
    names.into_iter().filter_map(|(name, there)| there.then_some(name)).collect()
}

/// A reflector, and the events that it received.
struct Follower {
    store: Store<Kube<Book>>,
    told: Arc<Mutex<Told>>,
    _task: JoinSet<()>,
}

/// The watcher's events since its initial list.
#[derive(Default)]
struct Told {
    initial: bool,
    lists: usize,
    changes: Vec<Change>,
}

impl Told {
    fn hear(&mut self, event: &Event<Kube<Book>>) {
        match event {
            Event::Init => self.lists += 1,
            Event::InitApply(_) => {}
            Event::InitDone => self.initial = true,
            Event::Apply(book) => self.changes.push(Change::applied(book)),
            Event::Delete(book) => self.changes.push(Change { name: book.name_any(), revision: None }),
        }
    }
}

impl Follower {
    /// Starts to follow, and waits for the initial list.
    async fn start(books: Api<Kube<Book>>, config: watcher::Config) -> Result<Self, Failure> {
        let (store, writer) = reflector::store();
        let told = Arc::new(Mutex::new(Told::default()));
        let hears = told.clone();
        let mut stream = reflector::reflector(writer, watcher::watcher(books, config)).default_backoff().boxed();
        let mut task = JoinSet::new();
        task.spawn(async move {
            // The end of the server shows as errors; the watcher continues by itself.
            while let Some(event) = stream.next().await {
                if let Ok(event) = event {
                    hears.lock().expect("no holder of the lock panics").hear(&event);
                }
            }
        });
        timeout(PATIENCE, store.wait_until_ready()).await??;
        Ok(Self { store, told, _task: task })
    }

    /// The complete store, by name.
    fn stored(&self) -> Result<BTreeMap<String, Value>, Failure> {
        let state = self.store.state();
        state.iter().map(|book| Ok((book.name_any(), serde_json::to_value(book.as_ref())?))).collect()
    }

    /// The number of changes that it received.
    fn told(&self) -> usize {
        self.told.lock().expect("no holder of the lock panics").changes.len()
    }

    /// It must have received exactly these changes, in this order.
    fn compare(&self, changes: &[Change]) -> Result<(), Failure> {
        let told = self.told.lock().expect("no holder of the lock panics");
        if !told.initial || told.lists != 1 {
            return Err(format!("it had to list {} times", told.lists).into());
        }
        let same = told.changes.iter().zip(changes).take_while(|(told, made)| told == made).count();
        if same == changes.len() && same == told.changes.len() {
            return Ok(());
        }
        let (told, made) = (told.changes.get(same), changes.get(same));
        Err(format!("change {same} of {}: told of {told:?}, but made was {made:?}", changes.len()).into())
    }
}
