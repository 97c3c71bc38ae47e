//! One object at one revision: a single buffer of JSON that is rendered once and answers every read by slicing.
//!
//! The buffer is the object's natural watch frame. A watch sends it whole; get and list send parts of it. Reads never
//! parse JSON. Everything besides the buffer takes a small constant amount of memory.

use std::{
    fmt,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;

use super::{
    body::{Body, ComposedJson, MANAGED_FIELDS_KEY, METADATA_KEY, VERSION_KEY, version_member},
    reader::DecodedValue,
    texts::PackedTexts,
};
use crate::meta::Revision;

/// The type of a watch event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// The object was created, or entered the watcher's filter.
    Added,
    /// The object changed.
    Modified,
    /// The object was deleted, or left the watcher's filter.
    Deleted,
}

impl EventType {
    /// The type as sent to clients.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }

    /// The beginning of a watch frame of this type, up to the object.
    pub fn opening(self) -> &'static str {
        match self {
            Self::Added => r#"{"type":"ADDED","object":"#,
            Self::Modified => r#"{"type":"MODIFIED","object":"#,
            Self::Deleted => r#"{"type":"DELETED","object":"#,
        }
    }
}

/// The end of every watch frame.
pub const FRAME_END: &str = "}\n";

/// One object at one revision: its JSON, rendered once, and the positions of its parts.
pub struct Object {
    /// The watch frame of the natural type.
    frame: Bytes,
    /// Key, labels and selectable fields.
    texts: PackedTexts,
    revision: Revision,
    /// The position of the value of `metadata` in the frame.
    metadata: (u32, u32),
    /// The position of the value of `metadata.managedFields` in the frame; empty if absent.
    managed_fields: (u32, u32),
    natural: EventType,
    unreadable: Option<Box<str>>,
    renewed: bool,
    awaits_conversion: bool,
    /// The length of another rendering, with its renderer in the upper half; see [`Object::rendered_length`].
    rendered_length: AtomicU64,
}

impl Object {
    /// Renders an object. Revision zero omits `resourceVersion` (dry runs).
    pub fn compose(key: &str, revision: Revision, type_meta: &str, decoded: DecodedValue) -> Self {
        Self::compose_as(EventType::Added, key, revision, type_meta, decoded)
    }

    /// Renders an object whose natural watch frame has the given type. An unreadable object shows only its key.
    pub fn compose_as(
        natural: EventType,
        key: &str,
        revision: Revision,
        type_meta: &str,
        decoded: DecodedValue,
    ) -> Self {
        let (body, unreadable) = match decoded.body {
            Ok(body) => (body, None),
            Err(reason) => (Body::of_key(key), Some(reason.into_boxed_str())),
        };
        let opening = [natural.opening(), "{", type_meta].map(str::as_bytes);
        let ComposedJson { buffer, metadata, managed_fields } = body.compose(&opening, revision, FRAME_END.as_bytes());
        Self {
            frame: Bytes::from(buffer),
            texts: PackedTexts::new(key, &decoded.texts),
            revision,
            metadata: span(metadata),
            managed_fields: span(managed_fields),
            natural,
            unreadable,
            renewed: decoded.renewed,
            awaits_conversion: decoded.awaits_conversion,
            rendered_length: AtomicU64::default(),
        }
    }

    /// The same body as a DELETED frame with the deletion's revision.
    #[must_use]
    pub fn deleted_at(&self, revision: Revision) -> Self {
        let opening = EventType::Deleted.opening();
        // The members of metadata, and those after the old version.
        let members = self.metadata.0 as usize + 1;
        let mut rest = members;
        if self.revision.0 != 0 {
            rest += VERSION_KEY.len() + digits(self.revision.0) + 1;
            rest += usize::from(self.frame[rest] == b',');
        }
        let version = version_member(revision, self.frame[rest] == b'}');
        let json = self.json_start();
        let before = opening.len() + (members - json);
        let mut frame = Vec::with_capacity(before + version.len() + (self.frame.len() - rest));
        frame.extend_from_slice(opening.as_bytes());
        frame.extend_from_slice(&self.frame[json..members]);
        frame.extend_from_slice(version.as_bytes());
        frame.extend_from_slice(&self.frame[rest..]);
        let moved = |at: u32| at as usize - rest + before + version.len();
        Self {
            frame: Bytes::from(frame),
            texts: self.texts.clone(),
            revision,
            metadata: span(before - 1..moved(self.metadata.1)),
            managed_fields: span(moved(self.managed_fields.0)..moved(self.managed_fields.1)),
            natural: EventType::Deleted,
            unreadable: self.unreadable.clone(),
            renewed: self.renewed,
            awaits_conversion: self.awaits_conversion,
            rendered_length: AtomicU64::default(),
        }
    }

    /// The object in another form, such as another version, with the same key, revision, labels and selectable values.
    /// If the object is unreadable or `body` is an error, the result is unreadable.
    #[must_use]
    pub fn in_form(&self, type_meta: &str, body: Result<Body, String>) -> Self {
        let body = self.unreadable.as_deref().map_or(body, |reason| Err(reason.to_owned()));
        let composed = Self::compose_as(self.natural, self.key(), self.revision, type_meta, DecodedValue::plain(body));
        let Self { renewed, awaits_conversion, .. } = *self;
        Self { texts: self.texts.clone(), renewed, awaits_conversion, ..composed }
    }

    /// The key below the resource's prefix: `namespace/name`, or `name` for a cluster-scoped kind.
    pub fn key(&self) -> &str {
        self.texts.key()
    }

    /// The namespace; empty for a cluster-scoped kind.
    pub fn namespace(&self) -> &str {
        self.key().split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// The name.
    pub fn name(&self) -> &str {
        let key = self.key();
        key.split_once('/').map_or(key, |(_, name)| name)
    }

    /// The revision that wrote the object, or that of its deletion in a DELETED event.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The whole object as JSON, with type meta.
    pub fn json(&self) -> Bytes {
        self.frame.slice(self.json_start()..self.json_end())
    }

    /// The same bytes as [`Object::json`], borrowed.
    pub fn json_bytes(&self) -> &[u8] {
        &self.frame[self.json_start()..self.json_end()]
    }

    /// The object as JSON without type meta and without its opening brace: `"metadata":{…},…}`.
    pub fn item_bytes(&self) -> &[u8] {
        &self.frame[self.item_start()..self.json_end()]
    }

    /// The value of `metadata`: `{…}`.
    pub fn metadata_bytes(&self) -> &[u8] {
        &self.frame[self.metadata.0 as usize..self.metadata.1 as usize]
    }

    /// The value of `metadata.managedFields`, borrowed; empty if absent.
    pub fn managed_fields(&self) -> &[u8] {
        &self.frame[self.managed_fields.0 as usize..self.managed_fields.1 as usize]
    }

    /// The object as JSON with type meta, but without its managed fields.
    pub fn without_managed_fields(&self) -> Vec<u8> {
        let (start, end) = (self.managed_fields.0 as usize, self.managed_fields.1 as usize);
        if start == end {
            return self.json_bytes().to_vec();
        }
        let (mut start, mut end) = (start - MANAGED_FIELDS_KEY.len(), end);
        // Also drop one comma: the one after them, or the one before them if they are last.
        if self.frame[end] == b',' {
            end += 1;
        } else if self.frame[start - 1] == b',' {
            start -= 1;
        }
        [&self.frame[self.json_start()..start], &self.frame[end..self.json_end()]].concat()
    }

    /// The watch frame of the natural type, `{"type":…,"object":{…}}` and a newline. Not copied.
    pub fn frame(&self) -> Bytes {
        self.frame.clone()
    }

    /// True if [`Object::frame`] is of this type.
    pub fn is_natural(&self, event: EventType) -> bool {
        event == self.natural
    }

    /// The watch frame of a type: shared for the natural type, otherwise copied once.
    pub fn frame_as(&self, event: EventType) -> Bytes {
        if self.is_natural(event) {
            return self.frame.clone();
        }
        let opening = event.opening().as_bytes();
        let rest = &self.frame[self.json_start()..];
        let mut frame = Vec::with_capacity(opening.len() + rest.len());
        frame.extend_from_slice(opening);
        frame.extend_from_slice(rest);
        Bytes::from(frame)
    }

    /// The part after the opening of every watch frame: the object and the frame's end. Shared.
    pub fn frame_after_opening(&self) -> Bytes {
        self.frame.slice(self.json_start()..)
    }

    /// Key, labels and selectable fields.
    pub(super) fn texts(&self) -> &PackedTexts {
        &self.texts
    }

    /// The same object, which shares its texts with an earlier version if that has the same.
    pub(super) fn sharing_texts(mut self, earlier: Option<&Arc<Self>>) -> Self {
        if let Some(earlier) = earlier.filter(|earlier| earlier.texts == self.texts) {
            self.texts = earlier.texts.clone();
        }
        self
    }

    /// Labels, in the reader's order.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.labels()
    }

    /// The value of one label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Values of the kind's selectable fields, in declared order.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.texts.fields()
    }

    /// One selectable field by its declared position; empty if the object has no value there.
    pub fn field(&self, position: usize) -> &str {
        self.fields().nth(position).unwrap_or("")
    }

    /// The reason why the object could not be decoded, if any.
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// True if the object could not be decoded because its conversion by a webhook failed. It is read again later.
    pub fn awaits_conversion(&self) -> bool {
        self.awaits_conversion
    }

    /// True if this differs from the stored object because the current schema changed it. The next write stores it,
    /// even one that changes nothing else.
    pub fn is_renewed(&self) -> bool {
        self.renewed
    }

    /// The approximate size in memory: the frame and everything beside it.
    pub fn size(&self) -> usize {
        self.frame.len() + self.texts.len() + size_of::<Self>()
    }

    /// The length of a rendering that another layer made and did not keep, if it was recorded for this renderer.
    /// Renderers are identified by nonzero numbers.
    pub fn rendered_length(&self, renderer: u32) -> Option<usize> {
        let noted = self.rendered_length.load(Ordering::Relaxed);
        (noted >> 32 == u64::from(renderer)).then(|| usize::try_from(noted & u64::from(u32::MAX)).ok()).flatten()
    }

    /// Records the length of a rendering. Only the last renderer's length is kept.
    pub fn note_rendered_length(&self, renderer: u32, length: usize) {
        if let Ok(length) = u32::try_from(length) {
            self.rendered_length.store(u64::from(renderer) << 32 | u64::from(length), Ordering::Relaxed);
        }
    }

    fn json_start(&self) -> usize {
        self.natural.opening().len()
    }

    fn json_end(&self) -> usize {
        self.frame.len() - FRAME_END.len()
    }

    fn item_start(&self) -> usize {
        self.metadata.0 as usize - METADATA_KEY.len()
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({} at {}: {})", self.key(), self.revision, String::from_utf8_lossy(self.json_bytes()))
    }
}

/// A range of a frame. Requests are limited far below 4 GiB, so 32 bits suffice.
fn span(range: Range<usize>) -> (u32, u32) {
    let offset = |at: usize| u32::try_from(at).expect("an object is smaller than 4 GiB");
    (offset(range.start), offset(range.end))
}

fn digits(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |power| power as usize + 1)
}

#[cfg(test)]
mod tests;
