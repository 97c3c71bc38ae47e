//! A fuzz test of samples: whatever a sample has, what is made of it parses, and has the items of a plain one alone.

use std::collections::BTreeSet;

use kindsmith_tests::Random;
use serde_json::{Map, Value, json};
use syn::Item;

use crate::engine::{Target, fuzz};
use crate::scaffold::{kind::Kind, sample};

const HOSTILE: &[&str] = &[
    "} pub fn evil() {} mod y {",
    "\"; fn evil() {} const X: &str = \"",
    "\"#, fn evil() {}",
    "../../../x",
    "*/ fn evil() {} /*",
    "\n",
    "\r\nfn evil() {}",
    "\u{0}",
    "\u{202e}",
    "\"\"\"",
    "]]",
    "{{evil}}",
    "{",
    "größe",
    "type",
    "self",
    "super",
    "fn",
    "a",
    "items",
    "port",
    "name",
    "spec",
    "aB",
    "aBC",
    "example.com/v1",
    "2030-01-01T08:00:00Z",
    "500m",
    "",
];

struct Samples;

fn value(depth: usize, random: &mut Random) -> Value {
    match random.below(if depth == 0 { 5 } else { 9 }) {
        0 => json!(random.below(1 << 40)),
        1 => json!(random.one_in(2)),
        2..=4 => json!(random.pick(HOSTILE)),
        5 => (0..random.below(3)).map(|_| value(depth - 1, random)).collect(),
        _ => object(depth - 1, random).into(),
    }
}

fn object(depth: usize, random: &mut Random) -> Map<String, Value> {
    (0..random.below(5)).map(|_| ((*random.pick(HOSTILE)).to_owned(), value(depth, random))).collect()
}

/// The names of functions and modules of a file, and of its modules.
fn functions(items: &[Item], found: &mut BTreeSet<String>) {
    for item in items {
        match item {
            Item::Fn(function) => _ = found.insert(function.sig.ident.to_string()),
            Item::Mod(module) => {
                found.insert(module.ident.to_string());
                functions(module.content.as_ref().map_or(&[], |(_, items)| items), found);
            }
            Item::Use(_) | Item::Struct(_) | Item::Const(_) => {}
            _ => panic!("an item that no name accounts for"),
        }
    }
}

impl Target for Samples {
    const WORDS: &'static [&'static str] = HOSTILE;

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let spec = object(4, random);
        json!({"apiVersion": "shop.example.com/v1", "kind": "Order", "spec": spec}).to_string().into_bytes()
    }

    fn attempt(&self, input: &[u8]) -> String {
        let read = match sample::read("order.yaml", &String::from_utf8_lossy(input), "Order") {
            Ok(read) => read,
            Err(error) => return error,
        };
        let count = read.types.len();
        let kind = Kind {
            name: "Order".to_owned(),
            group: "shop.example.com".to_owned(),
            version: "v1".to_owned(),
            is_cluster: false,
            short_name: String::new(),
            has_status: read.has_status,
            types: read.types,
        };
        let text = kind.source();
        let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let mut found = BTreeSet::new();
        functions(&file.items, &mut found);
        let first = kind.types[0].fields.iter().find(|field| field.is_required);
        let of_field = first.map(|field| format!("order_without_its_{}_is_refused", field.name.trim_end_matches('_')));
        for name in &found {
            let usual = ["tests", "example", "an_order_is_stored_as_it_was_sent"].contains(&name.as_str());
            assert!(usual || of_field.as_ref().is_some_and(|of| name.ends_with(of.as_str())), "{name}: {text}");
        }
        let structs = file.items.iter().filter(|item| matches!(item, Item::Struct(_))).count();
        assert_eq!(structs, count + 1 + usize::from(kind.has_status), "{text}");
        let manifest = kind.manifest();
        let again =
            sample::read("again.yaml", &manifest, "Order").unwrap_or_else(|error| panic!("{error}: {manifest}"));
        assert!(again.types[0].fields.len() == kind.types[0].fields.len(), "{manifest}");
        format!("{count} types, {} functions", found.len())
    }
}

#[test]
fn samples() {
    fuzz("samples", &Samples);
}

#[test]
fn long_keys_are_read_again() {
    for key in ["k".repeat(2_000), "\u{1}".repeat(300), "k".repeat(999)] {
        let fields = serde_json::json!({"k".repeat(2_000): 1, "labels": {&key: [{&key: 1}]}});
        let object = serde_json::json!({"apiVersion": "shop.example.com/v1", "kind": "Order", "spec": fields});
        let outcome = Samples.attempt(object.to_string().as_bytes());
        assert!(outcome.contains(" types, "), "{outcome}");
    }
}
