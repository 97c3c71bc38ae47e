//! The flags that the kit's README names, and how the process starts and ends.

mod output;

use std::{
    process::{Command, Stdio},
    time::Duration,
};

use kindsmith_tests::{Client, Folder, ServerProcess};
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_conformance-server");
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn with_tokens(folder: &Folder) -> String {
    let path = folder.path().join("tokens.csv");
    std::fs::write(&path, "t1,admin,1,\"system:masters\"\nt2,alice,2,\"developers\"\n")
        .expect("the folder takes a file");
    path.to_str().expect("the path is text").to_owned()
}

#[tokio::test]
async fn a_graceful_stop_keeps_objects_and_ends_watches_cleanly() {
    let folder = Folder::new("flags");
    let (tokens, data) = (with_tokens(&folder), format!("{}/data", folder.text()));
    let arguments = ["--listen", "127.0.0.1:0", "--data-dir", &data, "--token-file", &tokens];
    let server = ServerProcess::start(PROGRAM, &arguments);
    let mut client = Client::new(server.url(), "t1");
    let map = json!({"metadata": {"name": "kept"}, "data": {"a": "b"}});
    assert_eq!(client.json("POST", MAPS, &map).await.expect("the server answers").status, 201);
    let kept = client.get(&format!("{MAPS}/kept")).await.expect("the server answers").json();
    let mut events = client.watch(&format!("{MAPS}?watch=true")).await.expect("a watch begins");
    let first = events.next().await.expect("the stream is whole").expect("the object is there");
    assert_eq!(first["type"], "ADDED");

    let ended = tokio::task::spawn_blocking(|| server.terminate());
    let last = tokio::time::timeout(Duration::from_secs(10), events.next()).await.expect("the watch ends");
    assert_eq!(last.expect("it ends after a whole frame"), None::<Value>);
    let (well, _) = ended.await.expect("the server can be stopped");
    assert!(well, "the server ends well at SIGTERM");

    let server = ServerProcess::start(PROGRAM, &arguments);
    let again = Client::new(server.url(), "t1").get(&format!("{MAPS}/kept")).await.expect("the server answers").json();
    assert_eq!(again, kept);
}

#[tokio::test]
async fn users_are_those_of_the_token_file_and_only_masters_may() {
    let folder = Folder::new("flags");
    let server = ServerProcess::start(PROGRAM, &["--listen", "127.0.0.1:0", "--token-file", &with_tokens(&folder)]);
    for (token, status) in [("t1", 200), ("t2", 403), ("t3", 401), ("", 403)] {
        let answer = Client::new(server.url(), token).get(MAPS).await.expect("the server answers");
        assert_eq!(answer.status, status, "token {token:?}: {:?}", answer.body);
    }
}

/// Waits until a token gets this status.
async fn wait_for_status(server: &ServerProcess, token: &str, status: u16) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    while Client::new(server.url(), token).get(MAPS).await.expect("the server answers").status != status {
        assert!(tokio::time::Instant::now() < deadline, "the token {token} gets no {status}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn the_token_file_is_read_again_when_it_changes_and_on_sighup() {
    let folder = Folder::new("flags");
    let tokens = with_tokens(&folder);
    let server = ServerProcess::start(PROGRAM, &["--listen", "127.0.0.1:0", "--token-file", &tokens]);
    wait_for_status(&server, "t1", 200).await;
    // Replaced by a rename, like a mounted Secret.
    let new = folder.path().join("new.csv");
    std::fs::write(&new, "t4,admin,1,\"system:masters\"\n").expect("the folder takes a file");
    std::fs::rename(&new, &tokens).expect("the folder takes a file");
    wait_for_status(&server, "t4", 200).await;
    wait_for_status(&server, "t1", 401).await;

    // An unusable file changes nothing. SIGHUP reads it at once, so it has been read at the next signal.
    std::fs::write(&tokens, "no user here\n").expect("the folder takes a file");
    server.signal("HUP");
    wait_for_status(&server, "t4", 200).await;
    std::fs::write(&tokens, "t5,admin,1,\"system:masters\"\n").expect("the folder takes a file");
    server.signal("HUP");
    wait_for_status(&server, "t5", 200).await;
    wait_for_status(&server, "t4", 401).await;
    std::fs::remove_file(&tokens).expect("the file is there");
    server.signal("HUP");
    wait_for_status(&server, "t5", 200).await;
    assert!(server.terminate().0, "the server outlives SIGHUP and ends well");
}

#[tokio::test]
async fn the_admins_token_is_rotated_by_replacing_its_file() {
    let folder = Folder::new("flags");
    let data = folder.path().join("data");
    let arguments = ["--listen", "127.0.0.1:0", "--tls", "--data-dir", data.to_str().expect("the path is text")];
    let server = ServerProcess::start(PROGRAM, &arguments);
    let kubeconfig = || std::fs::read_to_string(data.join("kubeconfig")).expect("there is a kubeconfig");
    assert!(!kubeconfig().contains("token: rotated\n"));
    std::fs::write(data.join("admin.token"), "rotated\n").expect("the folder takes a file");
    server.signal("HUP");
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    while !kubeconfig().contains("token: rotated\n") {
        assert!(tokio::time::Instant::now() < deadline, "{}", kubeconfig());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(server.terminate().0, "the server ends well");
}

#[test]
fn the_first_line_has_the_address() {
    let plain = ServerProcess::start(PROGRAM, &["--listen", "127.0.0.1:0"]);
    assert!(plain.url().starts_with("http://127.0.0.1:"), "{}", plain.url());
    assert_ne!(plain.port(), 0);
    let tls = ServerProcess::start(PROGRAM, &["--listen", "127.0.0.1:0", "--tls"]);
    assert!(tls.url().starts_with("https://127.0.0.1:"), "{}", tls.url());
}

/// The error of a server that cannot start.
fn refusal(arguments: &[&str]) -> String {
    let output = Command::new(PROGRAM).args(arguments).stdin(Stdio::null()).output().expect("the program starts");
    assert!(!output.status.success());
    assert_eq!(output.stdout, b"", "nothing is listening");
    String::from_utf8(output.stderr).expect("errors are text")
}

#[test]
fn a_server_that_cannot_start_prints_the_reason_and_a_remedy() {
    let folder = Folder::new("flags");
    let data = format!("{}/data", folder.text());
    let first = ServerProcess::start(PROGRAM, &["--listen", "127.0.0.1:0", "--data-dir", &data]);

    let address = first.url().trim_start_matches("http://").to_owned();
    let said = refusal(&["--listen", &address]);
    assert!(said.contains(&format!("{address} is in use by another process")), "{said}");
    let said = refusal(&["--listen", "127.0.0.1:0", "--data-dir", &data]);
    assert!(said.contains(&data) && said.contains("in use by another process"), "{said}");
    let said = refusal(&["--listen", "0.0.0.0:0"]);
    assert!(said.contains("plain HTTP is refused on 0.0.0.0:0"), "{said}");
    let said = refusal(&["--listen", "nonsense"]);
    assert!(said.contains("cannot listen on `nonsense`"), "{said}");

    let tokens = folder.path().join("bad.csv");
    std::fs::write(&tokens, "t1,admin,1\nno user here\n").expect("the folder takes a file");
    let said = refusal(&["--listen", "127.0.0.1:0", "--token-file", tokens.to_str().expect("the path is text")]);
    assert!(said.contains("bad.csv") && said.contains("line 2"), "{said}");
    let said = refusal(&["--listen", "127.0.0.1:0", "--token-file", "/no/such/file"]);
    assert!(said.contains("/no/such/file"), "{said}");
}
