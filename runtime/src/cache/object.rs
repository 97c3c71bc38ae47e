//! One object at one revision: a single buffer of JSON, rendered once, that answers every read by slicing.
//! The buffer is the object's natural watch frame, so that a watch sends it whole and get and list send parts of it.
//! Nothing here re-parses JSON on a read; everything but the buffer is a small constant.

use std::{
    fmt,
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;

use super::{
    Body, Reading,
    body::{Composed, MANAGED_FIELDS_KEY, version_member},
    packed::Packed,
};
use crate::meta::Revision;

/// What a watch says happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// It came to be, or entered the watcher's view.
    Added,
    /// It changed.
    Modified,
    /// It was deleted, or left the watcher's view.
    Deleted,
}

impl EventType {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }

    /// What a watch frame of this type begins with; the object follows.
    pub fn opening(self) -> &'static str {
        match self {
            Self::Added => r#"{"type":"ADDED","object":"#,
            Self::Modified => r#"{"type":"MODIFIED","object":"#,
            Self::Deleted => r#"{"type":"DELETED","object":"#,
        }
    }
}

/// What every watch frame ends with.
pub const FRAME_END: &str = "}\n";

/// What stands between type meta and the value of `metadata`.
pub(super) const METADATA_KEY: &str = r#""metadata":"#;
/// What the members of `metadata` begin with where the revision is known; the digits and a quote follow.
pub(super) const VERSION_KEY: &str = r#""resourceVersion":""#;

/// One object at one revision: its JSON, rendered once, and where its parts lie.
pub struct Object {
    /// The watch frame of the natural type.
    frame: Bytes,
    /// Key, labels and selectable fields.
    texts: Packed,
    revision: Revision,
    /// Where the value of `metadata` lies in the frame.
    metadata: (u32, u32),
    /// Where the value of `metadata.managedFields` lies in the frame; empty where there is none.
    managed_fields: (u32, u32),
    natural: EventType,
    unreadable: Option<Box<str>>,
    renewed: bool,
    /// The length of another rendering, and in the upper half what that was made with; see [`Object::rendered_length`].
    rendered_length: AtomicU64,
}

impl Object {
    /// Renders an object. Revision zero leaves `resourceVersion` out (dry runs).
    pub fn compose(key: &str, revision: Revision, type_meta: &str, reading: Reading) -> Self {
        Self::compose_as(EventType::Added, key, revision, type_meta, reading)
    }

    /// Renders an object whose natural watch frame has the type given. What cannot be read is shown by its key alone.
    pub fn compose_as(natural: EventType, key: &str, revision: Revision, type_meta: &str, reading: Reading) -> Self {
        let (body, unreadable) = match reading.body {
            Ok(body) => (body, None),
            Err(reason) => (Body::of_key(key), Some(reason.into_boxed_str())),
        };
        let opening = [natural.opening(), "{", type_meta].map(str::as_bytes);
        let Composed { buffer, metadata, managed_fields } = body.compose(&opening, revision, FRAME_END.as_bytes());
        Self {
            frame: Bytes::from(buffer),
            texts: Packed::new(key, &reading.texts),
            revision,
            metadata: span(metadata),
            managed_fields: span(managed_fields),
            natural,
            unreadable,
            renewed: reading.renewed,
            rendered_length: AtomicU64::default(),
        }
    }

    /// The same body as its deletion shows it: with the deletion's revision, as a DELETED frame.
    #[must_use]
    pub fn deleted_at(&self, revision: Revision) -> Self {
        let opening = EventType::Deleted.opening();
        // The members of metadata, and those behind the old version.
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
            rendered_length: AtomicU64::default(),
        }
    }

    /// The object in another form, such as another version: with the same key, revision, labels and selectable values. One
    /// that cannot be read stays so, and one that has no such form becomes so.
    #[must_use]
    pub fn in_form(&self, type_meta: &str, body: Result<Body, String>) -> Self {
        let body = self.unreadable.as_deref().map_or(body, |reason| Err(reason.to_owned()));
        let composed = Self::compose_as(self.natural, self.key(), self.revision, type_meta, Reading::plain(body));
        Self { texts: self.texts.clone(), renewed: self.renewed, ..composed }
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

    /// The revision that wrote it (for a deletion as a watcher sees it: the deletion's).
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

    /// The object as JSON without type meta, but for its opening brace: `"metadata":{…},…}`.
    pub fn item(&self) -> Bytes {
        self.frame.slice(self.item_start()..self.json_end())
    }

    /// The same bytes as [`Object::item`], borrowed.
    pub fn item_bytes(&self) -> &[u8] {
        &self.frame[self.item_start()..self.json_end()]
    }

    /// The value of `metadata`: `{…}`.
    pub fn metadata(&self) -> Bytes {
        self.frame.slice(self.metadata.0 as usize..self.metadata.1 as usize)
    }

    /// The same bytes as [`Object::metadata`], borrowed.
    pub fn metadata_bytes(&self) -> &[u8] {
        &self.frame[self.metadata.0 as usize..self.metadata.1 as usize]
    }

    /// The value of `metadata.managedFields`, borrowed; empty where there is none.
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
        // A comma goes with them: the one behind, or before them where they are the last.
        if self.frame[end] == b',' {
            end += 1;
        } else if self.frame[start - 1] == b',' {
            start -= 1;
        }
        [&self.frame[self.json_start()..start], &self.frame[end..self.json_end()]].concat()
    }

    /// The watch frame of the natural type, `{"type":…,"object":{…}}` and a newline, without a copy.
    pub fn frame(&self) -> Bytes {
        self.frame.clone()
    }

    /// The type of [`Object::frame`]: ADDED where the object was created or loaded, MODIFIED where it was updated,
    /// DELETED for what a deletion shows.
    pub fn natural_type(&self) -> EventType {
        self.natural
    }

    /// The watch frame of a type: shared where the type is the natural one, else made by one copy.
    pub fn frame_as(&self, event: EventType) -> Bytes {
        if event == self.natural {
            return self.frame.clone();
        }
        let opening = event.opening().as_bytes();
        let rest = &self.frame[self.json_start()..];
        let mut frame = Vec::with_capacity(opening.len() + rest.len());
        frame.extend_from_slice(opening);
        frame.extend_from_slice(rest);
        Bytes::from(frame)
    }

    /// What comes after the opening of every watch frame: the object, and the frame's end. Shared.
    pub fn frame_after_opening(&self) -> Bytes {
        self.frame.slice(self.json_start()..)
    }

    /// Labels, in the order in which the reader gave them.
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

    /// One selectable field by its position in the declared order; empty where the object has none there.
    pub fn field(&self, position: usize) -> &str {
        self.fields().nth(position).unwrap_or("")
    }

    /// Why it could not be decoded, if so.
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// Whether it is not what is stored, but what today's schema makes of that: the next write stores it, even one that
    /// changes nothing.
    pub fn is_renewed(&self) -> bool {
        self.renewed
    }

    /// How many bytes the object takes, roughly: its frame and what stands beside it.
    pub fn size(&self) -> usize {
        self.frame.len() + self.texts.len() + size_of::<Self>()
    }

    /// The length of a rendering that the layers above made of the object and did not keep, where one was noted for this
    /// renderer. Renderers are told apart by numbers other than zero.
    pub fn rendered_length(&self, renderer: u32) -> Option<usize> {
        let noted = self.rendered_length.load(Ordering::Relaxed);
        (noted >> 32 == u64::from(renderer)).then(|| usize::try_from(noted & u64::from(u32::MAX)).ok()).flatten()
    }

    /// Notes the length of a rendering; the last renderer's is kept.
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

/// A range of a frame; requests are limited far below 4 GiB, so that 32 bits hold its ends.
fn span(range: Range<usize>) -> (u32, u32) {
    let offset = |at: usize| u32::try_from(at).expect("an object is smaller than 4 GiB");
    (offset(range.start), offset(range.end))
}

fn digits(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |power| power as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::{super::Texts, *};

    const META: &str = r#""kind":"ConfigMap","apiVersion":"v1","#;

    fn reading(body: &str) -> Reading {
        let texts = Texts::new([("app", "x"), ("é", "")], ["red", ""]);
        Reading { texts, ..Reading::plain(Ok(body.into())) }
    }

    #[test]
    fn every_part_is_a_slice_of_the_frame() {
        let body = r#"{"metadata":{"name":"a","note":"}\"{"},"data":{"k":"1"}}"#;
        let object = Object::compose("ns/a", Revision(12), META, reading(body));
        let metadata = r#"{"resourceVersion":"12","name":"a","note":"}\"{"}"#;
        let item = format!(r#""metadata":{metadata},"data":{{"k":"1"}}}}"#);
        let json = format!("{{{META}{item}");
        assert_eq!(object.json(), json);
        assert_eq!(object.item(), item);
        assert_eq!(object.metadata(), metadata);
        assert_eq!(object.frame(), format!("{{\"type\":\"ADDED\",\"object\":{json}}}\n"));
        assert_eq!(object.frame_as(EventType::Modified), format!("{{\"type\":\"MODIFIED\",\"object\":{json}}}\n"));
        assert_eq!((object.key(), object.namespace(), object.name()), ("ns/a", "ns", "a"));
        assert_eq!(object.labels().collect::<Vec<_>>(), [("app", "x"), ("é", "")]);
        assert_eq!(object.label("app"), Some("x"));
        assert_eq!(object.fields().collect::<Vec<_>>(), ["red", ""]);
        assert_eq!((object.field(0), object.field(7)), ("red", ""));
    }

    #[test]
    fn revision_zero_leaves_the_version_out_and_a_deletion_puts_it_in() {
        let body = r#"{"metadata":{"name":"a"}}"#;
        let object = Object::compose("a", Revision(0), META, reading(body));
        assert_eq!(object.metadata(), r#"{"name":"a"}"#);
        let gone = object.deleted_at(Revision(5));
        assert_eq!(gone.metadata(), r#"{"resourceVersion":"5","name":"a"}"#);
    }

    #[test]
    fn a_deletion_is_the_old_body_with_the_new_revision() {
        let body = r#"{"metadata":{"name":"a"},"data":{"k":"1"}}"#;
        let object = Object::compose_as(EventType::Modified, "ns/a", Revision(99), META, reading(body));
        let gone = object.deleted_at(Revision(100));
        let expected = Object::compose_as(EventType::Deleted, "ns/a", Revision(100), META, reading(body));
        assert_eq!(gone.frame(), expected.frame());
        assert_eq!((gone.item(), gone.metadata()), (expected.item(), expected.metadata()));
        assert_eq!((gone.natural_type(), gone.revision()), (EventType::Deleted, Revision(100)));
        assert_eq!(gone.label("app"), Some("x"));
    }

    #[test]
    fn managed_fields_are_a_slice_and_can_be_left_out() {
        let managed = Bytes::from_static(br#"[{"manager":"m"}]"#);
        for (metadata, at) in [(r#"{"a":1,"name":"x"}"#, 7), (r#"{"a":1}"#, 6), (r#"{"name":"x"}"#, 1), ("{}", 1)] {
            let text = format!("{{\"metadata\":{metadata}}}");
            let body = |managed| Body::new(text.clone().into(), text.len() - 1, at + 12, managed).expect("a body");
            for revision in [Revision(0), Revision(7)] {
                let compose = |managed| Object::compose("x", revision, META, Reading::plain(Ok(body(managed))));
                let (with, without) = (compose(managed.clone()), compose(Bytes::new()));
                for (with, without) in [
                    (with.deleted_at(Revision(10)), without.deleted_at(Revision(10))),
                    (with.deleted_at(Revision(9)).deleted_at(Revision(10)), without.deleted_at(Revision(10))),
                    (with, without),
                ] {
                    assert_eq!(with.managed_fields(), managed, "{metadata}");
                    assert_eq!(with.without_managed_fields(), without.json_bytes(), "{metadata}");
                    assert_eq!(
                        (without.managed_fields(), without.without_managed_fields()),
                        (&b""[..], without.json().to_vec())
                    );
                    serde_json::from_slice::<serde_json::Value>(with.json_bytes()).expect("JSON");
                    serde_json::from_slice::<serde_json::Value>(with.metadata_bytes()).expect("JSON");
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_marked_and_shown_by_its_key() {
        let object = Object::compose("ns/a\"b", Revision(3), META, Reading::plain(Err("garbage".to_owned())));
        assert_eq!(object.unreadable(), Some("garbage"));
        let json: serde_json::Value = serde_json::from_slice(object.json_bytes()).expect("valid JSON");
        assert_eq!(json["metadata"]["name"], "a\"b");
        assert_eq!(json["metadata"]["resourceVersion"], "3");
    }
}
