//! A tape to a document: scalars are resolved, aliases followed, maps merged, as go-yaml and sigs.k8s.io/yaml do.
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Map;

use super::{
    Error,
    scalar::{Scalar, resolve, text_of_float_key},
    tape::{Content, Node, Tagged},
};
use crate::{
    codec::{Limits, faults::quote, memory::Memory},
    schema::{Document, number},
};

/// How many repeated keys are told.
const MOST: usize = 100;

/// A document on its way.
pub(super) struct Builder<'t> {
    tape: &'t [Node<'t>],
    memory: Memory,
    depth: usize,
    limits: &'t Limits,
    /// The nodes that aliases stand for and that are being built.
    following: Vec<usize>,
    /// How many nodes were built, and how many of them for aliases.
    built: (u32, u32),
    /// Keys that a map has twice, each a line.
    pub repeated: Vec<String>,
}

impl<'t> Builder<'t> {
    /// `memory` is what aliases may add.
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
            Content::Alias(target) => {
                self.follow(at, *target)?;
                let value = self.value(*target);
                self.following.pop();
                value
            }
        }
    }

    /// Bounds what aliases make of a document, as go-yaml does: past some size most of it must stand there itself.
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
            return Err(Error::new(0, "document contains excessive aliasing"));
        }
        self.take(at, size_of::<Document>())
    }

    /// Takes memory for what an alias adds.
    fn take(&mut self, at: usize, bytes: usize) -> Result<(), Error> {
        if self.following.is_empty() || self.memory.take(bytes) {
            Ok(())
        } else {
            Err(Error::new(self.tape[at].line, Memory::EXCEEDED))
        }
    }

    fn follow(&mut self, at: usize, target: usize) -> Result<(), Error> {
        if self.following.contains(&target) {
            return Err(Error::new(self.tape[at].line, "an anchor's value contains itself"));
        }
        self.following.push(target);
        Ok(())
    }

    fn enter(&mut self, at: usize) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > self.limits.depth {
            return Err(Error::new(self.tape[at].line, &format!("exceeded max depth of {}", self.limits.depth)));
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

    /// Adds the entries of a map to those that are there.
    fn map(&mut self, at: usize, end: usize, fields: &mut Map<String, Document>) -> Result<(), Error> {
        self.enter(at)?;
        self.take(at, Memory::OBJECT)?;
        let mut key = at + 1;
        while key < end {
            let value = self.after(key);
            if is_merge(&self.tape[key]) {
                self.merge(value, fields)?;
            } else {
                self.entry(key, value, fields)?;
            }
            key = self.after(value);
        }
        self.depth -= 1;
        Ok(())
    }

    fn entry(&mut self, key: usize, value: usize, fields: &mut Map<String, Document>) -> Result<(), Error> {
        let (name, shown) = self.key(key)?;
        let line = self.tape[value].line;
        let value = self.value(value)?;
        if fields.insert(name, value).is_some() && self.repeated.len() < MOST {
            self.repeated.push(format!("  line {line}: key {shown} already set in map"));
        }
        Ok(())
    }

    /// What `<<` brings in: a map, or a list of maps of which the first ones count more.
    fn merge(&mut self, at: usize, fields: &mut Map<String, Document>) -> Result<(), Error> {
        match self.tape[at].content {
            Content::Map(end) => self.map(at, end, fields),
            Content::Alias(target) => self.merge_alias(at, target, fields),
            Content::List(end) => {
                let (mut maps, mut next) = (Vec::new(), at + 1);
                while next < end {
                    maps.push(next);
                    next = self.after(next);
                }
                for map in maps.into_iter().rev() {
                    match self.tape[map].content {
                        Content::Map(end) => self.map(map, end, fields)?,
                        Content::Alias(target) => self.merge_alias(map, target, fields)?,
                        _ => return Err(self.not_a_map(map)),
                    }
                }
                Ok(())
            }
            Content::Scalar { .. } => Err(self.not_a_map(at)),
        }
    }

    fn merge_alias(&mut self, at: usize, target: usize, fields: &mut Map<String, Document>) -> Result<(), Error> {
        let Content::Map(end) = self.tape[target].content else {
            return Err(self.not_a_map(at));
        };
        self.count(at)?;
        self.follow(at, target)?;
        self.map(target, end, fields)?;
        self.following.pop();
        Ok(())
    }

    fn not_a_map(&self, at: usize) -> Error {
        Error::new(self.tape[at].line, "map merge requires map or sequence of maps as the value")
    }

    /// The node after this one and all that is in it.
    fn after(&self, at: usize) -> usize {
        match self.tape[at].content {
            Content::List(end) | Content::Map(end) => end,
            Content::Scalar { .. } | Content::Alias(_) => at + 1,
        }
    }

    /// A key as text, and as complaints show it.
    fn key(&mut self, at: usize) -> Result<(String, String), Error> {
        self.count(at)?;
        let node = match self.tape[at].content {
            Content::Alias(target) => target,
            _ => at,
        };
        let Content::Scalar { text, plain, tag } = &self.tape[node].content else {
            return Err(Error::new(self.tape[at].line, "invalid map key: a list or map"));
        };
        if node != at && !self.memory.take(text.len()) {
            return Err(Error::new(self.tape[at].line, Memory::EXCEEDED));
        }
        self.take(at, text.len())?;
        let plainly = |name: String| (name.clone(), name);
        Ok(match self.resolved(node, text, *plain, *tag)? {
            Scalar::Text => {
                let name = self.text(node, text, *tag)?;
                let shown = quote(&name);
                (name, shown)
            }
            Scalar::Bool(value) => plainly(value.to_string()),
            Scalar::Integer(value) => plainly(value.to_string()),
            Scalar::Float(value) if value.is_nan() => plainly(".nan".to_owned()),
            Scalar::Float(value) if value.is_infinite() => {
                plainly(if value > 0.0 { ".inf" } else { "-.inf" }.to_owned())
            }
            Scalar::Float(value) => plainly(text_of_float_key(value)),
            Scalar::Null => return Err(Error::new(self.tape[at].line, "unsupported map key: null")),
            Scalar::Large(value) => {
                return Err(Error::new(self.tape[at].line, &format!("unsupported map key: {value}")));
            }
        })
    }

    fn scalar(&mut self, at: usize) -> Result<Document, Error> {
        let Content::Scalar { text, plain, tag } = &self.tape[at].content else {
            return Ok(Document::Null);
        };
        Ok(match self.resolved(at, text, *plain, *tag)? {
            Scalar::Null => Document::Null,
            Scalar::Bool(value) => Document::Bool(value),
            Scalar::Integer(value) => Document::from(value),
            #[expect(clippy::cast_precision_loss, reason = "documents hold such numbers as doubles")]
            Scalar::Large(value) => number::of_double(value as f64).map_or(Document::Null, Document::Number),
            Scalar::Float(value) => match number::of_double(value) {
                Some(number) => Document::Number(number),
                None => return Err(Error::new(self.tape[at].line, &format!("unsupported value: {text}"))),
            },
            Scalar::Text => {
                self.take(at, text.len())?;
                Document::String(self.text(at, text, *tag)?)
            }
        })
    }

    /// What a scalar is, by its tag or by how it is written.
    fn resolved(&self, at: usize, text: &str, plain: bool, tag: Tagged) -> Result<Scalar, Error> {
        let found = match tag {
            Tagged::No if !plain => return Ok(Scalar::Text),
            Tagged::Text | Tagged::Binary | Tagged::Merge => return Ok(Scalar::Text),
            _ => resolve(text),
        };
        let fits = match (tag, found) {
            (Tagged::Null, Scalar::Null)
            | (Tagged::Bool, Scalar::Bool(_))
            | (Tagged::Int, Scalar::Integer(_) | Scalar::Large(_))
            | (Tagged::Float, Scalar::Float(_) | Scalar::Integer(_)) => true,
            (tag, _) => tag == Tagged::No,
        };
        if fits {
            return Ok(found);
        }
        let tag = format!("{tag:?}").to_lowercase();
        Err(Error::new(self.tape[at].line, &format!("cannot decode `{text}` as a !!{tag}")))
    }

    /// The text of a scalar that is text.
    fn text(&self, at: usize, text: &str, tag: Tagged) -> Result<String, Error> {
        if tag != Tagged::Binary {
            return Ok(text.to_owned());
        }
        let joined: String = text.split_ascii_whitespace().collect();
        let bytes = BASE64_STANDARD.decode(joined).ok();
        bytes
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .ok_or_else(|| Error::new(self.tape[at].line, "!!binary value is not base64 data of text in UTF-8"))
    }
}

fn is_merge(node: &Node<'_>) -> bool {
    let Content::Scalar { text, plain, tag } = &node.content else {
        return false;
    };
    text == "<<" && (*tag == Tagged::Merge || *tag == Tagged::No && *plain)
}
