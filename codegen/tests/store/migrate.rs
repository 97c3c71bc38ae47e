//! Storage migration of a running server, asked for by the command.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use kindsmith::{Resource, Server, server::TestServer};
use kindsmith_storage::{Embedded, Options};
use kindsmith_tests::Folder;
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::sleep};

use crate::{
    lamp::{Lamp, v1alpha1, v1beta1},
    sample::{expect, path},
};

const WRITERS: usize = 64;
const LAMPS: &str = "lamps.wire.example.com";

fn url(version: &str, name: &str) -> String {
    format!("/apis/wire.example.com/{version}/namespaces/default/lamps{name}")
}

/// Stores so many lamps, and one that has no form in v1, by a server that stores v1alpha1.
async fn stored_by_an_older_program(dir: &Path, count: usize) {
    let alone = v1alpha1::Lamp::kind().with(|_, _, binding| binding.conversion = None);
    let server = Arc::new(Server::test().data_dir(dir).model(alone).start().await);
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let server = Arc::clone(&server);
        writers.spawn(async move {
            for number in (writer..=count).step_by(WRITERS) {
                let owner = if number == count { "" } else { "ann" };
                let body = json!({
                    "apiVersion": "wire.example.com/v1alpha1", "kind": "Lamp",
                    "metadata": {"name": format!("lamp-{number:04}")}, "spec": {"owner": owner, "watts": "40W"},
                });
                let (status, created) = server.call("POST", &url("v1alpha1", ""), body).await;
                assert_eq!(status, 201, "{created}");
            }
        });
    }
    writers.join_all().await;
}

/// The server of the program that stores v1.
async fn newer_program(dir: &Path) -> TestServer {
    Server::test().data_dir(dir).kind::<Lamp>().kind::<v1beta1::Lamp>().kind::<v1alpha1::Lamp>().start().await
}

fn migrate(dir: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_kindsmith"))
        .args(["store".as_ref(), "migrate".as_ref(), dir.as_os_str()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The exit code, standard output and standard error.
async fn ended(command: Child) -> (Option<i32>, String, String) {
    let output = tokio::task::spawn_blocking(|| command.wait_with_output()).await.unwrap().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// What the server says of an object: a version of it that changes with each write.
async fn revision(server: &TestServer, number: usize) -> Value {
    let (_, lamp) = server.call("GET", &url("v1", &format!("/lamp-{number:04}")), Value::Null).await;
    lamp["metadata"]["resourceVersion"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_objects_are_rewritten_beside_writers_and_what_cannot_be_is_named() {
    const COUNT: usize = 400;
    let folder = Folder::new("store");
    let dir = folder.path().join("data");
    stored_by_an_older_program(&dir, COUNT).await;
    let server = newer_program(&dir).await;
    let untouched = revision(&server, 1).await;
    let command = migrate(&dir);
    for number in (0..COUNT).step_by(10).rev() {
        let lamp = url("v1", &format!("/lamp-{number:04}"));
        let (status, _) = if number % 20 == 0 {
            server.call("DELETE", &lamp, Value::Null).await
        } else {
            server.call("PATCH", &lamp, json!({"spec": {"owner": "bob"}})).await
        };
        assert_eq!(status, 200);
    }
    let (code, out, err) = ended(command).await;
    assert_eq!((code, err.as_str()), (Some(1), ""), "{out}");
    assert!(out.contains(&format!("  skipped default/lamp-{COUNT:04}: somebody owns a lamp\n")), "{out}");
    assert!(out.contains(&format!("\n{LAMPS}: ")) && out.starts_with("namespaces: 0 objects rewritten, "), "{out}");
    assert_ne!(revision(&server, 1).await, untouched);

    // The object that cannot be stored in v1 goes; then nothing is left.
    let (status, _) =
        server.call("PATCH", &url("v1alpha1", &format!("/lamp-{COUNT:04}")), json!({"spec": {"owner": "eve"}})).await;
    assert_ne!(status, 200, "it cannot be written either");
    let (code, out, _) = ended(migrate(&dir)).await;
    assert_eq!((code, out.contains(": 0 objects rewritten, 380 already current, 1 skipped")), (Some(1), true), "{out}");
    drop(server);

    let without = Server::test().data_dir(&dir).kind::<Lamp>().start().await;
    for number in 0..COUNT {
        let (status, lamp) = without.call("GET", &url("v1", &format!("/lamp-{number:04}")), Value::Null).await;
        let owner = if number % 10 == 0 { "bob" } else { "ann" };
        match number % 20 {
            0 => assert_eq!(status, 404),
            _ => {
                assert_eq!((status, &lamp["spec"]), (200, &json!({"owner": owner, "size": {"watts": 40}, "count": 1})));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_migration_is_finished_by_the_next() {
    const COUNT: usize = 3_000;
    let folder = Folder::new("store");
    let dir = folder.path().join("data");
    stored_by_an_older_program(&dir, COUNT).await;
    let server = newer_program(&dir).await;
    let (first, last) = (revision(&server, 0).await, revision(&server, COUNT - 1).await);
    let command = migrate(&dir);
    while revision(&server, 0).await == first {
        sleep(Duration::from_millis(1)).await;
    }
    let sent = Command::new("kill").args(["-s", "INT", &command.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let (code, out, err) = ended(command).await;
    assert_eq!((code, out.as_str(), err.starts_with("interrupted: at least ")), (Some(130), "", true), "{err}");
    assert_eq!(revision(&server, COUNT - 1).await, last, "the server does not go on to the end");

    let (out, _) = expect(1, &[path("migrate"), &dir, path(LAMPS)]);
    let (rewritten, rest) =
        out.strip_prefix(&format!("{LAMPS}: ")).unwrap().split_once(" objects rewritten, ").unwrap();
    let (current, _) = rest.split_once(" already current, 1 skipped").unwrap();
    let [rewritten, current] = [rewritten, current].map(|count| count.replace(',', "").parse::<usize>().unwrap());
    assert!(rewritten > 0 && current > 0 && rewritten + current == COUNT, "{out}");
    assert_ne!(revision(&server, COUNT - 1).await, last);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_resources_and_missing_servers_are_reported() {
    let folder = Folder::new("store");
    let dir = folder.path().join("data");
    let server = newer_program(&dir).await;
    let (_, err) = expect(2, &[path("migrate"), &dir, path(LAMPS), path("lamps")]);
    assert!(err.contains("does not store the resource \"lamps\"") && err.contains(LAMPS), "{err}");
    let (out, _) = expect(0, &[path("migrate"), &dir, path(LAMPS), path("configmaps")]);
    assert!(
        out.starts_with(&format!("{LAMPS}: 0 objects rewritten, 0 already current, 0 skipped\nconfigmaps: ")),
        "{out}"
    );
    server.stop();
    let (_, err) = expect(2, &[path("migrate"), &dir]);
    assert!(err.contains("no server uses") && err.contains("start it with this data directory"), "{err}");
    let _store = Embedded::open(&dir, Options::default()).unwrap();
    let (_, err) = expect(2, &[path("migrate"), &dir]);
    assert!(err.contains("no server has declared its kinds yet"), "{err}");
}
