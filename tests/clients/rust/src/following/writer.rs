//! A writer that writes continuously and knows the outcome of each write, even of those without an answer.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use kindsmith::kube::Kube;
use kube::{
    Api, Error, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use library::Book;
use serde_json::json;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{Failure, kinds::book};

/// The number of books that it writes in turn.
const BOOKS: usize = 12;

/// The maximum time that the server may be away.
const PATIENCE: Duration = Duration::from_mins(1);

/// A change of an object: its new revision, or its deletion.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The object's name.
    pub name: String,
    /// Its revision; `None` for a deleted object.
    pub revision: Option<String>,
}

impl Change {
    /// The change that produced an object.
    pub fn applied(book: &Kube<Book>) -> Self {
        Self { name: book.name_any(), revision: book.resource_version() }
    }
}

/// The writer.
pub struct Writer {
    books: Api<Kube<Book>>,
    known: BTreeMap<String, String>,
    changes: Vec<Change>,
    count: watch::Sender<usize>,
    going: Arc<AtomicBool>,
}

/// The writer's progress.
pub struct Progress(watch::Receiver<usize>);

impl Progress {
    /// Waits until there are this many changes; returns their number. Fails with the writer's error if it gave up.
    pub async fn wait_for(
        &self,
        changes: usize,
        writer: &mut JoinSet<Result<Vec<Change>, Failure>>,
    ) -> Result<usize, Failure> {
        let mut count = self.0.clone();
        let reached = timeout(PATIENCE, async { count.wait_for(|count| *count >= changes).await.map(|count| *count) });
        if let Ok(count) = reached.await.map_err(|_| "the writer gets no further")? {
            return Ok(count);
        }
        match writer.join_next().await.ok_or("the writer is there")?? {
            Err(why) => Err(why),
            Ok(changes) => Err(format!("the writer stopped after {} changes", changes.len()).into()),
        }
    }
}

/// Tells the writer to stop.
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// After its current write.
    pub fn stop(&self) {
        self.0.store(false, Relaxed);
    }
}

impl Writer {
    /// A writer that has written nothing.
    pub fn new(books: Api<Kube<Book>>) -> (Self, Progress) {
        let (count, progress) = watch::channel(0);
        let going = Arc::new(AtomicBool::new(true));
        (Self { books, known: BTreeMap::new(), changes: Vec::new(), count, going }, Progress(progress))
    }

    /// The handle that stops it.
    pub fn stop(&self) -> Stop {
        Stop(self.going.clone())
    }

    /// Writes until it is stopped; returns all changes, in order.
    pub async fn run(mut self) -> Result<Vec<Change>, Failure> {
        let mut number = 0;
        while self.going.load(Relaxed) {
            let name = format!("book-{:02}", number % BOOKS);
            let revision = self.write(number, &name).await?;
            if revision.as_ref() != self.known.get(&name) {
                match &revision {
                    Some(revision) => self.known.insert(name.clone(), revision.clone()),
                    None => self.known.remove(&name),
                };
                self.changes.push(Change { name, revision });
                self.count.send_replace(self.changes.len());
            }
            number += 1;
        }
        Ok(self.changes)
    }

    /// Creates, changes or deletes a book; returns its new revision.
    async fn write(&self, number: usize, name: &str) -> Result<Option<String>, Failure> {
        let written = if !self.known.contains_key(name) {
            self.books.create(&PostParams::default(), &book(name, 1)).await.map(Some)
        } else if number.is_multiple_of(5) {
            self.books.delete(name, &DeleteParams::default()).await.map(|_| None)
        } else {
            let patch = Patch::Merge(json!({"spec": {"copies": number}}));
            self.books.patch(name, &PatchParams::default(), &patch).await.map(Some)
        };
        match written {
            Ok(book) => Ok(book.and_then(|book| book.resource_version())),
            Err(error) if away(&error) => self.outcome(name).await,
            Err(error) => Err(format!("write {number}, of {name}: {error}").into()),
        }
    }

    /// The outcome of a write without an answer. There is no other writer, so the current state shows it.
    async fn outcome(&self, name: &str) -> Result<Option<String>, Failure> {
        let asking = async {
            loop {
                match self.books.get_opt(name).await {
                    Ok(found) => return Ok(found.and_then(|book| book.resource_version())),
                    Err(error) if away(&error) => sleep(Duration::from_millis(20)).await,
                    Err(error) => return Err(format!("what became of {name}: {error}").into()),
                }
            }
        };
        timeout(PATIENCE, asking).await.map_err(|_| "the server does not come back")?
    }
}

/// True if the server or the connection is ending: the only reason for a write without an answer.
fn away(error: &Error) -> bool {
    match error {
        Error::Api(status) => status.code == 503,
        other => matches!(other, Error::Service(_) | Error::HyperError(_)),
    }
}
