//! Fingerprints of schemas: equal for equal schemas, across builds and machines.
use super::{Scalar, Schema};

/// A hash of everything that affects how stored documents are read: types, fields and defaults, but not descriptions or
/// bounds.
///
/// A stored body with the same fingerprint needs no defaulting and no pruning. The hash is FNV-1a, which is stable,
/// unlike the standard library's.
pub fn fingerprint(schema: &Schema) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    add(schema, &mut hash);
    hash.0
}

/// A hash of everything that affects validity beyond types: required fields, allowed values, bounds, formats, list
/// keys, junctors. Never zero.
pub fn rules(schema: &Schema) -> u32 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    add_rules(schema, &mut hash);
    let folded = (hash.0 >> 32) ^ (hash.0 & 0xffff_ffff);
    u32::try_from(folded).expect("both halves have 32 bits").max(1)
}

/// A hash of a list of texts.
pub fn texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    texts.into_iter().for_each(|text| hash.text(text));
    hash.0
}

struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    /// Hashes a text with its length, so that different lists of texts differ.
    fn text(&mut self, text: &str) {
        self.bytes(&(text.len() as u64).to_le_bytes());
        self.bytes(text.as_bytes());
    }

    fn flags<const N: usize>(&mut self, flags: [bool; N]) {
        self.bytes(&flags.map(u8::from));
    }
}

fn add_rules(schema: &Schema, hash: &mut Fnv) {
    hash.bytes(&(schema.required.len() as u64).to_le_bytes());
    schema.required.iter().for_each(|name| hash.text(name));
    hash.text(&format!("{:?} {:?}", schema.enumeration, schema.list));
    hash.text(&format!("{:?} {:?} {:?}", schema.minimum, schema.maximum, schema.multiple_of));
    hash.flags([schema.exclusive_minimum, schema.exclusive_maximum, schema.union]);
    hash.text(&format!("{:?} {:?}", schema.min_length, schema.max_length));
    hash.text(&format!("{:?} {:?}", schema.min_items, schema.max_items));
    hash.text(&format!("{:?} {:?}", schema.min_properties, schema.max_properties));
    hash.text(schema.pattern.as_ref().map_or("", |pattern| pattern.text()));
    // `fingerprint` covers the formats of fields, but not those in branches of junctors.
    hash.text(schema.format.as_deref().unwrap_or_default());
    hash.bytes(&(schema.properties.len() as u64).to_le_bytes());
    for (name, property) in &schema.properties {
        hash.text(name);
        add_rules(property, hash);
    }
    hash.flags([schema.additional.is_some(), schema.items.is_some()]);
    for inner in [&schema.additional, &schema.items].into_iter().flatten() {
        add_rules(inner, hash);
    }
    for definition in recursion(schema, hash) {
        add_rules(definition, hash);
    }
    hash.flags([schema.junctors.is_some()]);
    for (_, branches) in schema.junctors.iter().flat_map(|junctors| junctors.branches()) {
        hash.bytes(&(branches.len() as u64).to_le_bytes());
        for branch in branches {
            add_rules(branch, hash);
        }
    }
}

fn add(schema: &Schema, hash: &mut Fnv) {
    hash.text(&format!("{:?}", schema.kind));
    // What earlier versions of this library had for a format.
    let format = if schema.scalar == Some(Scalar::MicroTime) { Some("micro-time") } else { schema.format.as_deref() };
    hash.text(format.unwrap_or_default());
    hash.flags([schema.preserve_unknown, schema.embedded, schema.nullable, schema.omit_empty]);
    hash.flags([schema.default.is_some(), schema.additional.is_some(), schema.items.is_some()]);
    if let Some(default) = &schema.default {
        hash.text(&default.to_string());
    }
    if let Some(boolean) = schema.boolean {
        hash.text("boolean");
        hash.flags([boolean]);
    }
    hash.bytes(&(schema.properties.len() as u64).to_le_bytes());
    for (name, property) in &schema.properties {
        hash.text(name);
        add(property, hash);
    }
    for inner in [&schema.additional, &schema.items].into_iter().flatten() {
        add(inner, hash);
    }
    for definition in recursion(schema, hash) {
        add(definition, hash);
    }
}

/// Adds the back reference, if there is one, and returns the definitions to add.
fn recursion<'s>(schema: &'s Schema, hash: &mut Fnv) -> &'s [Schema] {
    // Nothing is added for schemas without recursion, so their fingerprints stay the same.
    if let Some(index) = schema.definition {
        hash.text("definition");
        hash.bytes(&index.to_le_bytes());
    }
    if schema.definitions.is_some() {
        hash.text("definitions");
    }
    schema.definitions.as_deref().map_or(&[], Vec::as_slice)
}
