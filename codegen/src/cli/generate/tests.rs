//! Tests of the command that a file names.
use super::*;

#[test]
fn words_are_quoted_where_a_shell_would_read_them_differently() {
    assert_eq!(
        ["src/generated", "*=PartialEq", "it's", ""].map(quoted),
        ["src/generated", "'*=PartialEq'", "'it'\\''s'", "''"]
    );
}

#[test]
fn the_line_that_declares_a_folder_is_rust() {
    for (folder, module, line) in [
        ("kinds", "kinds", "mod kinds;"),
        ("gen-cert", "gen_cert", "#[path = \"gen-cert/mod.rs\"] mod gen_cert;"),
        ("type", "type_", "#[path = \"type/mod.rs\"] mod type_;"),
        ("1st", "_1st", "#[path = \"1st/mod.rs\"] mod _1st;"),
    ] {
        assert_eq!(declaration(folder), (module.to_owned(), line.to_owned()));
    }
}
