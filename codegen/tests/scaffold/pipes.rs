//! Readers that go away, as `head` does: the command does its work, and nothing is called a bug.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use kindsmith_tests::Folder;

/// How long a command may take.
const LONGEST: Duration = Duration::from_mins(1);
/// How often each is run: who comes first, the reader or the writer, is left to chance.
const ROUNDS: usize = 5;

#[test]
fn a_reader_that_goes_away_is_no_bug_and_holds_nothing_up() {
    let folder = Folder::new("pipes");
    let crates = ["new", "shop", "--dry-run"];
    for arguments in
        [&crates[..], &["lint", "--rules"], &["export", "rbac", "missing"], &["lint", "--explain", "nosuch"]]
    {
        for (closes_out, closes_error) in [(true, false), (false, true), (true, true)] {
            for round in 0..ROUNDS {
                let mut command = Command::new(env!("CARGO_BIN_EXE_kindsmith"));
                command.current_dir(folder.path()).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
                let mut child = command.spawn().unwrap();
                let (out, error) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
                let mut kept = String::new();
                if round % 2 == 0 && closes_out {
                    BufReader::new(out).read_line(&mut kept).unwrap();
                } else if !closes_out {
                    let _ = BufReader::new(out).read_to_string(&mut kept);
                }
                if !closes_error {
                    BufReader::new(error).read_to_string(&mut kept).unwrap();
                }
                let start = Instant::now();
                let status = loop {
                    if let Some(status) = child.try_wait().unwrap() {
                        break status;
                    }
                    if start.elapsed() > LONGEST {
                        child.kill().unwrap();
                        panic!("{arguments:?} does not end");
                    }
                    thread::sleep(Duration::from_millis(5));
                };
                let expected = if arguments.contains(&"missing") || arguments.contains(&"nosuch") { 2 } else { 0 };
                assert_eq!(status.code(), Some(expected), "{arguments:?}: {kept}");
                assert!(!kept.contains("a bug in this program"), "{kept}");
            }
        }
    }
}
