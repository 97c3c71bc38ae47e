//! Tests of the command as a whole: help, completions, colours, exit codes, and the dependency of a new crate.

use std::{fs, process::Command};

use kindsmith_tests::Folder;

use crate::{SOURCES, done, refused, run};

/// The names of subcommands in a help text.
fn commands(help: &str) -> Vec<String> {
    let Some((_, list)) = help.split_once("Commands:\n") else { return Vec::new() };
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn the_help_of_every_command_has_examples() {
    let folder = Folder::new("command");
    let mut left = vec![Vec::new()];
    let mut seen = 0;
    while let Some(path) = left.pop() {
        let arguments: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
        let help = done(folder.path(), &arguments);
        assert!(help.contains("\nExample"), "{path:?} has no examples:\n{help}");
        for name in commands(&help) {
            left.push([&path[..], &[name]].concat());
        }
        seen += 1;
    }
    assert!(seen >= 15, "{seen} commands");
}

#[test]
fn names_that_rust_does_not_have_are_kept_on_the_wire() {
    let folder = Folder::new("command");
    let fields = ["self:String", "gen:i32", "apiURL:String", "page_count:i32", "type:String"];
    let new = [&["new", "shop", "--kind", "Main", "--dry-run"][..], &fields].concat();
    let printed = done(folder.path(), &new);
    for line in [
        "pub mod main_;",
        "server.kind::<main_::Main>()",
        "would write src/main_.rs:",
        "#[resource(column(\"Gen\", path = spec.r#gen))]",
        "#[serde(rename = \"self\")]",
        "pub self_: String,",
        "pub r#gen: i32,",
        "#[serde(rename = \"apiURL\")]",
        "pub api_url: String,",
        "pub page_count: i32,",
        "pub r#type: String,",
        "page_count is called pageCount on the wire",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    assert!(!printed.contains("apiURL is called"), "{printed}");
}

#[test]
fn the_help_documents_the_exit_codes() {
    let folder = Folder::new("command");
    let help = done(folder.path(), &["--help"]);
    for code in ["\n  0  ", "\n  1  ", "\n  2  ", "\n  130  "] {
        assert!(help.contains(code), "{code:?}\n{help}");
    }
    let wrong = run(folder.path(), &["add", "kind"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn completions_name_every_command() {
    let folder = Folder::new("command");
    let help = done(folder.path(), &["--help"]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = done(folder.path(), &["completions", shell]);
        for name in commands(&help) {
            assert!(script.contains(&name), "{shell}: {name}");
        }
        assert!(script.contains("subresource") && script.contains("dry-run"), "{shell}");
    }
    let error = refused(folder.path(), &["completions", "cmd"]);
    assert!(error.contains("[possible values: bash, elvish, fish, powershell, zsh]"), "{error}");
}

/// What a command prints on a terminal, which `script` of util-linux provides.
fn on_a_terminal(folder: &Folder, no_color: &str) -> Option<String> {
    let line = format!("{} new shop --dry-run; {0} new Shop", env!("CARGO_BIN_EXE_kindsmith"));
    let mut command = Command::new("script");
    command
        .current_dir(folder.path())
        .args(["-qec", &line, "/dev/null"])
        .env("NO_COLOR", no_color)
        .env("TERM", "xterm");
    Some(String::from_utf8_lossy(&command.output().ok()?.stdout).into_owned())
}

#[test]
fn colours_are_for_terminals_and_obey_no_color() {
    let folder = Folder::new("command");
    let piped = done(folder.path(), &["new", "shop", "--dry-run"]);
    assert!(!piped.contains('\x1b') && piped.contains("next: "), "{piped}");
    let Some(coloured) = on_a_terminal(&folder, "") else {
        println!("NOT RUN: colours on a terminal, since there is no program `script`");
        return;
    };
    assert!(coloured.contains("\x1b[1mnext:\x1b[0m") && coloured.contains("\x1b[1;31merror:\x1b[0m"), "{coloured:?}");
    let plain = on_a_terminal(&folder, "1").unwrap();
    assert!(!plain.contains('\x1b') && plain.contains("next: ") && plain.contains("error: "), "{plain:?}");
}

/// The dependency on Kindsmith in the manifest of a new crate.
fn dependency(folder: &Folder) -> String {
    let manifest = fs::read_to_string(folder.path().join("shop/Cargo.toml")).unwrap();
    manifest.lines().find(|line| line.starts_with("kindsmith = ")).unwrap().to_owned()
}

#[test]
fn the_dependency_is_a_folder_or_a_revision_that_is_named() {
    let sources = fs::canonicalize(SOURCES).unwrap();
    let runtime =
        format!("kindsmith = {{ path = {:?}, features = [\"settings\"] }}", sources.join("runtime").display());
    for (given, expected) in [
        (sources.to_str().unwrap(), &*runtime),
        (sources.join("runtime").to_str().unwrap(), &runtime),
        (
            "https://example.com/kindsmith",
            "kindsmith = { git = \"https://example.com/kindsmith\", features = [\"settings\"] }",
        ),
        (
            "https://example.com/kindsmith#abc123",
            "kindsmith = { git = \"https://example.com/kindsmith\", rev = \"abc123\", features = [\"settings\"] }",
        ),
    ] {
        let folder = Folder::new("command");
        done(folder.path(), &["new", "shop", "--kindsmith", given]);
        assert_eq!(dependency(&folder), expected);
    }
    let folder = Folder::new("command");
    done(folder.path(), &["new", "shop"]);
    assert_eq!(dependency(&folder), runtime, "the sources that the command was built from");
}

#[test]
fn a_command_that_was_installed_from_git_names_its_revision() {
    let folder = Folder::new("command");
    let root = folder.path().join("root");
    fs::create_dir_all(root.join("bin")).unwrap();
    let program = root.join("bin/kindsmith");
    fs::hard_link(env!("CARGO_BIN_EXE_kindsmith"), &program)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_kindsmith"), &program).map(drop))
        .unwrap();
    // As cargo install writes it.
    let noted = r#"{"installs":{"other 1.0.0 (registry+https://github.com/rust-lang/crates.io-index)":{"bins":["other"]},
        "kindsmith-codegen 0.1.0 (git+https://example.com/kindsmith?branch=main#8783105405d7a57e3a39cd7a345d871121639dcc)":
        {"version_req":null,"bins":["kindsmith"],"features":[]}}}"#;
    fs::write(root.join(".crates2.json"), noted).unwrap();
    let output = Command::new(&program).current_dir(folder.path()).args(["new", "shop"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let expected = "kindsmith = { git = \"https://example.com/kindsmith\", rev = \"8783105405d7a57e3a39cd7a345d871121639dcc\", features = [\"settings\"] }";
    assert_eq!(dependency(&folder), expected);
}
