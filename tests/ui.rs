//! The derives' messages: one compile-fail case a rule at least, under `ui/<rule>/<case>.rs`, with what the compiler says
//! beside it. `TRYBUILD=overwrite cargo test -p kindsmith-tests --test ui` writes the messages anew; read the difference.

#[test]
fn mistakes_are_named_where_they_are() {
    trybuild::TestCases::new().compile_fail("ui/*/*.rs");
}
