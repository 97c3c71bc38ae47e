//! The transcript in the README: each command prints what the README says, and the counts are those of the files.

use kindsmith_tests::Folder;

use crate::{done, files};

const README: &str = include_str!("../../../README.md");

/// The section about a new crate.
fn section() -> &'static str {
    let (_, section) = README.split_once("\n## Begin a crate\n").unwrap();
    section.split("\n## ").next().unwrap()
}

/// The words of a command line, without the quotes of a shell.
fn words(line: &str) -> Vec<&str> {
    line.split(' ').map(|word| word.trim_matches('\'')).collect()
}

#[test]
fn the_transcript_is_what_the_commands_print() {
    let folder = Folder::new("readme");
    let (_, transcript) = section().split_once("```console\n").unwrap();
    let mut here = folder.path().to_owned();
    let mut seen = 0;
    for part in transcript.split("```").next().unwrap().split("$ kindsmith ").skip(1) {
        let (line, printed) = part.split_once('\n').unwrap();
        let (line, then) = line.split_once(" && cd ").unwrap_or((line, ""));
        assert_eq!(done(&here, &words(line)), printed, "{line}");
        here.push(then);
        seen += 1;
    }
    assert_eq!(seen, 2);
    let made = files(&here);
    let lines = |is_counted: &dyn Fn(&str) -> bool| {
        let counted = made.iter().filter(|(path, _)| is_counted(path.to_str().unwrap()));
        counted.map(|(_, text)| text.lines().count()).sum::<usize>()
    };
    let (all, rust) = (lines(&|_| true), lines(&|path| path.rsplit('.').next() == Some("rs")));
    assert_eq!(made.len(), 9);
    let said = format!("These nine files, all of them yours, have {all} lines; {rust} of them are Rust, with tests.");
    assert!(section().contains(&said), "the README does not say: {said}");
}

#[test]
fn the_commands_of_the_table_exist() {
    let folder = Folder::new("readme");
    done(folder.path(), &["new", "shop"]);
    std::fs::write(folder.path().join("shop/invoice.yaml"), crate::INVOICE).unwrap();
    let shop = folder.path().join("shop");
    done(&shop, &["add", "kind", "Order", "customer:String", "copies:i32=1"]);
    // The group is there before its kind.
    let mut commands: Vec<&str> =
        section().lines().filter_map(|line| line.strip_prefix("| `add ")?.split('`').next()).collect();
    assert!(commands.len() >= 7, "{commands:?}");
    commands.sort_by_key(|command| !command.starts_with("group"));
    for command in commands {
        done(&shop, &[&["add"][..], &words(command)].concat());
    }
}
