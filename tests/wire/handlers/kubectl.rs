//! kubectl itself against the streams and connections of a pod, where it is installed.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Output, Stdio},
};

use kindsmith_tests::Folder;

use crate::pod;

/// kubectl with a kubeconfig, or `None` where it is not installed.
fn kubectl(config: &Path) -> Option<impl Fn(&[&str]) -> Command> {
    if Command::new("kubectl").arg("version").arg("--client").output().is_err() {
        eprintln!("NOT RUN: kubectl is not installed");
        return None;
    }
    let config = config.to_owned();
    Some(move |arguments: &[&str]| {
        let mut command = Command::new("kubectl");
        let cache = config.with_file_name("cache");
        command.arg("--kubeconfig").arg(&config).arg("--cache-dir").arg(cache).args(arguments);
        command
    })
}

fn text(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn typed(mut command: Command, input: &[u8]) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("kubectl starts");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_owned();
    let typing = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("kubectl ends");
    // A command that reads no more breaks its pipe.
    let _ = typing.join();
    output
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_runs_attaches_copies_and_reads_logs() {
    let server = pod::tls_server().await;
    let Some(kubectl) = kubectl(server.kubeconfig()) else { return };
    tokio::task::block_in_place(|| {
        logs(&kubectl);
        exec(&kubectl);
        copies(&kubectl);
    });
}

fn logs(kubectl: &impl Fn(&[&str]) -> Command) {
    let (out, err, code) = text(&kubectl(&["logs", "one", "--tail=2"]).output().expect("kubectl"));
    assert_eq!((out.as_str(), code), ("line 4 of one\nline 5 of one\n", Some(0)), "{err}");
    let (out, err, code) = text(&kubectl(&["logs", "-f", "one"]).output().expect("kubectl"));
    assert_eq!((out.lines().count(), code), (5, Some(0)), "{err}");
    let (_, err, code) = text(&kubectl(&["logs", "one", "-c", "other"]).output().expect("kubectl"));
    assert_eq!(code, Some(1));
    assert!(err.contains("container other is not valid for pod one"), "{err}");
    let mut following = kubectl(&["logs", "-f", "endless"]).stdout(Stdio::piped()).spawn().expect("kubectl");
    let lines = BufReader::new(following.stdout.take().expect("piped")).lines();
    let read: Vec<String> = lines.take(8).map(|line| line.expect("a line")).collect();
    assert_eq!(read.last().map(String::as_str), Some("and on"));
    following.kill().expect("kubectl runs");
    following.wait().expect("kubectl ends");
}

fn exec(kubectl: &impl Fn(&[&str]) -> Command) {
    let (out, err, code) = text(&typed(kubectl(&["exec", "-i", "one", "--", "echo-shell"]), b"hello\nexit 7\n"));
    assert_eq!((out.as_str(), code), ("$ you said hello\n$ ", Some(7)), "{err}");
    assert!(err.contains("command terminated with exit code 7"), "{err}");
    let script = "echo out; echo err >&2; exit 3";
    let (out, err, code) = text(&kubectl(&["exec", "one", "--", "sh", "-c", script]).output().expect("kubectl"));
    assert_eq!((out.as_str(), code), ("out\n", Some(3)));
    assert!(err.starts_with("err\n"), "{err}");
    let (_, err, code) = text(&kubectl(&["exec", "one", "--", "refuse"]).output().expect("kubectl"));
    assert_eq!(code, Some(1));
    assert!(err.contains("pods \"one\" is forbidden: not in here"), "{err}");
    let (_, err, code) = text(&kubectl(&["exec", "one", "-c", "other", "--", "true"]).output().expect("kubectl"));
    assert_eq!(code, Some(1));
    assert!(err.contains("container other"), "{err}");
    let (out, err, code) = text(&typed(kubectl(&["attach", "-i", "one"]), b"hi\nexit 0\n"));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("you said hi"), "{out}");
    // Every byte arrives, in both directions.
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let through = typed(kubectl(&["exec", "-i", "one", "--", "cat"]), &bytes);
    assert!(through.stdout == bytes, "{} bytes of {}", through.stdout.len(), bytes.len());
}

fn copies(kubectl: &impl Fn(&[&str]) -> Command) {
    let folder = Folder::new("kubectl-cp");
    let (from, to, back) = (folder.path().join("from"), folder.path().join("to"), folder.path().join("back"));
    std::fs::write(&from, "what is copied\n".repeat(10_000)).expect("a file");
    let path = |path: &Path| path.to_str().expect("text").to_owned();
    let (_, err, code) =
        text(&kubectl(&["cp", &path(&from), &format!("one:{}", path(&to))]).output().expect("kubectl"));
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(std::fs::read(&to).expect("a copy"), std::fs::read(&from).expect("a file"));
    let (_, err, code) =
        text(&kubectl(&["cp", &format!("one:{}", path(&to)), &path(&back)]).output().expect("kubectl"));
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(std::fs::read(&back).expect("a copy"), std::fs::read(&from).expect("a file"));
}
