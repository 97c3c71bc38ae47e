//! kill -9 under load, thirty times over one data directory. Every acknowledged write is there, intact and with its
//! resourceVersion; no resourceVersion is used twice; a watch resumed from before the kill gets every change once and
//! in order, and never a 410.

mod history;
mod watcher;
mod writer;

use std::{
    collections::HashSet,
    process::{Command, Stdio},
    time::Duration,
};

use kindsmith_tests::{Client, Folder, Random, ServerProcess};
use serde_json::Value;
use tokio::time::sleep;

use history::History;
use watcher::Watcher;
use writer::Writer;

const PROGRAM: &str = env!("CARGO_BIN_EXE_conformance-server");
const KILLS: usize = 30;
const WRITERS: usize = 8;
const TOKEN: &str = "crash-token";
/// The objects are `ConfigMap`s of this namespace.
const PATH: &str = "/api/v1/namespaces/default/configmaps";

struct Arena {
    folder: Folder,
}

impl Arena {
    fn new() -> Self {
        let folder = Folder::new("crash");
        std::fs::write(folder.path().join("tokens.csv"), format!("{TOKEN},admin,1,\"system:masters\"\n"))
            .expect("the folder takes a file");
        Self { folder }
    }

    fn arguments(&self) -> Vec<String> {
        let (data, tokens) = (self.folder.path().join("data"), self.folder.path().join("tokens.csv"));
        let path = |path: std::path::PathBuf| path.to_str().expect("the path is text").to_owned();
        ["--listen", "127.0.0.1:0", "--data-dir", &path(data), "--token-file", &path(tokens)].map(str::to_owned).into()
    }

    fn start(&self) -> ServerProcess {
        let arguments = self.arguments();
        ServerProcess::start(PROGRAM, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Starts a server and kills it before it is ready, or just after.
    async fn kill_while_starting(&self, random: &mut Random) {
        let mut child = Command::new(PROGRAM)
            .args(self.arguments())
            .stdout(Stdio::null())
            .spawn()
            .expect("the server's program starts");
        sleep(Duration::from_millis(random.number() % 60)).await;
        child.kill().expect("the server can be killed");
        child.wait().expect("the server is our child");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_thirty_times_under_eight_writers() {
    let mut random = Random::from_environment();
    let arena = Arena::new();
    let mut writers: Vec<Writer> = (0..WRITERS).map(|number| Writer::new(number, random.fork())).collect();
    let mut history = History::since(first_revision(&arena).await);
    for round in 0..KILLS {
        if round % 5 == 4 {
            arena.kill_while_starting(&mut random).await;
        }
        let server = arena.start();
        let client = Client::new(server.url(), TOKEN);
        settle(&client, &mut writers, &mut history).await;
        history.check_replay(&client, &mut random).await;

        let watcher = Watcher::start(client.another(), history.last());
        let tasks: Vec<_> = writers
            .drain(..)
            .map(|mut writer| {
                let client = client.another();
                tokio::spawn(async move {
                    writer.write_until_the_end(client).await;
                    writer
                })
            })
            .collect();
        sleep(Duration::from_millis(20 + random.number() % 500)).await;
        server.kill();
        for task in tasks {
            writers.push(task.await.expect("no writer found anything wrong"));
        }
        history.extend(watcher.finish().await);
    }
    let server = arena.start();
    let client = Client::new(server.url(), TOKEN);
    settle(&client, &mut writers, &mut history).await;
    history.check_replay(&client, &mut random).await;
    check_acknowledged(&writers, &history);
}

/// The revision of the empty collection, from which the watch starts.
async fn first_revision(arena: &Arena) -> u64 {
    let server = arena.start();
    let list = Client::new(server.url(), TOKEN).get(PATH).await.expect("the server answers").json();
    head(&list)
}

fn head(list: &Value) -> u64 {
    list["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).expect("a list has a revision")
}

/// After a start: compares the content with the acknowledged writes, and updates the history.
async fn settle(client: &Client, writers: &mut [Writer], history: &mut History) {
    let list = client.another().get(PATH).await.expect("a server that was killed starts again").json();
    for writer in writers {
        writer.compare(&list);
    }
    history.extend(Watcher::read_up_to(client, history.last(), head(&list)).await);
}

/// Each acknowledged write was watched exactly once, with its resourceVersion and content, and nothing else was.
fn check_acknowledged(writers: &[Writer], history: &History) {
    let mut seen = HashSet::new();
    let mut count = 0;
    for writer in writers {
        for (name, wanted) in writer.told() {
            assert_eq!(
                history.of(name),
                *wanted,
                "the changes of {name}, as watched (left) and as acknowledged (right)"
            );
            count += wanted.len();
        }
        for revision in writer.revisions() {
            assert!(seen.insert(*revision), "resourceVersion {revision} was given twice");
        }
    }
    eprintln!("{count} writes over {KILLS} kills, {} acknowledged with a resourceVersion", seen.len());
    assert!(count > KILLS * WRITERS, "the writers wrote too little to show anything: {count}");
}
