//! Lists in every form but plain JSON: written item by item, in pieces, with no more at hand than a piece.
//!
//! An item that cannot be written is found before the first byte: only Protobuf has such, and there all items are
//! measured first, since the length of the list stands before it.

use std::sync::Arc;

use super::{
    compress,
    list::{self, Part},
    negotiate::Accepted,
    pretty::Indent,
    render::{self, Renderer},
    status::Refused,
    table::Table,
};
use crate::{
    cache::Object,
    codec::{Encoding, cbor, protobuf, yaml::ListWriter},
    kind::Kind,
    schema::Document,
    verbs::{List, Place},
};

/// A piece is full with more bytes than this, which is as long as the longest answer that is not compressed.
const PIECE: usize = compress::THRESHOLD;

/// What a step brought.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing yet: the list is still being measured.
    Measured,
    /// The next bytes, and more to come.
    Piece(Vec<u8>),
    /// The last bytes.
    Last(Vec<u8>),
}

/// A list that is being written.
pub struct Listing {
    list: List,
    place: Place,
    written: usize,
    /// How many bytes a piece has more than, but for the last.
    piece: usize,
    stage: Stage,
    form: Form,
}

/// How far it is.
enum Stage {
    /// The lengths of the items are being summed.
    Measure(usize),
    Head,
    Items,
    End,
}

enum Form {
    Text { items: Source, indent: Option<Indent>, compact: Vec<u8> },
    Yaml { items: Source, writer: Option<ListWriter>, compact: Vec<u8> },
    Cbor { renderer: Renderer, keep: bool },
    Protobuf { renderer: Renderer, keep: bool, length: usize, message: Vec<u8> },
}

/// The items as JSON.
enum Source {
    Objects(Arc<Kind>, Part),
    Rows(Table),
}

impl Source {
    /// What the list begins with, up to its first item.
    fn head(&self, list: &List) -> Vec<u8> {
        match self {
            Self::Objects(kind, part) => part.head(kind, list).into_bytes(),
            Self::Rows(table) => table.head(list),
        }
    }

    /// The member that holds the items.
    fn member(&self) -> &'static str {
        match self {
            Self::Objects(..) => "items",
            Self::Rows(_) => "rows",
        }
    }

    fn write(&self, object: &Object, out: &mut Vec<u8>) {
        match self {
            Self::Objects(_, part) => part.write(out, object),
            Self::Rows(table) => table.row(out, object),
        }
    }
}

impl Listing {
    /// A list in an encoding that is text; its rows, where there is a Table.
    pub fn text(kind: &Arc<Kind>, accepted: Accepted, table: Option<Table>, list: List) -> Self {
        let items = match table {
            Some(table) => Source::Rows(table),
            None => Source::Objects(kind.clone(), Part::of(kind, accepted)),
        };
        let compact = Vec::new();
        let form = match accepted.encoding {
            Encoding::Yaml => Form::Yaml { items, writer: None, compact },
            _ => Form::Text { items, indent: accepted.pretty.then(Indent::default), compact },
        };
        Self::new(list, Stage::Head, form)
    }

    /// A list in Protobuf or CBOR.
    pub fn binary(renderer: Renderer, accepted: Accepted, list: List) -> Self {
        let keep = renderer.keeps(list.items.json_bytes());
        if accepted.encoding == Encoding::Protobuf {
            let form = Form::Protobuf { renderer, keep, length: 0, message: Vec::new() };
            return Self::new(list, Stage::Measure(0), form);
        }
        Self::new(list, Stage::Head, Form::Cbor { renderer, keep })
    }

    fn new(list: List, stage: Stage, form: Form) -> Self {
        Self { list, place: Place::default(), written: 0, piece: PIECE, stage, form }
    }

    /// How many bytes are left, where that is known.
    pub fn left(&self) -> Option<usize> {
        match &self.form {
            Form::Protobuf { length, .. } if !matches!(self.stage, Stage::Measure(_)) => Some(*length),
            _ => None,
        }
    }

    /// Does the next piece of work.
    ///
    /// # Errors
    /// 406 for an object that is no message of its kind; never after the first piece.
    pub fn step(&mut self) -> Result<Step, Refused> {
        let mut out = Vec::with_capacity(self.piece.min(self.list.items.json_bytes()) + self.piece / 8);
        match self.stage {
            Stage::Measure(sum) => return self.measure(sum).map(|()| Step::Measured),
            Stage::Head => self.form.head(&self.list, &mut out),
            Stage::Items | Stage::End => {}
        }
        if !matches!(self.stage, Stage::End) {
            self.stage = if self.items(&mut out)? { Stage::End } else { Stage::Items };
        }
        if let Form::Protobuf { length, .. } = &mut self.form {
            *length = length.checked_sub(out.len()).expect("the length was summed over the same items");
        }
        Ok(if matches!(self.stage, Stage::End) { Step::Last(out) } else { Step::Piece(out) })
    }

    /// Writes items until a piece is full, and the tail after the last one; whether it did that.
    fn items(&mut self, out: &mut Vec<u8>) -> Result<bool, Refused> {
        let mut items = self.list.items.walk(self.place);
        while out.len() <= self.piece {
            let Some(object) = items.next() else {
                self.form.tail(&self.list, out);
                return Ok(true);
            };
            self.form.item(self.written == 0, object, out)?;
            self.written += 1;
        }
        self.place = items.place();
        Ok(false)
    }

    /// Sums up the lengths of further items, about a piece of them.
    fn measure(&mut self, sum: usize) -> Result<(), Refused> {
        let Form::Protobuf { renderer, keep, length, .. } = &mut self.form else { return Ok(()) };
        let (mut items, mut sum, mut seen) = (self.list.items.walk(self.place), sum, 0);
        while seen <= self.piece {
            let Some(object) = items.next() else {
                *length = sum;
                (self.place, self.stage) = (Place::default(), Stage::Head);
                return Ok(());
            };
            seen += object.json_bytes().len();
            sum += protobuf::list_item_length(renderer.item_length(object, *keep)?);
        }
        (self.place, self.stage) = (items.place(), Stage::Measure(sum));
        Ok(())
    }
}

impl Form {
    fn head(&mut self, list: &List, out: &mut Vec<u8>) {
        match self {
            Self::Text { items, indent: None, .. } => out.extend_from_slice(&items.head(list)),
            Self::Text { items, indent: Some(indent), .. } => indent.write(&items.head(list), out),
            Self::Yaml { items, writer, .. } => {
                let mut head = items.head(list);
                head.extend_from_slice(list::TAIL);
                let Document::Object(mut members) = render::read(&head) else { return };
                members.remove(items.member());
                *writer = Some(ListWriter::start(members, items.member(), list.items.is_empty(), out));
            }
            Self::Cbor { renderer, .. } => cbor::list_start(renderer.list_type().0, list.items.len(), out),
            Self::Protobuf { renderer, length, .. } => {
                let (kind, version) = renderer.list_type();
                let (metadata, start) = (metadata(list), out.len());
                let written = protobuf::list_start(&version, kind, &metadata, *length, out);
                written.expect("a list's metadata is made of what its message has");
                let mut end = Vec::new();
                protobuf::list_end(&mut end);
                *length += out.len() - start + end.len();
            }
        }
    }

    fn item(&mut self, is_first: bool, object: &Arc<Object>, out: &mut Vec<u8>) -> Result<(), Refused> {
        match self {
            Self::Text { items, indent, compact } => {
                compact.clear();
                let text = if indent.is_some() { &mut *compact } else { &mut *out };
                if !is_first {
                    text.push(b',');
                }
                items.write(object, text);
                if let Some(indent) = indent {
                    indent.write(compact, out);
                }
            }
            Self::Yaml { items, writer, compact } => {
                compact.clear();
                items.write(object, compact);
                if let Some(writer) = writer {
                    writer.item(&render::read(compact), out);
                }
            }
            Self::Cbor { renderer, keep } => renderer.write_item(object, *keep, out)?,
            Self::Protobuf { renderer, keep, message, .. } => {
                message.clear();
                renderer.write_item(object, *keep, message)?;
                protobuf::list_item(message, out);
            }
        }
        Ok(())
    }

    fn tail(&mut self, list: &List, out: &mut Vec<u8>) {
        match self {
            Self::Text { indent: None, .. } => out.extend_from_slice(list::TAIL),
            Self::Text { indent: Some(indent), .. } => {
                indent.write(list::TAIL, out);
                out.push(b'\n');
            }
            Self::Yaml { writer, .. } => {
                if let Some(writer) = writer {
                    writer.end(out);
                }
            }
            Self::Cbor { renderer, .. } => cbor::list_end(&renderer.list_type().1, &metadata(list), out),
            Self::Protobuf { .. } => protobuf::list_end(out),
        }
    }
}

fn metadata(list: &List) -> Document {
    render::read(list::metadata(list).as_bytes())
}

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;
