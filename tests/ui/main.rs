//! The derives' error messages: at least one compile-fail case per rule, in `<rule>/<case>.rs`, with the compiler's
//! output beside it. `TRYBUILD=overwrite cargo test -p ui` updates the outputs; review the difference.
use std::{fs, path::Path};

#[test]
fn errors_are_reported_at_their_tokens() {
    locks();
    trybuild::TestCases::new().compile_fail("*/*.rs");
}

/// Copies the locks of Protobuf numbers to the package that compiles the cases, at whose manifest their paths begin.
fn locks() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the folder of the target");
    let to = target.join("tests/trybuild/ui/lock");
    fs::create_dir_all(&to).expect("a folder for the locks");
    for name in ["v1.proto", "broken.proto"] {
        fs::copy(Path::new("lock").join(name), to.join(name)).expect("a copy of a lock");
    }
}
