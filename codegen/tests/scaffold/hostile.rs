//! Tests of documents and folders that a stranger made: invalid names, links, pipes and files without an end.

use std::{fs, os::unix::fs::symlink, process::Command, time::Instant};

use kindsmith_tests::Folder;

use crate::{done, files, refused, run};

/// An OpenAPI document of gears, in which each name is written once.
fn document() -> String {
    let at = r#""x-kubernetes-group-version-kind": {"group": "GROUP", "version": "VERSION", "kind": "KIND"}"#;
    let root = "/apis/GROUP/VERSION/namespaces/{namespace}/PLURAL";
    let operation = |action: &str| format!(r#"{{"x-kubernetes-action": "{action}", {at}}}"#);
    let (list, get, post) = (operation("list"), operation("get"), operation("post"));
    format!(
        r#"{{"openapi": "3.0.0", "info": {{"title": "gears", "version": "1"}}, "paths": {{
            "{root}": {{"get": {list}, "post": {post}}},
            "{root}/{{name}}": {{"get": {get}}},
            "{root}/{{name}}/SUBRESOURCE": {{"post": {post}}}}},
        "components": {{"schemas": {{"com.example.Gear": {{"type": "object", "description": "A gear.",
            "x-kubernetes-group-version-kind": [{{"group": "GROUP", "version": "VERSION", "kind": "KIND"}}],
            "properties": {{"metadata": {{"type": "object"}}, "spec": {{"type": "object", "description": "Spec.",
                "properties": {{"teeth": {{"type": "integer", "format": "int32", "description": "Teeth."}}}}}}}}}}}}}}}}"#
    )
}

/// The document with these names in place of the usual ones.
fn named(names: &[(&str, &str)]) -> String {
    let usual =
        [("GROUP", "example.com"), ("VERSION", "v1"), ("KIND", "Gear"), ("PLURAL", "gears"), ("SUBRESOURCE", "turn")];
    names.iter().chain(&usual).fold(document(), |text, (what, name)| text.replace(what, name))
}

/// The ways in which a command reads a file of definitions.
const COMMANDS: [&[&str]; 11] = [
    &["generate", "schemas", "--out", "out"],
    &["export", "crd", "schemas", "--out", "out"],
    &["export", "openapi", "schemas", "--out", "out"],
    &["export", "json-schema", "schemas", "--out", "out"],
    &["export", "docs", "schemas", "--out", "out"],
    &["export", "proto", "schemas", "--out", "out"],
    &["export", "rbac", "schemas", "--out", "out"],
    &["lint", "schemas"],
    &["check", "schemas", "--against", "schemas"],
    &["serve", "schemas", "--memory", "--listen", "127.0.0.1:0"],
    &["generate", "schemas/gears.json", "--out", "out", "--check"],
];

fn schemas(text: &str) -> Folder {
    let folder = Folder::new("hostile");
    fs::create_dir_all(folder.path().join("inside/schemas")).unwrap();
    fs::write(folder.path().join("inside/schemas/gears.json"), text).unwrap();
    folder
}

#[test]
fn the_document_without_hostile_names_is_read() {
    let folder = schemas(&named(&[]));
    for command in &COMMANDS[..9] {
        done(&folder.path().join("inside"), command);
    }
}

#[test]
fn names_that_are_none_are_refused_by_every_command() {
    for (what, name, expected) in [
        (
            "VERSION",
            "v1; pub fn evil() {} mod y",
            "the version is \"v1; pub fn evil() {} mod y\": a DNS-1035 label must",
        ),
        (
            "KIND",
            "../../../x",
            "the kind is \"../../../x\": may have mixed case, but should otherwise match: a DNS-1035",
        ),
        ("GROUP", "a {b}", "the group is \"a {b}\": a lowercase RFC 1123 subdomain must"),
        ("GROUP", "..", "the group is \"..\": a lowercase RFC 1123 subdomain must"),
        ("PLURAL", "a\\nb", "the plural is \"a\\nb\": a DNS-1035 label must"),
        ("SUBRESOURCE", "*\\\"]]", "the subresource is \"*\\\"]]\": a lowercase RFC 1123 label must"),
    ] {
        let folder = schemas(&named(&[(what, name)]));
        let before = files(folder.path());
        for command in COMMANDS {
            let error = refused(&folder.path().join("inside"), command);
            assert!(error.contains("schemas/gears.json:2: document 1, /paths/~1apis~1"), "{command:?}: {error}");
            assert!(error.contains(expected), "{command:?}: {error}");
            assert!(!error.contains("a bug in this program"), "{command:?}: {error}");
            assert_eq!(files(folder.path()), before, "{command:?}");
        }
    }
}

#[test]
fn fields_and_types_may_have_any_name_and_break_out_of_nothing() {
    let hostile = "teeth; } pub fn evil() {} /* \\n*/ \\u0000 \\\" \\\"\\\"\\\" ]] `|` cargo::x=y";
    let text =
        named(&[]).replace("\"teeth\"", &format!("\"{hostile}\"")).replace("com.example.Gear", "x\\\"; } evil()");
    let folder = schemas(&text);
    let inside = folder.path().join("inside");
    for command in &COMMANDS[..9] {
        let output = run(&inside, command);
        let error = String::from_utf8_lossy(&output.stderr);
        // A message cannot say such a field.
        let expected = if command[1] == "proto" { "left out: example.com/v1 Gear: .spec has the field " } else { "" };
        assert!(error.contains(expected), "{error}");
        assert_eq!(output.status.code() == Some(2), command[1] == "proto", "{command:?}: {error}");
        assert!(!error.lines().any(|line| line.starts_with(['*', '/'])), "{error}");
        fs::remove_dir_all(inside.join("out")).unwrap_or_default();
    }
    done(&inside, &["generate", "schemas", "--out", "out"]);
    let code = fs::read_to_string(inside.join("out/example/v1.rs")).unwrap();
    assert!(code.contains("pub teeth_pub_fn_evil_cargo_x_y: Option<i32>"), "{code}");
}

#[test]
fn kinds_with_the_same_file_are_refused() {
    let folder = schemas(&named(&[("KIND", "Gear")]));
    fs::write(folder.path().join("inside/schemas/b.json"), named(&[("KIND", "GEAR"), ("PLURAL", "cogs")])).unwrap();
    let error = refused(&folder.path().join("inside"), &["export", "json-schema", "schemas", "--out", "out"]);
    assert!(error.contains("out/example.com/gear_v1.json would be written twice, and nothing was written"), "{error}");
    assert!(!folder.path().join("inside/out").exists());
}

#[test]
fn nothing_is_written_through_links() {
    let folder = schemas(&named(&[]));
    let inside = folder.path().join("inside");
    fs::create_dir_all(folder.path().join("outside")).unwrap();
    fs::create_dir_all(inside.join("out")).unwrap();
    for group in ["example.com", "example"] {
        symlink("../../outside", inside.join("out").join(group)).unwrap();
    }
    for file in ["mod.rs", "example.com.md", "gears.example.com.yaml", "example.com.yaml"] {
        symlink("../../outside/new", inside.join("out").join(file)).unwrap();
    }
    let commands: Vec<_> = COMMANDS[..7].iter().filter(|command| command[1] != "openapi").collect();
    for command in commands {
        for overwrite in [&[][..], &["--overwrite"]] {
            let error = refused(&inside, &[command, overwrite].concat());
            assert!(error.contains(" is a symbolic link; supported: a "), "{command:?}: {error}");
            assert!(error.contains("out/"), "{command:?}: {error}");
        }
    }
    assert_eq!(fs::read_dir(folder.path().join("outside")).unwrap().count(), 0);
    // The folder that is named may be a link.
    fs::create_dir(folder.path().join("elsewhere")).unwrap();
    symlink("../elsewhere", inside.join("link")).unwrap();
    done(&inside, &["export", "json-schema", "schemas", "--out", "link"]);
    assert!(folder.path().join("elsewhere/example.com/gear_v1.json").is_file());
}

#[test]
fn add_kind_writes_through_no_link() {
    let folder = Folder::new("hostile-add");
    done(folder.path(), &["new", "shop", "--kindsmith", crate::SOURCES]);
    let shop = folder.path().join("shop");
    symlink("../../outside.rs", shop.join("src/order.rs")).unwrap();
    let before = fs::read_to_string(shop.join("src/lib.rs")).unwrap();
    for overwrite in [&[][..], &["--overwrite"]] {
        let error = refused(&shop, &[&["add", "kind", "Order", "copies:i32"], overwrite].concat());
        assert!(error.contains("src/order.rs is a symbolic link; supported: a regular file"), "{error}");
    }
    assert!(!folder.path().join("outside.rs").exists());
    assert_eq!(fs::read_to_string(shop.join("src/lib.rs")).unwrap(), before);
}

#[test]
fn what_is_no_regular_file_is_named_and_not_waited_for() {
    let folder = schemas(&named(&[]));
    let inside = folder.path().join("inside");
    assert!(Command::new("mkfifo").arg(inside.join("schemas/pipe.yaml")).status().unwrap().success());
    symlink("/dev/zero", inside.join("schemas/zero.yaml")).unwrap();
    symlink(".", inside.join("schemas/loop")).unwrap();
    let started = Instant::now();
    for command in COMMANDS[..10].iter().chain([&&["generate", "schemas", "--out", "out"][..]]) {
        let error = refused(&inside, command);
        for expected in [
            "schemas/pipe.yaml: it is a named pipe; supported: regular files",
            "schemas/zero.yaml: it is a link that leads out of the folder; supported: links within it",
            "schemas/loop: it leads to a folder around it; supported: folders that end",
        ] {
            assert_eq!(error.matches(expected).count(), 1, "{command:?}: {error}");
        }
    }
    let named = ["schemas/pipe.yaml", "schemas/zero.yaml"];
    for (path, expected) in named.into_iter().zip(["it is a named pipe", "it is a device"]) {
        let error = refused(&inside, &["generate", path, "--out", "out"]);
        assert!(error.contains(&format!("{path}: {expected}; supported: regular files")), "{error}");
    }
    assert!(started.elapsed().as_secs() < 60);
}

#[test]
fn a_flag_says_how_large_files_may_be() {
    let large = format!("{}{}", named(&[]), " ".repeat(17 << 20));
    let folder = schemas(&large);
    let inside = folder.path().join("inside");
    for command in &COMMANDS {
        let error = refused(&inside, command);
        assert!(error.contains("schemas/gears.json: it is larger than 16 MiB, the limit for a file"), "{error}");
    }
    for command in &COMMANDS[..9] {
        done(&inside, &[command, &["--max-file-size", "18Mi"][..]].concat());
        fs::remove_dir_all(inside.join("out")).unwrap_or_default();
    }
    let help = done(&inside, &["serve", "--help"]);
    assert!(help.contains("--max-file-size <SIZE>"), "{help}");
}

#[test]
fn types_that_are_nested_deep_are_refused() {
    let folder = Folder::new("hostile-deep");
    done(folder.path(), &["new", "shop", "--kindsmith", crate::SOURCES]);
    let shop = folder.path().join("shop");
    let deep = [
        format!("copies:{}i32{}", "Vec<".repeat(3_000), ">".repeat(3_000)),
        format!("copies:{}i32", "&".repeat(30_000)),
        format!("copies:{}i32", "fn() -> ".repeat(10_000)),
        format!("copies:{}i32", "*const ".repeat(10_000)),
        format!("copies:{}", "[".repeat(30_000)),
    ];
    for field in deep {
        let error = refused(&shop, &["add", "kind", "Order", &field]);
        assert!(error.contains("its type is nested more than 32 deep"), "{}", &error[error.len().min(200)..]);
    }
    let sample = |spec: String| {
        fs::write(shop.join("order.yaml"), format!("kind: Order\nspec: {{a: {spec}}}\n")).unwrap();
        refused(&shop, &["add", "kind", "Order", "--from", "order.yaml"])
    };
    let deep = format!("{}1{}", "[".repeat(30_000), "]".repeat(30_000));
    assert!(sample(deep).contains("order.yaml:"));
    let deep = format!("{}1{}", "{a: ".repeat(30_000), "}".repeat(30_000));
    assert!(sample(deep).contains("order.yaml:"));
}
