//! Generates random documents from schemas, including values at the limits of a schema.
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, json};

use super::{pattern, random::Random, variant::Variant};
use crate::schema::{
    At, Document, Scalar, Schema, format,
    model::{ListType, Type},
    number,
};

/// Texts that decoders often handle wrong.
const TEXTS: [&str; 12] =
    ["", " ", "a", "null", "0", "true", "-1", "é\u{301}", "\u{1F600}", "\u{0}\u{7f}", "\"\\/\n\t", "a.b/c~d[0]"];
const QUANTITIES: [&str; 9] = ["0", "1", "500m", "1Gi", "-2.5k", "1e3", "+7", ".5", "12E"];
/// Types of other crates have them, too: the times of jiff end in the evening of that day.
const TIMES: [&str; 5] = [
    "2026-01-02T03:04:05Z",
    "1970-01-01T00:00:00Z",
    "2024-02-29T23:59:59.999999Z",
    "2026-01-02T03:04:05+14:00",
    "9999-12-30T00:00:00Z",
];

/// The same with six digits after the seconds.
const MICRO_TIMES: [&str; 4] = [
    "2026-01-02T03:04:05.000000Z",
    "1969-12-31T23:59:59.999999Z",
    "2026-01-02T03:04:05.123456+14:00",
    "9999-12-30T21:59:59.000000Z",
];

/// How deep generated values nest. Declared types that end nest less.
const MOST_NESTED: usize = 32;
/// The number of values that one document consists of. Beyond it, only what is required is generated: documents of recursive
/// types would otherwise grow exponentially.
pub(super) const MOST_VALUES: usize = 2_000;

/// Generates values.
pub(super) struct Maker {
    pub(super) random: Random,
    /// How deep the current value is nested.
    depth: usize,
    /// The number of values that may still be generated here.
    left: usize,
}

impl Maker {
    pub(super) fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), depth: 0, left: 0 }
    }

    /// A whole document of at most about [`MOST_VALUES`] values, or `None` if no value is known that the schema accepts.
    pub(super) fn document(&mut self, schema: &Schema) -> Option<Document> {
        self.left = MOST_VALUES;
        self.value(At::of(schema))
    }

    /// A value that the schema probably accepts, or `None` if no such value is known.
    fn value(&mut self, at: At<'_>) -> Option<Document> {
        let schema = at.node();
        self.left = self.left.saturating_sub(1);
        if schema.nullable && self.random.one_in(8) {
            return Some(Document::Null);
        }
        let variant = Variant::of(schema, &mut self.random);
        if let Some(variant) = variant.as_ref().filter(|_| !matches!(schema.kind, Type::Object | Type::Array)) {
            return self.value(At::of(&variant.narrowed(schema)));
        }
        if !schema.enumeration.is_empty() {
            return Some(self.random.pick(&schema.enumeration).clone());
        }
        if let Some(default) = &schema.default
            && self.random.one_in(8)
        {
            return Some(default.clone());
        }
        Some(match schema.kind {
            Type::Object if schema.embedded => self.embedded(at)?,
            Type::Object if schema.preserve_unknown && at.properties().len() == 0 => self.unknown(schema),
            Type::Object => self.nested(at, Self::object)?,
            Type::Array => self.nested(at, Self::list)?,
            Type::Integer => self.integer(schema).into(),
            Type::Number => self.number(schema),
            Type::Boolean => self.random.one_in(2).into(),
            Type::IntOrString if self.random.one_in(2) => self.integer(schema).into(),
            Type::String | Type::IntOrString => self.text(schema)?.into(),
            Type::Any => self.anything(3),
        })
    }

    /// Replaces or removes a random part of a document.
    pub(super) fn change(&mut self, document: &mut Document) {
        let below: Vec<&mut Document> = match document {
            Document::Object(fields) if self.random.one_in(4) => {
                let names: Vec<String> = fields.keys().cloned().collect();
                if !names.is_empty() {
                    fields.remove(self.random.pick(&names));
                }
                return;
            }
            Document::Object(fields) => fields.values_mut().collect(),
            Document::Array(items) => items.iter_mut().collect(),
            _ => Vec::new(),
        };
        if below.is_empty() || self.random.one_in(6) {
            *document = self.anything(1);
            return;
        }
        let index = self.random.below(below.len());
        if let Some(chosen) = below.into_iter().nth(index) {
            self.change(chosen);
        }
    }

    /// A struct, list or map. `None` if it would nest too deeply: types may be recursive.
    fn nested(&mut self, at: At<'_>, make: fn(&mut Self, At<'_>) -> Option<Document>) -> Option<Document> {
        if self.depth == MOST_NESTED {
            return None;
        }
        self.depth += 1;
        let made = make(self, at);
        self.depth -= 1;
        made
    }

    /// One of `parts` values that are still to be generated here, with its share of what is left.
    fn part(&mut self, at: At<'_>, parts: usize) -> Option<Document> {
        let others = self.left - self.left / parts;
        self.left -= others;
        let made = self.value(at);
        self.left += others;
        made
    }

    fn object(&mut self, at: At<'_>) -> Option<Document> {
        let mut fields = Map::new();
        if at.union {
            let members: Vec<_> = at.properties().collect();
            let (name, member) = *self.random.pick(&members);
            fields.insert(name.clone(), self.value(member)?);
            return Some(fields.into());
        }
        let variant = Variant::of(at.node(), &mut self.random);
        let is_required = |name: &String| {
            at.required.contains(name) || variant.as_ref().is_some_and(|variant| variant.requires(name))
        };
        let mut chosen: Vec<_> = at.properties().map(|(name, of)| (name, of, is_required(name))).collect();
        chosen.retain(|(name, ..)| variant.as_ref().is_none_or(|variant| variant.has(name)));
        chosen.retain(|(_, _, required)| *required || !self.random.one_in(3));
        let entries = at.entry().map_or(0, |_| self.count(at.min_properties, at.max_properties));
        let mut parts = chosen.len() + entries;
        for (name, property, required) in chosen {
            if required || self.left >= parts {
                let narrowed = variant.as_ref().and_then(|variant| variant.field(name, property));
                match self.part(narrowed.as_ref().map_or(property, At::of), parts) {
                    Some(value) => {
                        fields.insert(name.clone(), value);
                    }
                    None if required => return None,
                    None => {}
                }
            }
            parts -= 1;
        }
        for name in at.required.iter().filter(|name| at.property(name).is_none()) {
            let value = if let Some(values) = at.entry() { self.part(values, 1)? } else { self.anything(1) };
            fields.insert(name.clone(), value);
        }
        for parts in (1..=entries).rev() {
            let key = self.plain_text();
            if at.property(&key).is_none() {
                fields.insert(key, self.part(at.entry()?, parts)?);
            }
        }
        Some(fields.into())
    }

    fn list(&mut self, at: At<'_>) -> Option<Document> {
        let items = at.items()?;
        let mut list: Vec<Document> = Vec::new();
        for parts in (1..=self.count(at.min_items, at.max_items)).rev() {
            let item = self.part(items, parts)?;
            let known = match &at.list {
                ListType::Atomic => false,
                ListType::Set => list.contains(&item),
                ListType::Map(keys) => {
                    let key = |of: &Document, name: &String| {
                        let default = || items.property(name).and_then(|property| property.default.clone());
                        of.get(name).cloned().or_else(default)
                    };
                    list.iter().any(|other| keys.iter().all(|name| key(other, name) == key(&item, name)))
                }
            };
            if !known {
                list.push(item);
            }
        }
        Some(list.into())
    }

    /// A number of items or entries: zero, the minimum, the maximum, or a few, but beyond the minimum no more than may be generated.
    fn count(&mut self, least: Option<u64>, most: Option<u64>) -> usize {
        let least = usize::try_from(least.unwrap_or(0)).unwrap_or(usize::MAX).min(64);
        let most = most.map_or(least + 3, |most| usize::try_from(most).unwrap_or(usize::MAX).clamp(least, least + 8));
        least + self.random.below(most - least + 1).min(self.left)
    }

    fn text(&mut self, schema: &Schema) -> Option<String> {
        (0..50).find_map(|_| {
            let mut text = match (schema.format.as_deref(), &schema.pattern) {
                (Some("byte"), _) => STANDARD.encode(format!("a{}", self.plain_text())),
                (Some("quantity"), _) if schema.scalar.is_some() => (*self.random.pick(&QUANTITIES)).to_owned(),
                (Some("date-time"), _) if schema.scalar == Some(Scalar::MicroTime) => {
                    (*self.random.pick(&MICRO_TIMES)).to_owned()
                }
                (Some("date-time"), _) => (*self.random.pick(&TIMES)).to_owned(),
                (Some(_), _) if let Some(example) = format::example(schema) => example.to_owned(),
                // It has exponents that no quantity has.
                (_, Some(pattern)) if pattern.is_quantity() => (*self.random.pick(&QUANTITIES)).to_owned(),
                (_, Some(pattern)) => pattern::text(&mut self.random, pattern.syntax())?,
                _ => self.plain_text(),
            };
            if schema.pattern.is_none() && schema.format.is_none() {
                let length = text.chars().count();
                let missing =
                    schema.min_length.map_or(0, |least| usize::try_from(least).unwrap_or(0).saturating_sub(length));
                text.extend(std::iter::repeat_n('x', missing));
                let most = schema.max_length.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
                text = text.chars().take(most).collect();
            }
            let matches = schema.pattern.as_ref().is_none_or(|pattern| pattern.is_match(&text));
            matches.then_some(text)
        })
    }

    fn plain_text(&mut self) -> String {
        if self.random.one_in(3) {
            return (*self.random.pick(&TEXTS)).to_owned();
        }
        let length = self.random.below(12);
        (0..length).map(|_| char::from(b'a' + u8::try_from(self.random.below(26)).unwrap_or(0))).collect()
    }

    fn integer(&mut self, schema: &Schema) -> i64 {
        let narrow = schema.kind == Type::IntOrString || schema.format.as_deref() == Some("int32");
        let (mut least, mut most) = if narrow { (i32::MIN.into(), i32::MAX.into()) } else { (i64::MIN, i64::MAX) };
        if let Some(minimum) = schema.minimum {
            least = least.max(saturating(minimum.ceil()).saturating_add(schema.exclusive_minimum.into()));
        }
        if let Some(maximum) = schema.maximum {
            most = most.min(saturating(maximum.floor()).saturating_sub(schema.exclusive_maximum.into()));
        }
        let near = [least, most, 0, 1, -1].map(|edge| edge.clamp(least.min(most), most.max(least)));
        let chosen =
            if self.random.one_in(2) { *self.random.pick(&near) } else { self.random.between(least, most.max(least)) };
        match schema.multiple_of.map(saturating).filter(|&factor| factor > 1) {
            Some(factor) => chosen - chosen % factor,
            None => chosen,
        }
    }

    fn number(&mut self, schema: &Schema) -> Document {
        let least = schema.minimum.unwrap_or(-1e9);
        let most = schema.maximum.unwrap_or(least.abs() * 2.0 + 1e9);
        let steps = 1_000;
        let part = f64::from(u32::try_from(self.random.below(steps + 1)).unwrap_or(0)) / 1_000.0;
        let mut chosen = least + (most - least) * part;
        if let Some(factor) = schema.multiple_of {
            chosen = (chosen / factor).round() * factor;
        }
        let mut document = Document::from(chosen);
        number::settle(&mut document);
        document
    }

    /// A whole object, with the fields that are declared.
    fn embedded(&mut self, at: At<'_>) -> Option<Document> {
        let mut object = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "inner"}});
        if at.properties().len() == 0 {
            object["spec"] = self.anything(1);
            return Some(object);
        }
        if let Document::Object(declared) = self.nested(at, Self::object)? {
            let declared = declared.into_iter().filter(|(name, _)| object.get(name).is_none());
            let declared: Vec<_> = declared.collect();
            object.as_object_mut()?.extend(declared);
        }
        Some(object)
    }

    /// Undeclared fields that are kept, and the required ones.
    fn unknown(&mut self, schema: &Schema) -> Document {
        let few = schema.min_properties.unwrap_or(0).min(64).saturating_sub(1);
        let names = schema.required.iter().cloned().chain((0..few).map(|number| format!("any{number}")));
        let names: Vec<String> = names.chain(["any".to_owned()]).collect();
        let most = schema.max_properties.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        names.into_iter().take(most).map(|name| (name, self.anything(2))).collect()
    }

    /// Any JSON except null.
    fn anything(&mut self, depth: usize) -> Document {
        match self.random.below(if depth == 0 { 5 } else { 7 }) {
            0 => self.random.one_in(2).into(),
            1 => self.random.between(i64::MIN, i64::MAX).into(),
            2 => json!(1.5),
            3 => self.plain_text().into(),
            4 => self.random.between(-2, 2).into(),
            5 => (0..self.random.below(3)).map(|_| self.anything(depth - 1)).collect(),
            _ => (0..self.random.below(3)).map(|_| (self.plain_text(), self.anything(depth - 1))).collect(),
        }
    }
}

/// The nearest integer towards zero.
pub(super) fn saturating(number: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "it saturates, as wanted")]
    {
        number as i64
    }
}
