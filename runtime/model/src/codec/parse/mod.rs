//! JSON text to documents, in one pass and without recursion: nesting needs no stack.
use std::{collections::BTreeSet, fmt::Write, mem::take};

use serde_json::{Map, map::Entry};
use token::{Cursor, Stop};

use super::{DecodeError, DecodedDocument, Limits, Order, faults::Faults, memory::Memory};
use crate::schema::{At, Document};

mod token;

/// The typical nesting depth of objects with their managed fields.
const USUAL_DEPTH: usize = 16;

/// A parser over one text.
pub(super) struct Parser<'t, 's> {
    cursor: Cursor<'t>,
    limits: &'t Limits,
    memory: Memory,
    faults: Faults,
    /// The open objects and lists, outermost first.
    open: Vec<Open<'s>>,
    /// The document, once nothing is open.
    root: Document,
}

/// An object or list that has started.
struct Open<'s> {
    content: Content,
    /// Its place in the schema.
    at: At<'s>,
    /// The next value's place in the schema.
    below: At<'s>,
}

enum Content {
    Object {
        fields: Map<String, Document>,
        /// The field whose value comes next.
        name: String,
        /// The field is unknown, and its value is skipped.
        unknown: bool,
        /// The number of faults before its value.
        before: usize,
        /// Skipped unknown fields.
        dropped: BTreeSet<String>,
    },
    List(Vec<Document>),
}

impl<'t, 's> Parser<'t, 's> {
    pub(super) fn new(bytes: &'t [u8], limits: &'t Limits, order: Order) -> Result<Self, DecodeError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                let cursor = Cursor { text, at: 0 };
                let (memory, faults) = (Memory::new(limits), Faults::new(order));
                Ok(Self { cursor, limits, memory, faults, open: Vec::with_capacity(USUAL_DEPTH), root: Document::Null })
            }
            Err(error) => Err(place(bytes, error.valid_up_to(), "invalid UTF-8".to_owned())),
        }
    }

    /// Reads the document, and checks that nothing follows.
    pub(super) fn document(mut self, at: At<'s>) -> Result<DecodedDocument, DecodeError> {
        match self.whole(at) {
            Ok(document) => Ok(DecodedDocument { document, faults: self.faults.finish(), pruned: false }),
            Err(stop) => Err(place(self.cursor.text.as_bytes(), self.cursor.at, stop)),
        }
    }

    fn whole(&mut self, mut at: At<'s>) -> Result<Document, Stop> {
        while !self.value(at)? {
            at = self.next();
        }
        let document = take(&mut self.root);
        self.end(document)
    }

    fn next(&self) -> At<'s> {
        self.open.last().map_or_else(At::anything, |open| open.below)
    }

    fn end(&mut self, document: Document) -> Result<Document, Stop> {
        match self.cursor.peek_token() {
            None => Ok(document),
            Some(_) => Err(self.cursor.unexpected("after top-level value")),
        }
    }

    /// Reads a value, or into it up to its first value; returns true at the end of the document. Values are put
    /// directly in place: returning them through results costs about a seventh of all decoding.
    fn value(&mut self, at: At<'s>) -> Result<bool, Stop> {
        if !self.memory.value() {
            return Err(Memory::EXCEEDED.to_owned());
        }
        let cursor = &mut self.cursor;
        let value = match cursor.peek_token() {
            Some(b'"') => {
                let text = cursor.string()?;
                if !self.memory.text(&text) {
                    return Err(Memory::EXCEEDED.to_owned());
                }
                return self.put(Document::String(text));
            }
            Some(b'{') => return self.begin_object(at),
            Some(b'[') => return self.begin_list(at),
            Some(b'-' | b'0'..=b'9') => cursor.number()?,
            Some(b't') => cursor.literal("true").map(|()| Document::Bool(true))?,
            Some(b'f') => cursor.literal("false").map(|()| Document::Bool(false))?,
            Some(b'n') => cursor.literal("null").map(|()| Document::Null)?,
            _ => return Err(cursor.unexpected("looking for beginning of value")),
        };
        self.put(value)
    }

    fn begin_object(&mut self, at: At<'s>) -> Result<bool, Stop> {
        self.enter()?;
        if self.cursor.peek_token() == Some(b'}') {
            self.cursor.at += 1;
            return self.put(Document::Object(Map::new()));
        }
        if !self.memory.object() {
            return Err(Memory::EXCEEDED.to_owned());
        }
        let (fields, name, dropped) = (Map::new(), String::new(), BTreeSet::new());
        let content = Content::Object { fields, name, unknown: false, before: 0, dropped };
        self.open.push(Open { content, at, below: at });
        self.name()?;
        Ok(false)
    }

    fn begin_list(&mut self, at: At<'s>) -> Result<bool, Stop> {
        self.enter()?;
        if self.cursor.peek_token() == Some(b']') {
            self.cursor.at += 1;
            return self.put(Document::Array(Vec::new()));
        }
        if !self.memory.list() {
            return Err(Memory::EXCEEDED.to_owned());
        }
        self.open.push(Open { content: Content::List(Vec::new()), at, below: at.item() });
        Ok(false)
    }

    /// Skips an opening bracket.
    fn enter(&mut self) -> Result<(), Stop> {
        if self.open.len() >= self.limits.depth {
            return Err(format!("exceeded max depth of {}", self.limits.depth));
        }
        self.cursor.at += 1;
        Ok(())
    }

    /// Reads the name of a field and the colon after it.
    fn name(&mut self) -> Result<(), Stop> {
        if self.cursor.peek_token() != Some(b'"') {
            return Err(self.cursor.unexpected("looking for beginning of object key string"));
        }
        let given = self.cursor.string()?;
        if !self.memory.field() {
            return Err(Memory::EXCEEDED.to_owned());
        }
        if self.cursor.peek_token() != Some(b':') {
            return Err(self.cursor.unexpected("after object key"));
        }
        self.cursor.at += 1;
        let open = self.open.last_mut().expect("a name is read in an open object");
        let below = open.at.field(&given);
        open.below = below.unwrap_or_else(At::anything);
        let Content::Object { name, unknown, before, dropped, .. } = &mut open.content else {
            unreachable!("a name is read in an object");
        };
        (*name, *unknown) = (given, below.is_none());
        if below.is_none() {
            let twice = self.faults.look_into_raw() && dropped.contains(name);
            if twice {
                self.faults.duplicate(self.faults.count(), || path(&self.open));
            }
            self.faults.unknown(|| path(&self.open));
        } else {
            *before = self.faults.count();
        }
        Ok(())
    }

    /// Puts a value in place, and reads on to the next value or to the end of the open container, which then becomes a
    /// value itself. Returns true if nothing is open any more.
    #[inline(never)]
    fn put(&mut self, mut value: Document) -> Result<bool, Stop> {
        while !self.open.is_empty() {
            let close = self.place(value);
            match self.cursor.peek_token() {
                Some(b',') => {
                    self.cursor.at += 1;
                    if close == b'}' {
                        self.name()?;
                    }
                    return Ok(false);
                }
                Some(byte) if byte == close => {
                    self.cursor.at += 1;
                    value = self.close();
                }
                _ if close == b'}' => return Err(self.cursor.unexpected("after object key:value pair")),
                _ => return Err(self.cursor.unexpected("after array element")),
            }
        }
        self.root = value;
        Ok(true)
    }

    /// Puts a value into the innermost container; returns the bracket that closes that.
    fn place(&mut self, value: Document) -> u8 {
        let open = self.open.last_mut().expect("something is open");
        match &mut open.content {
            Content::List(items) => {
                items.push(value);
                b']'
            }
            Content::Object { name, unknown: true, dropped, .. } => {
                dropped.insert(take(name));
                b'}'
            }
            Content::Object { fields, name, before, .. } => {
                let before = *before;
                match fields.entry(take(name)) {
                    Entry::Vacant(entry) => {
                        entry.insert(value);
                    }
                    Entry::Occupied(mut entry) => {
                        name.clone_from(entry.key());
                        entry.insert(value);
                        if !open.at.is_anything() || self.faults.look_into_raw() {
                            self.faults.duplicate(before, || path(&self.open));
                        }
                    }
                }
                b'}'
            }
        }
    }

    /// Closes the innermost container.
    fn close(&mut self) -> Document {
        let open = self.open.pop().expect("something is open");
        match open.content {
            Content::List(items) => Document::Array(items),
            Content::Object { fields, .. } => Document::Object(fields),
        }
    }
}

/// The path of the next value.
fn path(open: &[Open<'_>]) -> String {
    let mut path = String::new();
    for open in open {
        match &open.content {
            Content::Object { name, .. } => {
                let dot = if path.is_empty() { "" } else { "." };
                path.extend([dot, name]);
            }
            Content::List(items) => {
                write!(path, "[{}]", items.len()).expect("writing to a String cannot fail");
            }
        }
    }
    path
}

fn place(bytes: &[u8], at: usize, message: String) -> DecodeError {
    let before = &bytes[..at.min(bytes.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    DecodeError { line: before.split(|&byte| byte == b'\n').count(), column: 1 + before.len() - line_start, message }
}
