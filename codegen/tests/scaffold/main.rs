//! Tests of `kindsmith new`, `add`, `generate` and `export`. `examples/shop` is what `new` and `add` make, and its tests are run
//! with the workspace's. [`stages`] builds and tests the crate after each command.

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use kindsmith_tests::Folder;

mod command;
mod export;
mod further;
mod generate;
mod guide;
mod hostile;
mod mistakes;
mod pipes;
mod proto;
mod refusals;
mod stages;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/shop");
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kindsmith")).current_dir(folder).args(arguments).output().unwrap()
}

/// What a command printed that did its work.
fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The error of a command that could not do its work.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The files below a folder, by path.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        for entry in fs::read_dir(current).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                files.insert(path.strip_prefix(folder).unwrap().to_owned(), text);
            }
        }
    }
    files
}

const INVOICE: &str = "\
apiVersion: billing.example.com/v1
kind: Invoice
metadata:
  name: example
spec:
  order: breakfast
  due: 2030-01-31T00:00:00Z
  recipient:
    name: Ishmael
    city: Nantucket
  lines:
  - name: rye
    amount: 3
  - name: delivery
    amount: 2
    note: on foot
status: {}
";

/// Commands on top of `new shop`, each in the folder of the crate; `INVOICE` is a file.
const KINDS: [&[&str]; 3] = [
    &[
        "add",
        "kind",
        "Order",
        "--shortname",
        "ord",
        "customer:String",
        "copies:u32=1",
        "tags:Vec<String>",
        "note:Option<String>",
    ],
    &["add", "group", "billing.example.com"],
    &["add", "kind", "Invoice", "--from", "../invoice.yaml"],
];

/// Further commands, which make the rest of the example.
const FURTHER: [&[&str]; 8] = [
    &["add", "version", "Order", "v2"],
    &["add", "subresource", "Order", "ship", "carrier:String"],
    &["add", "subresource", "Order", "summary", "--get"],
    &["add", "subresource", "Order", "log", "--text"],
    &["add", "subresource", "Order", "status", "copies:Option<i32>"],
    &["add", "subresource", "Order", "scale", "--replicas", "spec.copies", "--observed", "status.copies"],
    &["add", "controller", "Order"],
    &["add", "version", "Invoice", "v1beta1"],
];

/// A crate with kinds in two groups.
fn shop(folder: &Path) -> PathBuf {
    done(folder, &["new", "shop"]);
    fs::write(folder.join("invoice.yaml"), INVOICE).unwrap();
    let shop = folder.join("shop");
    for command in KINDS {
        done(&shop, command);
    }
    shop
}

#[test]
fn the_example_is_what_the_commands_make() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    for command in FURTHER {
        done(&shop, command);
    }
    let mut made = files(&shop);
    let manifest = made.get_mut(Path::new("Cargo.toml")).unwrap();
    let path = fs::canonicalize(SOURCES).unwrap().join("runtime");
    *manifest = manifest.replace(path.to_str().unwrap(), "../../runtime");
    // The example is in a workspace, which has the profiles of its members.
    let (before, _) = manifest.split_once("\n# Lines in backtraces").unwrap();
    *manifest = before.to_owned();
    if env::var_os("KINDSMITH_BLESS").is_some() {
        for (path, text) in &made {
            let path = Path::new(EXAMPLE).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    let mut example = files(Path::new(EXAMPLE));
    // The example is formatted as a crate outside of this workspace is.
    example.remove(Path::new("rustfmt.toml"));
    for (path, text) in &made {
        let expected = example.get(path).map_or("", String::as_str);
        assert_eq!(text, expected, "{}: KINDSMITH_BLESS=1 accepts it", path.display());
    }
    assert!(made.keys().eq(example.keys()), "files that the commands do not make: {:?}", example.keys());
}

#[test]
fn each_command_says_what_it_wrote_and_what_to_do_next() {
    let folder = Folder::new("scaffold");
    let out = done(folder.path(), &["new", "shop"]);
    for line in ["wrote    src/lib.rs (13 lines)", "next: cd shop && cargo test && cargo run"] {
        assert!(out.lines().any(|found| found == line), "{out}");
    }
    let shop = folder.path().join("shop");
    let out = done(&shop, &["add", "kind", "Order", "copies:u32"]);
    for line in [
        "wrote    samples/order.yaml (6 lines)",
        "changed  src/lib.rs (2 lines changed)",
        "note: copies: u32 became i32 with a minimum of 0: the API conventions have no unsigned numbers",
        "next: say in src/order.rs what the fields mean; `cargo test` tests them, `cargo run` serves orders",
    ] {
        assert!(out.lines().any(|found| found == line), "{out}");
    }
}

#[test]
fn a_dry_run_shows_everything_and_writes_nothing() {
    let folder = Folder::new("scaffold");
    let out = done(folder.path(), &["new", "shop", "--dry-run"]);
    assert!(out.contains("would write src/main.rs:\n    //! Serves the API"), "{out}");
    assert!(files(folder.path()).is_empty());
    let shop = shop(folder.path());
    let before = files(folder.path());
    let out = done(&shop, &["add", "kind", "Parcel", "weight:Quantity", "--dry-run"]);
    assert!(out.contains("would change src/lib.rs:\n    8: pub mod parcel;\n"), "{out}");
    done(&shop, &["add", "group", "audit.example.com", "--dry-run"]);
    assert_eq!(files(folder.path()), before);
}

#[test]
fn a_sample_of_the_crate_itself_is_left_where_it_is() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    let sample = shop.join("samples/parcel.yaml");
    fs::write(&sample, "# By hand.\nkind: Parcel\nspec: {weight: 1}\n").unwrap();
    let out = done(&shop, &["add", "kind", "Parcel", "--from", "samples/parcel.yaml"]);
    assert!(!out.contains("samples/"), "{out}");
    assert!(fs::read_to_string(sample).unwrap().starts_with("# By hand."));
}

#[test]
fn a_command_works_below_the_folder_of_the_crate() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    done(&shop.join("src"), &["add", "kind", "Parcel", "weight:Quantity"]);
    assert!(shop.join("src/parcel.rs").is_file());
}
