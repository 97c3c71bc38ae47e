//! Lists in all forms except plain JSON: written item by item in pieces, with only one piece in memory.
//!
//! Items that cannot be written are found before the first byte. They only occur in Protobuf and in versions other than
//! the storage version. In these cases all items are measured first; Protobuf needs the length of the list before its
//! items anyway. A webhook converts items in parts, again for the second time if they are too many to be kept.

use std::{collections::VecDeque, sync::Arc};

use super::{
    compress,
    list::{self, Part},
    negotiate::ResponseFormat,
    pretty::Indent,
    render::{self, Renderer},
    status::StatusError,
    table::Table,
};
use crate::{
    cache::Object,
    codec::{Encoding, cbor, protobuf, yaml::ListWriter},
    meta::Status,
    registry::ResourceEntry,
    schema::Document,
    verbs::{ConversionFailures, ItemPosition, List},
};

/// The size at which a piece is complete, the same as that of the longest uncompressed answer.
const PIECE: usize = compress::THRESHOLD;

/// The result of a step.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// No output yet: the list is being measured.
    Measured,
    /// The next bytes; more will follow.
    Piece(Vec<u8>),
    /// The last bytes.
    Last(Vec<u8>),
}

/// Why a list is not written.
#[derive(Debug)]
pub(super) enum ListError {
    /// Objects that cannot be converted to the requested version.
    Unconverted(ConversionFailures),
    /// Another failure, such as 406 for an object that does not fit its kind's message.
    Status(StatusError),
}

impl From<StatusError> for ListError {
    fn from(error: StatusError) -> Self {
        Self::Status(error)
    }
}

impl ListError {
    /// The answer to a list: 500 for objects that cannot be converted.
    pub(super) fn into_status_error(self, served: &ResourceEntry) -> StatusError {
        match self {
            Self::Unconverted(unconverted) => unconverted.refusal(served, "").into(),
            Self::Status(error) => error,
        }
    }
}

/// Encodes a list, one step at a time.
pub(super) struct ListEncoder {
    served: Arc<ResourceEntry>,
    list: List,
    place: ItemPosition,
    written: usize,
    /// The number of remaining bytes, if it is known.
    left: Option<usize>,
    /// The objects that cannot be converted to the requested version.
    unconverted: ConversionFailures,
    /// The next items, if a webhook converts them in parts.
    ready: Option<Ready>,
    /// The minimum size of all pieces except the last.
    piece: usize,
    stage: Stage,
    form: Form,
}

/// Items that a webhook has converted.
#[derive(Default)]
struct Ready {
    objects: VecDeque<Arc<Object>>,
    /// No items follow.
    is_end: bool,
}

/// The progress.
enum Stage {
    /// The lengths of the items are being summed.
    Measure(usize),
    Head,
    Items,
    End,
}

enum Form {
    Text { items: ItemWriter, indent: Option<Indent>, compact: Vec<u8> },
    Yaml { items: ItemWriter, writer: Option<ListWriter>, compact: Vec<u8> },
    Cbor { renderer: Renderer, keep: bool },
    Protobuf { renderer: Renderer, keep: bool, message: Vec<u8> },
}

/// Writes the items from JSON.
enum ItemWriter {
    Objects(Arc<ResourceEntry>, Part),
    Rows(Table),
}

impl ItemWriter {
    /// The beginning of the list up to its first item.
    fn head(&self, list: &List) -> Vec<u8> {
        match self {
            Self::Objects(served, part) => part.head(&served.kind, list).into_bytes(),
            Self::Rows(table) => table.head(list),
        }
    }

    /// The member with the items.
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

impl ListEncoder {
    /// A list in a text encoding, with rows for a Table.
    pub(super) fn text(served: &Arc<ResourceEntry>, format: ResponseFormat, table: Option<Table>, list: List) -> Self {
        let items = match table {
            Some(table) => ItemWriter::Rows(table),
            None => ItemWriter::Objects(served.clone(), Part::of(&served.kind, format)),
        };
        let compact = Vec::new();
        let form = match format.encoding {
            Encoding::Yaml => Form::Yaml { items, writer: None, compact },
            _ => Form::Text { items, indent: format.pretty.then(Indent::default), compact },
        };
        Self::new(served.clone(), list, form)
    }

    /// A list in Protobuf or CBOR.
    pub(super) fn binary(served: &Arc<ResourceEntry>, renderer: Renderer, format: ResponseFormat, list: List) -> Self {
        let keep = renderer.keeps(list.items.json_bytes());
        let form = match format.encoding {
            Encoding::Protobuf => Form::Protobuf { renderer, keep, message: Vec::new() },
            _ => Form::Cbor { renderer, keep },
        };
        Self::new(served.clone(), list, form)
    }

    fn new(served: Arc<ResourceEntry>, list: List, form: Form) -> Self {
        let is_measured = served.view.is_some() || matches!(form, Form::Protobuf { .. });
        let stage = if is_measured { Stage::Measure(0) } else { Stage::Head };
        let (left, unconverted) = (None, ConversionFailures::default());
        let ready = list.items.wait().then(Ready::default);
        Self {
            served,
            list,
            place: ItemPosition::default(),
            written: 0,
            left,
            unconverted,
            ready,
            piece: PIECE,
            stage,
            form,
        }
    }

    /// Has a webhook convert the next items, if it has to. Call it before each step. Fails with [`ListError::Unconverted`].
    pub(super) async fn prepare(&mut self) -> Result<(), ListError> {
        if let Some(ready) = self.ready.as_mut().filter(|ready| ready.objects.is_empty() && !ready.is_end) {
            let part = self.list.items.part(&self.served, self.place).await;
            let (objects, place) = part.map_err(ListError::Unconverted)?;
            *ready = Ready { is_end: objects.is_empty(), objects: objects.into() };
            self.place = place;
        }
        Ok(())
    }

    /// The resource of the objects.
    pub(super) fn served(&self) -> &ResourceEntry {
        &self.served
    }

    /// The number of remaining bytes, if it is known.
    pub(super) fn left(&self) -> Option<usize> {
        self.left
    }

    /// Does the next piece of work. Fails with [`ListError`]. After the first piece only if a conversion is not
    /// deterministic.
    pub(super) fn step(&mut self) -> Result<Step, ListError> {
        let mut out = Vec::with_capacity(self.piece.min(self.list.items.json_bytes()) + self.piece / 8);
        match self.stage {
            Stage::Measure(sum) => return self.measure(sum).map(|()| Step::Measured),
            Stage::Head => self.form.head(&self.list, self.left.as_mut(), &mut out),
            Stage::Items | Stage::End => {}
        }
        if !matches!(self.stage, Stage::End) {
            self.stage = if self.items(&mut out)? { Stage::End } else { Stage::Items };
        }
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(out.len()).ok_or_else(inconstant)?;
        }
        Ok(if matches!(self.stage, Stage::End) { Step::Last(out) } else { Step::Piece(out) })
    }

    /// Writes items until a piece is full, and the tail after the last one. Returns whether that was the end.
    fn items(&mut self, out: &mut Vec<u8>) -> Result<bool, StatusError> {
        if let Some(ready) = &mut self.ready {
            while out.len() <= self.piece
                && let Some(object) = ready.objects.pop_front()
            {
                self.form.item(self.written == 0, &object, out)?;
                self.written += 1;
            }
            if ready.is_end {
                self.form.tail(&self.list, out);
            }
            return Ok(ready.is_end);
        }
        let mut items = self.list.items.iter_from(self.place);
        while out.len() <= self.piece {
            let Some(object) = items.next() else {
                self.form.tail(&self.list, out);
                return Ok(true);
            };
            let shown = self.served.show_among(object, self.list.items.json_bytes()).map_err(|_| inconstant())?;
            self.form.item(self.written == 0, &shown, out)?;
            self.written += 1;
        }
        self.place = items.position();
        Ok(false)
    }

    /// Adds the lengths of about one piece of further items, and records the ones that cannot be converted.
    fn measure(&mut self, mut sum: usize) -> Result<(), ListError> {
        if let Some(ready) = &mut self.ready {
            for object in ready.objects.drain(..) {
                sum += self.form.length(&object)?;
            }
            self.stage = Stage::Measure(sum);
            if ready.is_end {
                // Text goes on if the webhook answers otherwise the second time.
                self.left = matches!(self.form, Form::Protobuf { .. }).then_some(sum);
                (self.place, self.stage, *ready) = (ItemPosition::default(), Stage::Head, Ready::default());
            }
            return Ok(());
        }
        let (mut items, mut seen) = (self.list.items.iter_from(self.place), 0);
        while seen <= self.piece {
            let Some(object) = items.next().filter(|_| !self.unconverted.has_more()) else {
                if !self.unconverted.is_empty() {
                    return Err(ListError::Unconverted(std::mem::take(&mut self.unconverted)));
                }
                self.left = self.form.is_sized().then_some(sum);
                (self.place, self.stage) = (ItemPosition::default(), Stage::Head);
                return Ok(());
            };
            seen += object.json_bytes().len();
            match self.served.show_among(object, self.list.items.json_bytes()) {
                Ok(shown) if self.unconverted.is_empty() => sum += self.form.length(&shown)?,
                Ok(_) => {}
                Err(reason) => self.unconverted.push(&self.served, object, &reason),
            }
        }
        (self.place, self.stage) = (items.position(), Stage::Measure(sum));
        Ok(())
    }
}

/// 500 for a list whose items have changed since they were measured.
fn inconstant() -> StatusError {
    Status::internal("a conversion makes different objects of one object").into()
}

impl Form {
    /// True if the lengths of items determine that of the whole.
    fn is_sized(&self) -> bool {
        matches!(self, Self::Protobuf { .. } | Self::Text { items: ItemWriter::Objects(..), indent: None, .. })
    }

    /// The number of bytes that an item adds, if the whole has a length.
    fn length(&self, object: &Arc<Object>) -> Result<usize, StatusError> {
        Ok(match self {
            Self::Protobuf { renderer, keep, .. } => protobuf::list_item_length(renderer.item_length(object, *keep)?),
            Self::Text { items: ItemWriter::Objects(_, part), .. } => part.length(object),
            _ => 0,
        })
    }

    /// Writes the part before the items. For a list with a length, `length` is that of all items, and becomes that of
    /// the whole.
    fn head(&mut self, list: &List, length: Option<&mut usize>, out: &mut Vec<u8>) {
        match self {
            Self::Text { items, indent: None, .. } => {
                let head = items.head(list);
                if let Some(length) = length {
                    *length += head.len() + list.items.len().saturating_sub(1) + list::TAIL.len();
                }
                out.extend_from_slice(&head);
            }
            Self::Text { items, indent: Some(indent), .. } => indent.write(&items.head(list), out),
            Self::Yaml { items, writer, .. } => {
                let mut head = items.head(list);
                head.extend_from_slice(list::TAIL);
                let Document::Object(mut members) = render::read(&head) else { return };
                members.remove(items.member());
                *writer = Some(ListWriter::start(members, items.member(), list.items.is_empty(), out));
            }
            Self::Cbor { renderer, .. } => cbor::list_start(renderer.list_type().0, list.items.len(), out),
            Self::Protobuf { renderer, .. } => {
                let length = length.expect("all items were measured");
                let (kind, version) = renderer.list_type();
                let (metadata, start) = (metadata(list, false), out.len());
                let written = protobuf::list_start(&version, kind, &metadata, *length, out);
                written.expect("a list's metadata is made of what its message has");
                let mut end = Vec::new();
                protobuf::list_end(&mut end);
                *length += out.len() - start + end.len();
            }
        }
    }

    fn item(&mut self, is_first: bool, object: &Arc<Object>, out: &mut Vec<u8>) -> Result<(), StatusError> {
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
            Self::Text { indent: Some(indent), .. } => indent.write(list::TAIL, out),
            Self::Yaml { writer, .. } => {
                if let Some(writer) = writer {
                    writer.end(out);
                }
            }
            Self::Cbor { renderer, .. } => {
                let metadata = metadata(list, renderer.lists_whole());
                cbor::list_end(&renderer.list_type().1, &metadata, out);
            }
            Self::Protobuf { .. } => protobuf::list_end(out),
        }
    }
}

fn metadata(list: &List, whole: bool) -> Document {
    render::read(list::metadata(list, whole).as_bytes())
}

#[cfg(test)]
mod tests;
