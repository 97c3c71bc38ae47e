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
    let mut before = tested(&shop);
    assert!(before >= 3, "the tests of the first kind: {before}");
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
