//! Rust from manifests and OpenAPI documents.

mod assign;
mod attributes;
mod bounds;
mod builder;
mod collect;
mod docs;
mod emit;
mod keywords;
mod kinds;
mod literal;
mod model;
mod names;
mod options;
mod output;
mod rules;

pub use builder::Builder;
pub(crate) use options::Options;
pub use output::{Error, File, GeneratedCode, Warning};

use std::collections::BTreeSet;

use kindsmith::schema::Schema;

/// The variants of a closed set of strings: their names in Rust and on the wire.
fn variants(schema: &Schema) -> Vec<(String, String)> {
    let mut taken = BTreeSet::new();
    let wires = schema.enumeration.iter().filter_map(|value| value.as_str());
    wires
        .map(|wire| {
            let rust = if wire.is_empty() { "Empty".to_owned() } else { names::pascal(wire) };
            (names::free(&names::written(&rust), &mut taken), wire.to_owned())
        })
        .collect()
}
