//! Documents and objects in encodings other than JSON. Objects are rendered from the cache's JSON once for all readers
//! of the same form.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    negotiate::{ResponseFormat, Shape},
    partial,
    status::{self, StatusError},
};
use crate::{
    cache::{EventType, Object, Renderings},
    codec::{self, Encoding, Limits, cbor, protobuf, yaml},
    kind::Kind,
    schema::Document,
};

/// The rendered part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Piece {
    /// The object as an item of a list.
    Item,
    /// The object as a separate answer, with the marker of its encoding.
    Answer,
    /// A frame of a watch.
    Frame(EventType),
}

/// The unique number of a part in a form, among renderings.
fn number(form: ResponseFormat, piece: Piece) -> u32 {
    let piece = match piece {
        Piece::Item => 0,
        Piece::Answer => 1,
        Piece::Frame(event) => 2 + event as u32,
    };
    let flags = u32::from(form.beta) << 1 | u32::from(form.pretty);
    piece << 6 | (form.encoding as u32) << 4 | (form.shape as u32) << 2 | flags
}

/// A document in an encoding; `None` if Protobuf has no message for it.
pub(super) fn document(
    encoding: Encoding,
    message: Option<&protobuf::Message>,
    document: &Document,
) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    match encoding {
        Encoding::Json => codec::encode(document, &mut out),
        Encoding::Yaml => yaml::encode(document, &mut out),
        Encoding::Cbor => cbor::encode(document, &mut out),
        Encoding::Protobuf => return protobuf::encode(message?, document).ok(),
    }
    Some(out)
}

/// Parses JSON text that the server wrote.
pub(super) fn read(json: &[u8]) -> Document {
    let decoded = codec::decode(json, &Limits::NONE);
    decoded.map(|decoded| decoded.document).unwrap_or_default()
}

/// The same document in YAML.
pub(super) fn yaml(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len());
    yaml::encode(&read(json), &mut out);
    out
}

/// Writes a kind's objects as Protobuf or CBOR, whole or only their metadata.
#[derive(Clone)]
pub(super) struct Renderer {
    kind: Arc<Kind>,
    form: ResponseFormat,
    kept: Arc<Renderings>,
}

impl Renderer {
    /// A renderer for a form; `None` if the form is text or a Table.
    pub(super) fn new(kind: &Arc<Kind>, format: ResponseFormat, kept: &Arc<Renderings>) -> Option<Self> {
        let shape = match format.shape {
            Shape::Full => Shape::Full,
            Shape::Partial | Shape::PartialList => Shape::Partial,
            Shape::Table => return None,
        };
        let binary = matches!(format.encoding, Encoding::Protobuf | Encoding::Cbor);
        // The form among renderings, without settings that do not affect a single object.
        let form = ResponseFormat { shape, pretty: false, ..format };
        binary.then(|| Self { kind: kind.clone(), form, kept: kept.clone() })
    }

    /// An object as a separate answer, shared between readers of this form. Fails with 406 for an object that does not fit its
    /// kind's message. Nothing is dropped, because a client that writes the object back would lose it.
    pub(super) fn object(&self, object: &Arc<Object>) -> Result<Bytes, StatusError> {
        self.piece(object, Piece::Answer, || self.sealed(object))
    }

    /// A watch frame about an object, shared between watchers of this form.
    pub(super) fn frame(&self, event: EventType, object: &Arc<Object>) -> Result<Bytes, StatusError> {
        self.piece(object, Piece::Frame(event), || Ok(frame(self.form.encoding, event.as_str(), &self.sealed(object)?)))
    }

    /// The frame of a bookmark, which is not kept.
    pub(super) fn bookmark(&self, object: &Object) -> Vec<u8> {
        let whole = self.sealed(object).expect("a bookmark has nothing but metadata of the server's making");
        frame(self.form.encoding, "BOOKMARK", &whole)
    }

    /// A part of an object: kept, or rendered now and kept.
    fn piece(
        &self,
        object: &Arc<Object>,
        piece: Piece,
        make: impl FnOnce() -> Result<Vec<u8>, StatusError>,
    ) -> Result<Bytes, StatusError> {
        if let Some(found) = self.kept.find(object, number(self.form, piece)) {
            return Ok(found);
        }
        let made = make()?.into_boxed_slice().into();
        Ok(self.kept.get(object, number(self.form, piece), || made))
    }

    /// True if a list of this size is kept item by item, because it does not evict too much.
    pub(super) fn keeps(&self, list_bytes: usize) -> bool {
        self.kept.has_room_for(list_bytes)
    }

    /// Appends an object as a list item without a field header.
    pub(super) fn write_item(&self, object: &Arc<Object>, keep: bool, out: &mut Vec<u8>) -> Result<(), StatusError> {
        if let Some(found) = self.kept.find(object, number(self.form, Piece::Item)) {
            out.extend_from_slice(&found);
            return Ok(());
        }
        let start = out.len();
        self.make_to(object, self.items_are_typed(), out)?;
        if keep {
            self.kept.keep(object, number(self.form, Piece::Item), Bytes::copy_from_slice(&out[start..]));
        }
        Ok(())
    }

    /// The number of bytes that [`Renderer::write_item`] appends. An object that is not kept records it, so that its
    /// next list need not render it twice.
    pub(super) fn item_length(&self, object: &Arc<Object>, keep: bool) -> Result<usize, StatusError> {
        if let Some(found) = self.kept.find(object, number(self.form, Piece::Item)) {
            return Ok(found.len());
        }
        let number = 1 + number(self.form, Piece::Item);
        if !keep && let Some(length) = object.rendered_length(number) {
            return Ok(length);
        }
        let mut item = Vec::with_capacity(object.json_bytes().len());
        self.write_item(object, keep, &mut item)?;
        object.note_rendered_length(number, item.len());
        Ok(item.len())
    }

    /// The kind and the apiVersion of lists.
    pub(super) fn list_type(&self) -> (&str, String) {
        match self.form.shape {
            Shape::Full => (&*self.kind.names().list_kind, self.kind.group_version.to_string()),
            _ => ("PartialObjectMetadataList", self.form.meta_version().to_owned()),
        }
    }

    /// True if list items have type meta: in CBOR as in JSON. Protobuf messages never contain type meta.
    fn items_are_typed(&self) -> bool {
        self.form.shape != Shape::Full || self.lists_whole()
    }

    /// True if list items are whole objects with type meta.
    pub(super) fn lists_whole(&self) -> bool {
        self.form.shape == Shape::Full && self.kind.policy().lists_type_meta()
    }

    /// An object with type meta and with the marker of its encoding.
    fn sealed(&self, object: &Object) -> Result<Vec<u8>, StatusError> {
        let mut out = Vec::with_capacity(cbor::MARK.len() + object.json_bytes().len());
        if self.form.encoding == Encoding::Cbor {
            out.extend_from_slice(&cbor::MARK);
        }
        self.make_to(object, true, &mut out)?;
        Ok(match (self.form.encoding, self.form.shape) {
            (Encoding::Protobuf, Shape::Full) => {
                protobuf::seal(&self.kind.group_version.to_string(), &self.kind.names().kind, &out)
            }
            (Encoding::Protobuf, _) => protobuf::seal(self.form.meta_version(), "PartialObjectMetadata", &out),
            _ => out,
        })
    }

    fn make_to(&self, object: &Object, typed: bool, out: &mut Vec<u8>) -> Result<(), StatusError> {
        let mut document = if self.form.shape == Shape::Full {
            read(object.json_bytes())
        } else {
            let mut json = Vec::new();
            partial::write(&mut json, object, self.form.meta_version());
            read(&json)
        };
        if self.form.encoding == Encoding::Protobuf {
            let own = self.kind.message().filter(|_| self.form.shape == Shape::Full);
            let message = own.unwrap_or(&protobuf::PARTIAL_OBJECT_METADATA);
            message.encode(&document, out).map_err(|error| status::unwritable(object.name(), &error))?;
        } else {
            if let Some(fields) = document.as_object_mut().filter(|_| !typed) {
                fields.retain(|name, _| !matches!(name.as_str(), "kind" | "apiVersion"));
            }
            let bytes = self.kind.policy().writes_bytes() && self.form.shape == Shape::Full;
            cbor::item(bytes.then_some(&*self.kind.version.schema), &document, out);
        }
        Ok(())
    }
}

/// A watch frame about a completely written object. JSON frames are written elsewhere.
pub(super) fn frame(encoding: Encoding, event: &str, object: &[u8]) -> Vec<u8> {
    if encoding == Encoding::Protobuf {
        return protobuf::watch_frame(event, object);
    }
    let mut out = Vec::with_capacity(object.len() + 32);
    cbor::event_start(event, &mut out);
    out.extend_from_slice(object);
    out
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_pieces_in_different_forms_have_the_same_number() {
        let events = [EventType::Added, EventType::Modified, EventType::Deleted];
        let pieces = || [Piece::Item, Piece::Answer].into_iter().chain(events.map(Piece::Frame));
        let (mut numbers, mut forms) = (HashSet::new(), 0);
        for encoding in Encoding::ALL {
            for shape in [Shape::Full, Shape::Table, Shape::Partial, Shape::PartialList] {
                for (beta, pretty) in [(false, false), (false, true), (true, false), (true, true)] {
                    let form = ResponseFormat { encoding, shape, beta, pretty };
                    numbers.extend(pieces().map(|piece| number(form, piece)));
                    forms += 5;
                }
            }
        }
        assert_eq!(numbers.len(), forms);
    }
}
