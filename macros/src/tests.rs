//! Snapshots of expansions: `tests/expand/<name>.rs` contains declarations, `<name>.expanded.rs` their expansion. Run
//! `BLESS=1 cargo test -p kindsmith-macros` to update them, and review the difference.
use std::{fmt::Write, fs, path::Path};

use quote::ToTokens;
use syn::{Attribute, Item};

use crate::derive;

/// The expansions of all our derives in a file.
fn expanded(source: &str) -> String {
    let file = syn::parse_file(source).expect("the input is Rust");
    let mut output =
        String::from("// @generated from the file beside it; `BLESS=1 cargo test -p kindsmith-macros` writes it.\n");
    for item in file.items {
        let (name, attributes) = match &item {
            Item::Struct(item) => (&item.ident, &item.attrs),
            Item::Enum(item) => (&item.ident, &item.attrs),
            _ => continue,
        };
        // The expansion of a message is separate from that of the declaration.
        let tokens = if derives(attributes, "Message") {
            derive::message(item.to_token_stream())
        } else if derives(attributes, "Resource") {
            derive::resource(item.to_token_stream())
        } else {
            derive::api_type(item.to_token_stream())
        };
        let expansion = syn::parse2(tokens).expect("a derive expands to items");
        write!(output, "\n// {name}\n{}", prettyplease::unparse(&expansion)).expect("text takes all");
    }
    output
}

fn derives(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().filter(|a| a.path().is_ident("derive")).any(|a| a.to_token_stream().to_string().contains(name))
}

#[test]
fn expansions_are_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/expand");
    let mut seen = 0;
    for entry in fs::read_dir(folder).expect("the inputs") {
        let path = entry.expect("an input").path();
        let name = path.to_string_lossy().into_owned();
        if name.ends_with(".expanded.rs") {
            continue;
        }
        seen += 1;
        let golden = path.with_extension("expanded.rs");
        let found = expanded(&fs::read_to_string(&path).expect("an input"));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&golden, found).expect("the snapshot can be written");
        } else {
            let recorded = fs::read_to_string(&golden).expect("a recording; `BLESS=1` makes it");
            assert!(found == recorded, "{name} does not match its snapshot:\n{found}");
        }
    }
    assert!(seen >= 3, "the input files are missing");
}
