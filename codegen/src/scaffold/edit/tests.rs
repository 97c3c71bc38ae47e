//! Edits of files: each as the text before and the text after it.

use super::SourceFile;

fn edited(text: &str, edit: impl FnOnce(&mut SourceFile<'_>) -> Result<(), String>) -> String {
    let mut source = SourceFile::new("src/lib.rs", text);
    edit(&mut source).unwrap();
    source.into_text()
}

#[test]
fn modules_are_declared_in_alphabetical_order_and_other_text_stays() {
    let add = |text: &str| edited(text, |source| source.add_module("order"));
    for (before, after) in [
        ("", "\npub mod order;\n"),
        ("//! Docs.\n\nfn f() {}\n", "//! Docs.\n\npub mod order;\n\nfn f() {}\n"),
        ("use a::b;\n\nfn f() {}\n", "use a::b;\n\npub mod order;\n\nfn f() {}\n"),
        ("mod item; // first\nmod zoo;\n", "mod item; // first\npub mod order;\nmod zoo;\n"),
        ("/// A zoo.\n#[cfg(unix)]\npub mod zoo;\n", "pub mod order;\n/// A zoo.\n#[cfg(unix)]\npub mod zoo;\n"),
        ("mod item;\nmod tests { }\n", "mod item;\npub mod order;\nmod tests { }\n"),
    ] {
        assert_eq!(add(before), after);
    }
}

/// The body of `serve` with a further kind.
fn with_kind(body: &str) -> String {
    let around = |body: &str| format!("// Größe\npub fn serve(server: Builder) -> Builder {{\n{body}}}\n");
    let text = edited(&around(body), |source| source.add_kind("order::Order"));
    let (begin, end) = (around("").len() - 2, text.len() - 2);
    text[begin..end].to_owned()
}

#[test]
fn kinds_are_added_to_the_builder_as_rustfmt_has_it() {
    for (before, after) in [
        ("    server\n", "    server.kind::<order::Order>()\n"),
        ("    server.kind::<Item>()\n", "    server.kind::<Item>().kind::<order::Order>()\n"),
        (
            "    server.kind::<item::Item>().kind::<parcel::Parcel>()\n",
            "    server\n        .kind::<item::Item>()\n        .kind::<parcel::Parcel>()\n        .kind::<order::Order>()\n",
        ),
        (
            "    server\n        .kind::<Item>() // items\n        .subresource(\"log\", text(log))\n",
            "    server\n        .kind::<Item>()\n        .kind::<order::Order>() // items\n        .subresource(\"log\", text(log))\n",
        ),
        (
            "    let server = billing::serve(server);\n    server.virtual_kind(review)\n",
            "    let server = billing::serve(server);\n    server.virtual_kind(review).kind::<order::Order>()\n",
        ),
    ] {
        assert_eq!(with_kind(before), after);
    }
}

#[test]
fn groups_get_the_builder_before_the_kinds_of_the_crate() {
    let around = |lines: &str| format!("fn serve(builder: server::Builder) -> Builder {{\n{lines}    builder\n}}\n");
    let first = edited(&around(""), |source| source.add_group("billing"));
    assert_eq!(first, around("    let builder = billing::serve(builder);\n"));
    let second = edited(&first, |source| source.add_group("audit"));
    let both = "    let builder = billing::serve(builder);\n    let builder = audit::serve(builder);\n";
    assert_eq!(second, around(both));
}

#[test]
fn what_cannot_be_edited_is_named_with_its_line() {
    let error = |text: &str| SourceFile::new("src/lib.rs", text).add_kind("a::A").unwrap_err();
    assert!(error("fn main() {\n    let = 1;\n}\n").starts_with("src/lib.rs:2: "));
    assert!(error("fn serve() {}\n").contains("there is no function `serve` of a builder; write `pub fn serve("));
    let unfinished = error("\nfn serve(server: Builder) {\n    server.run();\n}\n");
    assert!(unfinished.starts_with("src/lib.rs:2: `serve` does not end in a builder"), "{unfinished}");
}

#[test]
fn constants_are_found() {
    let source = SourceFile::new("src/lib.rs", "pub const GROUP: &str = \"a.b\";\nconst N: i32 = 1;\n");
    assert_eq!(source.constant("GROUP"), Ok(Some("a.b".to_owned())));
    assert_eq!((source.constant("N"), source.constant("M")), (Ok(None), Ok(None)));
}

#[test]
fn names_are_imported_beside_those_of_the_same_crate() {
    for (before, after, written) in [
        ("use kindsmith::{ApiType, Resource};\n", "use kindsmith::{ApiType, Condition, Resource};\n", "Condition"),
        ("use kindsmith::ApiType;\n", "use kindsmith::{ApiType, Condition};\n", "Condition"),
        (
            "use kindsmith::server::Builder;\n",
            "use kindsmith::Condition;\nuse kindsmith::server::Builder;\n",
            "Condition",
        ),
        ("use kindsmith::{\n    A,\n};\n", "use kindsmith::Condition;\nuse kindsmith::{\n    A,\n};\n", "Condition"),
        ("//! A.\n\nfn f() {}\n", "//! A.\n\nuse kindsmith::Condition;\n\nfn f() {}\n", "Condition"),
        ("use std::fs;\n", "use kindsmith::Condition;\n\nuse std::fs;\n", "Condition"),
        ("use kindsmith::{Condition, meta};\n", "use kindsmith::{Condition, meta};\n", "Condition"),
        ("use kindsmith::*;\n", "use kindsmith::*;\n", "Condition"),
        ("use other::Condition;\n", "use other::Condition;\n", "kindsmith::Condition"),
        ("use kindsmith::Event as Condition;\n", "use kindsmith::Event as Condition;\n", "kindsmith::Condition"),
        ("struct Condition;\n", "struct Condition;\n", "kindsmith::Condition"),
    ] {
        let mut source = SourceFile::new("src/lib.rs", before);
        assert_eq!(source.import("kindsmith", "Condition"), Ok(written.to_owned()), "{before}");
        assert_eq!(source.into_text(), after);
    }
}

#[test]
fn fields_arguments_and_tests_are_added_where_they_belong() {
    let kind = "#[derive(Resource)]\n#[resource(group = \"a.b\")] // first\nstruct Order {\n    spec: Spec\n}\n\n\
                #[cfg(test)]\nmod tests {\n    fn example() {}\n}\n";
    let text = edited(kind, |source| {
        source.add_argument("Order", "status")?;
        source.add_field("Order", "    status: Option<Status>,\n")?;
        source.add_items("struct Status;\n")?;
        assert_eq!(source.add_test("    fn second() {}\n"), Ok(true));
        Ok(())
    });
    let expected = "#[derive(Resource)]\n#[resource(group = \"a.b\")] // first\n#[resource(status)]\nstruct Order {\n    spec: Spec,\n    \
                    status: Option<Status>,\n}\n\nstruct Status;\n\n#[cfg(test)]\nmod tests {\n    fn example() {}\n\n    fn second() {}\n}\n";
    assert_eq!(text, expected);
    let without = edited("struct A;\n", |source| {
        source.add_items("struct B;\n")?;
        assert_eq!(source.add_test("fn c() {}\n"), Ok(false));
        Ok(())
    });
    assert_eq!(without, "struct A;\n\nstruct B;\n");
    let mut source = SourceFile::new("src/a.rs", "\nstruct A { b: B }\nstruct C(D);\n");
    let error = source.add_field("A", "    c: C,\n").unwrap_err();
    assert_eq!(error, "src/a.rs:2: the closing brace of `A` is not on a line of its own; run `cargo fmt`");
    let error = source.add_field("C", "    c: C,\n").unwrap_err();
    assert_eq!(error, "src/a.rs:3: `C` has no fields with names; write it as `struct C { … }`");
}
