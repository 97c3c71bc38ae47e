//! The derives' error messages: at least one compile-fail case per rule, in `ui/<rule>/<case>.rs`, with the compiler's
//! output beside it. `TRYBUILD=overwrite cargo test -p kindsmith-tests --test ui` updates the outputs; review the
//! difference.

#[test]
fn errors_are_reported_at_their_tokens() {
    trybuild::TestCases::new().compile_fail("ui/*/*.rs");
}
