//! Standard output and standard error that are not read, or that are closed.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use kindsmith_tests::{Client, Folder, ServerProcess};

use super::{MAPS, PROGRAM, with_tokens};

/// Sends requests whose log lines exceed the pipe and the log's queue.
async fn fill_the_log(server: &ServerProcess) {
    let mut client = Client::new(server.url(), "t1");
    let path = format!("{MAPS}?nothing={}", "x".repeat(20_000));
    for _ in 0..200 {
        let answer = tokio::time::timeout(Duration::from_secs(10), client.get(&path)).await;
        assert_eq!(answer.expect("the log holds nothing up").expect("the server answers").status, 200);
    }
}

#[tokio::test]
async fn an_unread_log_blocks_nothing_and_counts_dropped_lines() {
    let folder = Folder::new("output");
    let arguments = ["--listen", "127.0.0.1:0", "--token-file", &with_tokens(&folder)];
    let mut command = Command::new(PROGRAM);
    command.args(arguments).env("RUST_LOG", "debug").stderr(Stdio::piped());

    let mut server = ServerProcess::spawn(&mut command);
    fill_the_log(&server).await;
    let mut lines = BufReader::new(server.errors().expect("standard error is piped")).lines();
    let said = tokio::task::spawn_blocking(move || {
        lines.find_map(|line| {
            line.expect("the log is text")
                .strip_suffix(" log lines were dropped because the log was not read")?
                .parse::<u32>()
                .ok()
        })
    });
    let dropped = tokio::time::timeout(Duration::from_secs(20), said).await.expect("it says so when it is read");
    assert!(dropped.expect("the log can be read").expect("it says how many") > 0);
    assert!(server.terminate().0, "the server ends well");

    let mut server = ServerProcess::spawn(&mut command);
    let unread = server.errors();
    fill_the_log(&server).await;
    let ended = tokio::task::spawn_blocking(|| server.terminate());
    let (well, _) = tokio::time::timeout(Duration::from_secs(20), ended).await.expect("it ends").expect("it is ours");
    assert!(well, "a server ends successfully even if its log is not read");
    drop(unread);
}

#[test]
fn closed_output_does_not_end_the_server() {
    let folder = Folder::new("output");
    let data = folder.path().join("data");
    let mut server = Command::new(PROGRAM)
        .args(["--listen", "127.0.0.1:0", "--tls", "--data-dir", data.to_str().expect("the path is text")])
        .env("RUST_LOG", "debug")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop((server.stdout.take(), server.stderr.take()));
    // The kubeconfig is written before the first line of standard output, and the signal is handled after it.
    let deadline = Instant::now() + Duration::from_secs(20);
    while !data.join("kubeconfig").exists() {
        assert!(Instant::now() < deadline, "the server does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    let sent = Command::new("kill").arg(server.id().to_string()).status().expect("there is a kill command");
    assert!(sent.success(), "the server is still there");
    let status = server.wait().expect("the server is our child");
    assert!(status.success(), "{status}");
}
