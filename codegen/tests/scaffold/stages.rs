//! Each command on top of the others: after each, the crate builds without warnings and its tests pass.

use std::{env, fs, path::Path, process::Command, time::Instant};

use kindsmith_tests::Folder;

use crate::{FURTHER, INVOICE, KINDS, SOURCES, done};

/// Commands beside those of the example.
const REST: [&[&str]; 4] = [
    &["add", "version", "Item", "v2", "--storage"],
    &["add", "controller", "Invoice"],
    // The file of its controller imports another thing of this name.
    &["add", "kind", "Client", "--cluster", "--status"],
    &["add", "controller", "Client"],
];

/// A test of what the workspace's own tests do not see, because they turn more features of the library on.
const BUILT_IN: &str = r#"
use std::{io::{Read, Write}, net::TcpStream};

#[tokio::test]
async fn a_namespace_is_a_message_of_kubernetes() {
    let server = kindsmith::Server::test().configure(shop::serve).start().await;
    let mut connection = TcpStream::connect(("127.0.0.1", server.port())).expect("a server");
    let head = "GET /api/v1/namespaces/default HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\
        accept: application/vnd.kubernetes.protobuf\r\nauthorization: Bearer";
    write!(connection, "{head} {}\r\n\r\n", server.token()).expect("a request");
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).expect("an answer");
    let parts: [&[u8]; 4] =
        [b"k8s\0\n\x0f\n\x02v1\x12\tNamespace\x12", b"\n\x07default", b"\x12\x0c\n\nkubernetes", b"\x1a\x08\n\x06Active"];
    for part in parts {
        assert!(answer.windows(part.len()).any(|found| found == part), "{}", answer.escape_ascii());
    }
}
"#;

/// Runs the crate's tests. Returns how many passed.
fn tested(shop: &Path) -> usize {
    let sources = fs::canonicalize(SOURCES).unwrap();
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| sources.join("target"), Into::into).join("scaffolded");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // The versions in the lock of the workspace are there already.
    command.current_dir(shop).args(["test", "--offline", "--color", "never"]);
    command.env("CARGO_TARGET_DIR", target).env("CARGO_INCREMENTAL", "0");
    let output = command.env("CARGO_PROFILE_DEV_DEBUG", "0").output().unwrap();
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && !error.contains("warning: `shop`"), "{out}\n{error}");
    let results = out.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    results.map(|line| line.split(' ').next().unwrap().parse::<usize>().unwrap()).sum()
}

#[test]
#[ignore = "builds Kindsmith for a crate outside of the workspace, which takes two minutes at first; .ci/run runs it"]
fn each_command_on_top_of_the_others_builds_and_passes() {
    let folder = Folder::new("stages");
    done(folder.path(), &["new", "shop"]);
    fs::write(folder.path().join("invoice.yaml"), INVOICE).unwrap();
    let shop = folder.path().join("shop");
    fs::copy(Path::new(SOURCES).join("Cargo.lock"), shop.join("Cargo.lock")).unwrap();
    fs::create_dir(shop.join("tests")).unwrap();
    fs::write(shop.join("tests/built_in.rs"), BUILT_IN).unwrap();
    let mut before = tested(&shop);
    assert!(before >= 4, "the tests of the first kind: {before}");
    for command in KINDS.iter().chain(&FURTHER).chain(&REST) {
        done(&shop, command);
        let started = Instant::now();
        let passed = tested(&shop);
        println!(
            "{passed} tests passed after {:.1} s: kindsmith {}",
            started.elapsed().as_secs_f32(),
            command.join(" ")
        );
        let has_tests = command[1] != "group";
        assert!(passed > before || !has_tests, "{command:?} added no test that passes");
        before = passed;
    }
}
