//! One short document of a kind, for documentation and samples.
use std::iter;

use serde_json::{Map, json};

use super::{
    make::{Maker, saturating},
    meets_rules, pattern,
    random::Random,
    settle,
};
use crate::{
    kind::{Kind, model::NameRule},
    meta::validate,
    schema::{
        self, At, Document, Meter, Schema, format,
        model::{ListType, Type},
        number,
    },
};

/// The number of values up to which an example has optional fields at the next depth, too.
const MOST_VALUES: usize = 40;
/// How deep optional fields are shown at most.
const DEEPEST: usize = 6;
/// How many values an example is made of at most, including values that are tried and left out.
const MOST_WRITTEN: usize = 5_000;
/// How deep required fields nest at most: types may contain themselves.
const MOST_NESTED: usize = 32;
/// How long names are.
const MOST_LETTERS: usize = 253;
/// The number of random documents that are tried if none of the short ones is valid.
const ROUNDS: usize = 500;

/// Texts for values with a pattern, from which the first that matches is taken. They read better than random ones.
const TEXTS: [&str; 11] = [
    "example",
    "Example",
    "EXAMPLE",
    "example.com",
    "example/example",
    "https://example.com/",
    "1",
    "1s",
    "1.0.0",
    "v1.0.0",
    "#123456",
];

/// A short document of a kind that its schema accepts: with what is required, and optional fields while it stays short. Its status is
/// left out. Published examples and defaults are used as values. It meets the kind's rules in CEL, unless none of those that were tried
/// does. `None` if no valid document was found.
///
/// ```
/// # extern crate kindsmith_model as kindsmith;
/// use kindsmith::{ApiType, ObjectMeta, Resource, testing};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Resource, Clone, Debug)]
/// # #[resource(group = "library.example.com", version = "v1")]
/// # pub struct Book { pub metadata: ObjectMeta, pub spec: BookSpec }
/// # #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
/// # pub struct BookSpec { pub genre: String }
///
/// let example = testing::example(&Book::kind()).expect("a valid document");
/// assert_eq!((&example["kind"], &example["metadata"]["name"]), (&"Book".into(), &"example".into()));
/// ```
pub fn example(kind: &Kind) -> Option<Document> {
    let valid = |is_ruled| short(kind, is_ruled).or_else(|| random(kind, is_ruled));
    let mut document = valid(true).or_else(|| kind.rules().and_then(|_| valid(false)))?;
    set_type(kind, &mut document);
    if kind.shared.stored {
        document["metadata"] = json!({"name": name(kind)?});
    }
    Some(document)
}

fn set_type(kind: &Kind, document: &mut Document) {
    document["apiVersion"] = kind.group_version.to_string().into();
    document["kind"] = kind.names().kind.as_str().into();
}

/// True if the schema accepts a document, and the kind's rules, too, if that is asked for.
fn is_valid(kind: &Kind, document: &Document, is_ruled: bool) -> bool {
    let mut document = document.clone();
    if !document.is_object() || !settle(&kind.version.schema, &mut document).is_empty() {
        return false;
    }
    set_type(kind, &mut document);
    document["metadata"] = json!({"name": "example"});
    !is_ruled || meets_rules(kind, &document)
}

/// A random document.
fn random(kind: &Kind, is_ruled: bool) -> Option<Document> {
    let mut maker = Maker::new(1);
    let mut made = iter::repeat_with(|| maker.document(&kind.version.schema)).take(ROUNDS).flatten().map(without_type);
    made.find(|document| is_valid(kind, document, is_ruled))
}

/// The first valid document that is short, or else the last, which has only what is required.
fn short(kind: &Kind, is_ruled: bool) -> Option<Document> {
    let is_valid = |document: &Document| is_valid(kind, document, is_ruled);
    let short = (0..=DEEPEST).rev().filter_map(|depth| {
        let (mut made, published) = (None, [true, false]);
        for is_published in published {
            let mut writer = Writer { random: Random::new(1), depth, is_published, left: MOST_WRITTEN };
            made = made.or_else(|| writer.root(&kind.version.schema).filter(is_valid));
        }
        made
    });
    // The first that is short, or else the last, which has only what is required.
    let mut best = None;
    for document in short {
        let is_short = values_of(&document) <= MOST_VALUES;
        best = Some(document);
        if is_short {
            break;
        }
    }
    best
}

/// A name that the kind allows: one that reads well, or else a random one.
fn name(kind: &Kind) -> Option<Document> {
    let Some(names) = &kind.version.names else { return Some(json!("example")) };
    let rule = names.properties.get("metadata").and_then(|metadata| metadata.properties.get("name"));
    let rule = rule.cloned().unwrap_or_default();
    let is_valid = |name: &String| {
        let wrong = match kind.shared.name_rule {
            NameRule::Subdomain => validate::subdomain(name, false),
            NameRule::Label => validate::label(name, false),
            NameRule::PathSegment => validate::path_segment(name, false),
        };
        let document = json!({"metadata": {"name": name}});
        let errors = schema::validate(names, &document, &Meter::default());
        wrong.is_empty() && !name.is_empty() && errors.is_ok_and(|errors| errors.is_empty())
    };
    let branches = rule.junctors.iter().flat_map(|all| all.all_of.iter().chain(&all.any_of).chain(&all.one_of));
    let written = iter::once(&rule).chain(branches).filter_map(|rule| {
        let mut writer = Writer { random: Random::new(1), depth: 0, is_published: true, left: MOST_WRITTEN };
        let rule = Schema { kind: Type::String, ..rule.clone() };
        writer.value(At::of(&rule), 0)?.as_str().map(str::to_owned)
    });
    // The text that a pattern requires may be a part of the name.
    let completed = |text: String| {
        let parts = [format!("{text}example"), format!("example{text}"), format!("{text}1"), format!("1{text}")];
        iter::once(text).chain(parts)
    };
    let known = ["example", "example-1", "example.com", "192.0.2.1", "a", "1"].map(str::to_owned);
    let mut maker = Maker::new(1);
    let random = iter::repeat_with(|| maker.document(&rule)).take(ROUNDS).flatten();
    let random = random.filter_map(|name| name.as_str().map(str::to_owned));
    let least = usize::try_from(rule.min_length.unwrap_or(0)).unwrap_or(0).min(MOST_LETTERS);
    let padded = iter::once(format!("example{}", "x".repeat(least.saturating_sub("example".len()))));
    let all = known.into_iter().chain(padded).chain(written.chain(random).flat_map(completed));
    all.into_iter().find(is_valid).map(Document::from)
}

/// A document without what is not of the kind's schema, or is the server's.
fn without_type(mut document: Document) -> Document {
    if let Some(fields) = document.as_object_mut() {
        fields.retain(|name, _| !["apiVersion", "kind", "metadata", "status"].contains(&name.as_str()));
    }
    document
}

fn values_of(document: &Document) -> usize {
    1 + match document {
        Document::Array(items) => items.iter().map(values_of).sum(),
        Document::Object(fields) => fields.values().map(values_of).sum(),
        _ => 0,
    }
}

struct Writer {
    random: Random,
    /// How deep optional fields are written.
    depth: usize,
    /// Published examples are used.
    is_published: bool,
    /// How many further values may be written: they multiply with each depth.
    left: usize,
}

impl Writer {
    fn root(&mut self, schema: &Schema) -> Option<Document> {
        let at = At::of(schema);
        if at.properties().len() == 0 {
            return Some(json!({}));
        }
        self.object(at, 0).map(without_type)
    }

    fn value(&mut self, at: At<'_>, depth: usize) -> Option<Document> {
        self.left = self.left.checked_sub(1)?;
        if depth > MOST_NESTED {
            return None;
        }
        let schema = at.node();
        let published = schema.unenforced.as_ref().and_then(|unenforced| unenforced.example.as_ref());
        let said = published.filter(|_| self.is_published).or(schema.default.as_ref()).or(schema.enumeration.first());
        if let Some(said) = said {
            return Some(said.clone());
        }
        Some(match schema.kind {
            Type::Object if schema.embedded => {
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "example"}})
            }
            Type::Object => self.object(at, depth)?,
            Type::Array => self.list(at, depth)?,
            Type::Integer | Type::IntOrString => integer(schema).into(),
            Type::Number => fraction(schema),
            Type::Boolean => true.into(),
            Type::String => self.text(schema)?.into(),
            Type::Any => json!({}),
        })
    }

    fn object(&mut self, at: At<'_>, depth: usize) -> Option<Document> {
        let mut fields = Map::new();
        if at.union {
            let (name, member) = at.properties().next()?;
            fields.insert(name.clone(), self.value(member, depth + 1)?);
            return Some(fields.into());
        }
        let is_shown = depth < self.depth;
        for (name, property) in at.properties() {
            let is_required = at.required.contains(name);
            if !is_required && (!is_shown || depth == 0 && name == "status") {
                continue;
            }
            match self.value(property, depth + 1) {
                Some(value) => drop(fields.insert(name.clone(), value)),
                None if is_required => return None,
                None => {}
            }
        }
        if let Some(entry) = at.entry() {
            let least = usize::try_from(at.min_properties.unwrap_or(0)).ok()?.min(MOST_VALUES);
            for number in 0..least.max(usize::from(is_shown)) {
                let key = if number == 0 { "example".to_owned() } else { format!("example-{number}") };
                fields.insert(key, self.value(entry, depth + 1)?);
            }
        }
        Some(fields.into())
    }

    fn list(&mut self, at: At<'_>, depth: usize) -> Option<Document> {
        let least = usize::try_from(at.min_items.unwrap_or(0)).ok()?.min(MOST_VALUES);
        let count = if at.max_items == Some(0) { 0 } else { least.max(usize::from(depth < self.depth)) };
        let items = at.items()?;
        let mut list = Vec::new();
        for number in 0..count {
            let mut item = self.value(items, depth + 1)?;
            if number > 0 {
                tell_apart(&at.list, &mut item, number);
            }
            list.push(item);
        }
        Some(list.into())
    }

    fn text(&mut self, schema: &Schema) -> Option<String> {
        let (least, most) = (schema.min_length.unwrap_or(0), schema.max_length.unwrap_or(u64::MAX));
        let fits = |text: &str| {
            let length = text.chars().count() as u64;
            let matches = schema.pattern.as_ref().is_none_or(|pattern| pattern.is_match(text));
            matches && (least..=most).contains(&length)
        };
        if let Some(example) = format::example(schema) {
            return fits(example).then(|| example.to_owned());
        }
        let padded = || {
            let padding = usize::try_from(least).unwrap_or(0).min(4_096).saturating_sub("example".len());
            let cut = usize::try_from(most).unwrap_or(usize::MAX);
            format!("example{}", "x".repeat(padding)).chars().take(cut).collect::<String>()
        };
        let known = TEXTS.iter().map(|&text| text.to_owned()).chain(iter::once_with(padded)).find(|text| fits(text));
        let pattern = schema.pattern.as_ref().map_or("", |pattern| pattern.syntax());
        if known.is_some() {
            return known;
        }
        // Texts that are tried count like values.
        let rounds = ROUNDS.min(self.left);
        let mut tried = 0;
        let found = (0..rounds).find_map(|_| {
            tried += 1;
            pattern::text(&mut self.random, pattern).filter(|text| fits(text))
        });
        self.left -= tried;
        found
    }
}

/// Makes an item of a set or a map differ from those before it, where that is simple.
fn tell_apart(list: &ListType, item: &mut Document, number: usize) {
    let differ = |value: &mut Document| match value {
        Document::String(text) => text.extend(["-", &number.to_string()]),
        Document::Number(given) => *value = json!(given.as_i64().unwrap_or(0).saturating_add_unsigned(number as u64)),
        _ => {}
    };
    match list {
        ListType::Atomic => {}
        ListType::Set => differ(item),
        ListType::Map(keys) => {
            if let Some(key) = keys.first().and_then(|key| item.get_mut(key)) {
                differ(key);
            }
        }
    }
}

/// 1, or the number next to it that the bounds allow.
fn integer(schema: &Schema) -> i64 {
    let least = schema.minimum.map_or(i64::MIN, |minimum| {
        saturating(minimum.ceil()).saturating_add(i64::from(schema.exclusive_minimum && minimum.fract() == 0.0))
    });
    let most = schema.maximum.map_or(i64::MAX, |maximum| {
        saturating(maximum.floor()).saturating_sub(i64::from(schema.exclusive_maximum && maximum.fract() == 0.0))
    });
    let near = 1.clamp(least.min(most), most);
    let Some(factor) = schema.multiple_of.map(saturating).filter(|&factor| factor > 1) else { return near };
    near.saturating_add(factor - 1).div_euclid(factor).saturating_mul(factor)
}

/// 1, or a number near to it that the bounds allow.
fn fraction(schema: &Schema) -> Document {
    let (least, most) = (schema.minimum.unwrap_or(f64::MIN), schema.maximum.unwrap_or(f64::MAX));
    let mut near = 1.0_f64.max(least).min(most);
    if near <= least && schema.exclusive_minimum {
        near = if most < f64::MAX { f64::midpoint(least, most) } else { least + 1.0 };
    } else if near >= most && schema.exclusive_maximum {
        near = if least > f64::MIN { f64::midpoint(least, most) } else { most - 1.0 };
    }
    if let Some(factor) = schema.multiple_of {
        near = (near / factor).ceil() * factor;
    }
    let mut document = Document::from(near);
    number::settle(&mut document);
    document
}
