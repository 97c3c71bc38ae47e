//! Early refusals reach real clients that send bodies which the server does not read. `refusals/check.py` drives the
//! clients; by hand, with `--server`, it makes a thousand requests of each kind.

use std::{fs, process::Command};

use kindsmith::Server;
use kindsmith_tests::Folder;

/// Requests for each client, protocol and body size: each refusal twice.
const ROUNDS: &str = "14";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_clients_get_the_status_of_early_refusals() {
    let folder = Folder::new("refusals");
    let tokens = folder.path().join("tokens.csv");
    fs::write(&tokens, "admintoken,admin,1,\"system:masters\"\nalicetoken,alice,2,\"developers\"\n").unwrap();
    let server = || Server::test().configure(|builder| builder.token_file(&tokens));
    let (plain, tls) = (server().start().await, server().tls().start().await);
    let check = Command::new("python3")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/attack/refusals/check.py"))
        .args(["--rounds", ROUNDS, "--plain", plain.url(), "--tls", tls.url(), "--authority"])
        .arg(tls.authority())
        .env("TMPDIR", folder.path())
        .output();
    let output = match check {
        Ok(output) => output,
        Err(error) => return eprintln!("NOT RUN: the clients of early refusals, since python3 cannot be run: {error}"),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    for line in text.lines().filter(|line| line.starts_with("NOT RUN")) {
        eprintln!("{line}");
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.lines().any(|line| line.ends_with(" passed, 0 failed")), "{text}\n{said}");
}
