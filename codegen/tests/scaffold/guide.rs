//! The transcript in the guide: each command prints what the page says, and the counts are those of the files. The page of options names
//! every option.

use kindsmith_tests::Folder;

use crate::{done, files};

const PAGE: &str = include_str!("../../../runtime/docs/first-kind.md");
const REFERENCE: &str = include_str!("../../../runtime/docs/reference.md");
const SETTINGS: &str = include_str!("../../../runtime/docs/settings.md");

/// The section about a new crate.
fn section() -> &'static str {
    let (_, section) = PAGE.split_once("\n## Begin a crate\n").unwrap();
    section.split("\n## ").next().unwrap()
}

/// The words of a command line, without the quotes of a shell.
fn words(line: &str) -> Vec<&str> {
    line.split(' ').map(|word| word.trim_matches('\'')).collect()
}

#[test]
fn the_transcript_is_what_the_commands_print() {
    let folder = Folder::new("guide");
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
    assert!(section().contains(&said), "the page does not say: {said}");
}

#[test]
fn the_commands_of_the_table_exist() {
    let folder = Folder::new("guide");
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

/// Every command that does something.
const COMMANDS: [&str; 24] = [
    "new",
    "add kind",
    "add group",
    "add version",
    "add subresource",
    "add controller",
    "generate",
    "export",
    "check",
    "lint",
    "cel",
    "store check",
    "store salvage",
    "store backup",
    "store restore",
    "store copy",
    "store migrate",
    "serve",
    "test",
    "import",
    "user add",
    "user list",
    "user remove",
    "completions",
];

/// The commands that the help of another one lists.
fn listed(folder: &Folder, of: &[&str]) -> Vec<String> {
    let help = done(folder.path(), &[of, &["--help"]].concat());
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let names = commands
        .split("\n\n")
        .next()
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn the_reference_names_every_command_and_option() {
    let folder = Folder::new("guide");
    let (_, section) = REFERENCE.split_once("\n## The command `kindsmith`\n").unwrap();
    // `serve` has an option for each setting.
    let section = section.split("\n## ").next().unwrap().to_owned() + SETTINGS;
    let mut commands = Vec::new();
    for name in listed(&folder, &[]) {
        match &*name {
            "add" | "store" | "user" => {
                commands.extend(listed(&folder, &[&name]).iter().map(|below| format!("{name} {below}")));
            }
            _ => commands.push(name),
        }
    }
    assert_eq!(commands, COMMANDS);
    for command in COMMANDS {
        assert!(section.contains(&format!("`{command} ")), "the page of options does not name `{command}`");
        let help = done(folder.path(), &[&words(command)[..], &["--help"]].concat());
        for line in help.lines().map(str::trim).filter(|line| line.starts_with('-')) {
            let is_option = |word: &&str| word.starts_with("--") && *word != "--help";
            let Some(option) = line.split([' ', '=', ',', '[']).find(is_option) else { continue };
            assert!(section.contains(option), "the page of options does not name {option} of `{command}`");
        }
    }
}
