//! Converts a tape to a document: resolves scalars, follows aliases, and merges maps, like go-yaml and
//! sigs.k8s.io/yaml.
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Map;

use super::{
    Error,
    scalar::{Scalar, is_timestamp, resolve},
    tape::{Content, Node, TagKind},
};
use crate::{
    codec::{Limits, memory::Memory},
    meta::go,
    schema::{Document, memory::OBJECT, number},
};

/// The maximum number of reported repeated keys.
const MOST: usize = 100;

/// The maximum depth at which lists and maps used as keys are printed.
const MOST_SHOWN: usize = 50;

/// A document being built.
pub(super) struct Builder<'t> {
    tape: &'t [Node<'t>],
    memory: Memory,
    depth: usize,
    limits: &'t Limits,
    /// The targets of aliases that are being built.
    following: Vec<usize>,
    /// The number of built nodes, and how many of them are due to aliases.
    built: (u32, u32),
    /// Repeated keys of maps, one per line.
    pub repeated: Vec<String>,
}

impl<'t> Builder<'t> {
    /// `memory` is the budget for aliases.
    pub(super) fn new(tape: &'t [Node<'t>], memory: Memory, limits: &'t Limits) -> Self {
        let (following, repeated) = (Vec::new(), Vec::new());
        Self { tape, memory, depth: 0, limits, following, built: (0, 0), repeated }
    }

    /// The document of a node.
    pub(super) fn value(&mut self, at: usize) -> Result<Document, Error> {
        self.count(at)?;
        match &self.tape[at].content {
            Content::Scalar { .. } => self.scalar(at),
            Content::List(end) => self.list(at, *end),
            Content::Map(end) => {
                let mut fields = Map::new();
                self.map(at, *end, &mut fields)?;
                Ok(Document::Object(fields))
            }
            Content::Alias { target, name } => {
                self.follow(name, *target)?;
                let value = self.value(*target);
                self.following.pop();
                value
            }
        }
    }

    /// Limits the expansion of aliases like go-yaml: above some size, most of a document must be literal.
    fn count(&mut self, at: usize) -> Result<(), Error> {
        let (all, aliased) = &mut self.built;
        *all += 1;
        *aliased += u32::from(!self.following.is_empty());
        let share = f64::from(*aliased) / f64::from(*all);
        let allowed = match *all {
            ..=400_000 => 0.99,
            4_000_000.. => 0.10,
            all => 0.99 - 0.89 * (f64::from(all - 400_000) / 3_600_000.0),
        };
        if *aliased > 100 && *all > 1_000 && share > allowed {
            return Err(Error::new("document contains excessive aliasing"));
        }
        self.take(at, size_of::<Document>())
    }

    /// Takes memory for the expansion of an alias.
    fn take(&mut self, at: usize, bytes: usize) -> Result<(), Error> {
        if self.following.is_empty() || self.memory.take(bytes) {
            Ok(())
        } else {
            Err(Error::on_line(self.tape[at].line, Memory::EXCEEDED))
        }
    }

    fn follow(&mut self, name: &str, target: usize) -> Result<(), Error> {
        if self.following.contains(&target) {
            return Err(Error::new(&format!("anchor '{name}' value contains itself")));
        }
        self.following.push(target);
        Ok(())
    }

    fn enter(&mut self, at: usize) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > self.limits.depth {
            return Err(Error::on_line(self.tape[at].line, &format!("exceeded max depth of {}", self.limits.depth)));
        }
        Ok(())
    }

    fn list(&mut self, at: usize, end: usize) -> Result<Document, Error> {
        self.enter(at)?;
        let (mut items, mut next) = (Vec::new(), at + 1);
        while next < end {
            items.push(self.value(next)?);
            next = self.after(next);
        }
        self.depth -= 1;
        Ok(Document::Array(items))
    }

    /// Adds the entries of a map to the existing ones.
    fn map(&mut self, at: usize, end: usize, fields: &mut Map<String, Document>) -> Result<(), Error> {
        self.enter(at)?;
        self.take(at, OBJECT)?;
        let mut key = at + 1;
        while key < end {
            let value = self.after(key);
            if is_merge(&self.tape[key]) {
                self.merge(value, fields)?;
            } else {
                let found = self.value(value)?;
                self.put(key, self.tape[value].line, found, fields)?;
            }
            key = self.after(value);
        }
        self.depth -= 1;
        Ok(())
    }

    /// Adds an entry whose value is built. Nested maps do not use it, which saves stack.
    #[inline(never)]
    fn put(
        &mut self,
        key: usize,
        line: usize,
        value: Document,
        fields: &mut Map<String, Document>,
    ) -> Result<(), Error> {
        let (name, shown) = self.key(key)?.text(&value)?;
        if fields.insert(name, value).is_some() && self.repeated.len() < MOST {
            self.repeated.push(format!("  line {line}: key {shown} already set in map"));
        }
        Ok(())
    }

    /// The entries that `<<` merges: a map, or a list of maps with precedence for the first ones.
    fn merge(&mut self, at: usize, fields: &mut Map<String, Document>) -> Result<(), Error> {
        match self.tape[at].content {
            Content::List(end) => {
                let (mut maps, mut next) = (Vec::new(), at + 1);
                while next < end {
                    maps.push(next);
                    next = self.after(next);
                }
                maps.into_iter().rev().try_for_each(|map| self.merge_map(map, fields))
            }
            _ => self.merge_map(at, fields),
        }
    }

    fn merge_map(&mut self, at: usize, fields: &mut Map<String, Document>) -> Result<(), Error> {
        let not_a_map = || Error::new("map merge requires map or sequence of maps as the value");
        match self.tape[at].content {
            Content::Map(end) => self.map(at, end, fields),
            Content::Alias { target, name } => {
                let Content::Map(end) = self.tape[target].content else { return Err(not_a_map()) };
                self.count(at)?;
                self.follow(name, target)?;
                self.map(target, end, fields)?;
                self.following.pop();
                Ok(())
            }
            Content::List(_) | Content::Scalar { .. } => Err(not_a_map()),
        }
    }

    /// The next node after this one and its content.
    fn after(&self, at: usize) -> usize {
        match self.tape[at].content {
            Content::List(end) | Content::Map(end) => end,
            Content::Scalar { .. } | Content::Alias { .. } => at + 1,
        }
    }

    /// A key.
    fn key(&mut self, at: usize) -> Result<Key, Error> {
        self.count(at)?;
        let node = match self.tape[at].content {
            Content::Alias { target, .. } => target,
            _ => at,
        };
        let Content::Scalar { text, plain, tag } = &self.tape[node].content else {
            return Err(self.no_key(at));
        };
        if node != at && !self.memory.take(text.len()) {
            return Err(Error::on_line(self.tape[at].line, Memory::EXCEEDED));
        }
        self.take(at, text.len())?;
        let plainly = |name: String| Key::Text { shown: name.clone(), name };
        Ok(match resolved(text, *plain, *tag)? {
            Scalar::Text => {
                let name = text_of(text, *tag)?;
                let shown = go::quoted(&name);
                Key::Text { name, shown }
            }
            Scalar::Bool(value) => plainly(value.to_string()),
            Scalar::Integer(value) => plainly(value.to_string()),
            // go-yaml prints keys with 32-bit precision, in which large ones are infinite.
            #[expect(clippy::cast_possible_truncation, reason = "kube-apiserver loses the same digits")]
            Scalar::Float(value) => plainly(match value as f32 {
                key if key.is_nan() => ".nan".to_owned(),
                f32::INFINITY => ".inf".to_owned(),
                f32::NEG_INFINITY => "-.inf".to_owned(),
                key => go::float(key),
            }),
            Scalar::Null => Key::Unsupported { of: "%!s(<nil>)", shown: "<nil>".to_owned() },
            Scalar::Large(value) => Key::Unsupported { of: "uint64", shown: format!("{value:#x}") },
        })
    }

    /// The error for a list or map as a key, unless its content has an error. Printing keys takes additional stack, so
    /// deep ones are not printed.
    #[inline(never)]
    fn no_key(&mut self, at: usize) -> Error {
        if self.depth > MOST_SHOWN {
            return Error::new("invalid map key");
        }
        match self.value(at) {
            Ok(key) => Error::new(&format!("invalid map key: {}", go::syntax_of_yaml(&key))),
            Err(error) => error,
        }
    }

    fn scalar(&mut self, at: usize) -> Result<Document, Error> {
        let Content::Scalar { text, plain, tag } = &self.tape[at].content else {
            return Ok(Document::Null);
        };
        Ok(match resolved(text, *plain, *tag)? {
            Scalar::Null => Document::Null,
            Scalar::Bool(value) => Document::Bool(value),
            Scalar::Integer(value) => Document::from(value),
            #[expect(clippy::cast_precision_loss, reason = "documents hold such numbers as doubles")]
            Scalar::Large(value) => number::of_double(value as f64).map_or(Document::Null, Document::Number),
            Scalar::Float(value) => match number::of_double(value) {
                Some(number) => Document::Number(number),
                None => return Err(Error::of_json(format!("json: unsupported value: {}", unspeakable(value)))),
            },
            Scalar::Text => {
                self.take(at, text.len())?;
                Document::String(text_of(text, *tag)?)
            }
        })
    }
}

/// The key of an entry.
enum Key {
    Text {
        /// The key of the document.
        name: String,
        /// As errors print it.
        shown: String,
    },
    /// A key that JSON does not support.
    Unsupported {
        /// Its type in Go.
        of: &'static str,
        /// As errors print it.
        shown: String,
    },
}

impl Key {
    /// The key, and how errors print it; `value` is its value in the map.
    #[inline(never)]
    fn text(self, value: &Document) -> Result<(String, String), Error> {
        match self {
            Self::Text { name, shown } => Ok((name, shown)),
            Self::Unsupported { of, shown } => {
                let value = go::syntax_of_yaml(value);
                let message = format!("unsupported map key of type: {of}, key: {shown}, value: {value}");
                Err(Error::of_json(message))
            }
        }
    }
}

/// The value of a scalar, by its tag or its form.
fn resolved(text: &str, plain: bool, tag: TagKind) -> Result<Scalar, Error> {
    let found = match tag {
        TagKind::No if !plain => return Ok(Scalar::Text),
        TagKind::Text | TagKind::Binary | TagKind::Merge => return Ok(Scalar::Text),
        TagKind::Timestamp if is_timestamp(text) => return Ok(Scalar::Text),
        _ => resolve(text),
    };
    let (fits, name) = match found {
        Scalar::Null => (tag == TagKind::Null, "null"),
        Scalar::Bool(_) => (tag == TagKind::Bool, "bool"),
        Scalar::Integer(_) => (matches!(tag, TagKind::Int | TagKind::Float), "int"),
        Scalar::Large(_) => (tag == TagKind::Int, "int"),
        Scalar::Float(_) => (tag == TagKind::Float, "float"),
        Scalar::Text => (false, "str"),
    };
    if fits || tag == TagKind::No {
        return Ok(found);
    }
    let tag = format!("{tag:?}").to_lowercase();
    Err(Error::new(&format!("cannot decode !!{name} `{text}` as a !!{tag}")))
}

/// The text of a string scalar.
fn text_of(text: &str, tag: TagKind) -> Result<String, Error> {
    if tag != TagKind::Binary {
        return Ok(text.to_owned());
    }
    let joined: String = text.split(['\r', '\n']).collect();
    let bytes =
        BASE64_STANDARD.decode(joined).map_err(|_| Error::new("!!binary value contains invalid base64 data"))?;
    String::from_utf8(bytes).map_err(|_| Error::new("!!binary value contains what is no text in UTF-8"))
}

/// A number that JSON does not support, as Go prints it.
fn unspeakable(double: f64) -> &'static str {
    match double {
        f64::INFINITY => "+Inf",
        f64::NEG_INFINITY => "-Inf",
        _ => "NaN",
    }
}

fn is_merge(node: &Node<'_>) -> bool {
    let Content::Scalar { text, plain, tag } = &node.content else {
        return false;
    };
    text == "<<" && (*tag == TagKind::Merge || *tag == TagKind::No && *plain)
}
