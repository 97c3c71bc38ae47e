//! An object's body in the sections in which it is stored, and its composition into JSON for clients. The position of
//! each part is stored with the body, so that the text is never searched.

use std::ops::Range;

use bytes::Bytes;

use crate::meta::Revision;

/// The beginning of every body.
const START: &str = r#"{"metadata":{"#;
/// The text between type meta and the value of `metadata`.
pub(super) const METADATA_KEY: &str = r#""metadata":"#;
/// The beginning of `metadata` if the revision is known; the digits and a quote follow.
pub(super) const VERSION_KEY: &str = r#""resourceVersion":""#;
/// The key before managed fields in the composed JSON.
pub(super) const MANAGED_FIELDS_KEY: &str = r#""managedFields":"#;

/// An object's canonical JSON in two sections: its managed fields, and everything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    text: Bytes,
    metadata_end: usize,
    managed_at: usize,
    managed_fields: Bytes,
}

/// A body written into a buffer, and the positions of its parts there.
pub(super) struct ComposedJson {
    pub(super) buffer: Vec<u8>,
    /// The value of `metadata`.
    pub(super) metadata: Range<usize>,
    /// The value of `metadata.managedFields`; empty if absent.
    pub(super) managed_fields: Range<usize>,
}

impl Body {
    /// Builds a body from its sections. Returns `None` if the offsets do not fit the text.
    ///
    /// The text is a JSON object without kind, apiVersion, resourceVersion and managed fields, with `metadata` first.
    /// The value of `metadata` ends before `metadata_end`. `managed_at` is the position for managed fields: before the
    /// next member of metadata, or before the closing brace. `managed_fields` is their value; empty if absent.
    pub fn new(text: Bytes, metadata_end: usize, managed_at: usize, managed_fields: Bytes) -> Option<Self> {
        let at = |offset: usize| text.get(offset).copied();
        let whole = text.starts_with(START.as_bytes()) && text.ends_with(b"}");
        let ends = at(metadata_end.checked_sub(1)?)? == b'}' && matches!(at(metadata_end)?, b',' | b'}');
        let within = (START.len()..metadata_end).contains(&managed_at);
        let divides = match (at(managed_at.checked_sub(1)?)?, at(managed_at)?) {
            (b'{' | b',', b'"') => true,
            (_, b'}') => managed_at + 1 == metadata_end,
            _ => false,
        };
        (whole && ends && within && divides).then_some(Self { text, metadata_end, managed_at, managed_fields })
    }

    /// A body that contains only the object's namespace and name.
    pub(super) fn of_key(key: &str) -> Self {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let text = match key.split_once('/') {
            Some((namespace, name)) => {
                format!("{START}\"name\":{},\"namespace\":{}}}}}", quoted(name), quoted(namespace))
            }
            None => format!("{START}\"name\":{}}}}}", quoted(key)),
        };
        let metadata_end = text.len() - 1;
        Self { text: text.into(), metadata_end, managed_at: metadata_end - 1, managed_fields: Bytes::new() }
    }

    /// The object's JSON, including managed fields.
    pub fn json(&self) -> Vec<u8> {
        self.compose(&[b"{"], Revision(0), b"").buffer
    }

    /// Writes an opening, the object and an end into a buffer of exactly that size. The opening ends with the object's
    /// brace and type meta.
    pub(super) fn compose(&self, opening: &[&[u8]], revision: Revision, end: &[u8]) -> ComposedJson {
        let (before, after) = self.text.split_at(self.managed_at);
        let (key, before) = before[1..].split_at(START.len() - 1);
        let (first, last) = (before.is_empty(), after.starts_with(b"}"));
        let comma = |needed: bool| if needed { b",".as_slice() } else { b"" };
        let managed: [&[u8]; 4] = match &self.managed_fields[..] {
            [] => [b""; 4],
            entries => [comma(last && !first), MANAGED_FIELDS_KEY.as_bytes(), entries, comma(!last)],
        };
        let version = version_member(revision, first && last && self.managed_fields.is_empty());

        let mut buffer = Vec::with_capacity(
            [length(opening), key.len(), version.len(), before.len(), length(&managed), after.len(), end.len()]
                .iter()
                .sum(),
        );
        let mut write = |parts: &[&[u8]]| {
            for part in parts {
                buffer.extend_from_slice(part);
            }
            buffer.len()
        };
        let metadata = write(opening) + METADATA_KEY.len();
        let entries = write(&[key, version.as_bytes(), before]) + length(&managed[..2]);
        let metadata_rest = self.metadata_end - self.managed_at;
        let rest = write(&managed);
        write(&[after, end]);
        ComposedJson {
            metadata: metadata..rest + metadata_rest,
            managed_fields: entries..entries + self.managed_fields.len(),
            buffer,
        }
    }
}

/// The member `resourceVersion`, with a comma unless it is the only member; empty for revision zero.
pub(super) fn version_member(revision: Revision, alone: bool) -> String {
    match revision.0 {
        0 => String::new(),
        number => format!("{VERSION_KEY}{number}\"{}", if alone { "" } else { "," }),
    }
}

fn length(parts: &[&[u8]]) -> usize {
    parts.iter().map(|part| part.len()).sum()
}

#[cfg(any(test, feature = "test-support"))]
impl From<&str> for Body {
    /// Parses a body from JSON text. Managed fields stay inside the text.
    fn from(text: &str) -> Self {
        let mut value =
            serde_json::Deserializer::from_str(&text[START.len() - 1..]).into_iter::<serde::de::IgnoredAny>();
        value.next().expect("a value").expect("JSON");
        let metadata_end = START.len() - 1 + value.byte_offset();
        Self::new(Bytes::from(text.to_owned()), metadata_end, metadata_end - 1, Bytes::new()).expect("a body")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of metadata and of managed fields in the composed JSON.
    fn composed(text: &str, managed_at: usize, managed_fields: &'static str, revision: u64) -> [String; 2] {
        let text = format!("{{\"metadata\":{text},\"spec\":{{}}}}");
        let (managed_at, end) = (managed_at + START.len(), text.len() - ",\"spec\":{}}".len());
        let body =
            Body::new(text.into(), end, managed_at, Bytes::from_static(managed_fields.as_bytes())).expect("a body");
        let composed = body.compose(&[b"<", b"{\"kind\":\"X\","], Revision(revision), b">");
        assert_eq!(composed.buffer.len(), composed.buffer.capacity());
        let whole = String::from_utf8(composed.buffer).unwrap();
        let metadata = &whole[composed.metadata];
        assert_eq!(whole, format!("<{{\"kind\":\"X\",\"metadata\":{metadata},\"spec\":{{}}}}>"));
        serde_json::from_str::<serde_json::Value>(metadata).expect("JSON");
        [metadata, &whole[composed.managed_fields]].map(str::to_owned)
    }

    #[test]
    fn managed_fields_are_inserted_at_their_position_with_commas() {
        for (text, at, revision, expected) in [
            ("{}", 0, 0, "{M}"),
            ("{}", 0, 7, "{\"resourceVersion\":\"7\",M}"),
            (r#"{"a":1}"#, 5, 0, "{\"a\":1,M}"),
            (r#"{"a":1}"#, 5, 7, "{\"resourceVersion\":\"7\",\"a\":1,M}"),
            (r#"{"n":"}"}"#, 0, 0, "{M,\"n\":\"}\"}"),
            (r#"{"n":"}"}"#, 0, 7, "{\"resourceVersion\":\"7\",M,\"n\":\"}\"}"),
            (r#"{"a":{},"n":1}"#, 7, 12, "{\"resourceVersion\":\"12\",\"a\":{},M,\"n\":1}"),
        ] {
            let [metadata, entries] = composed(text, at, "[{}]", revision);
            assert_eq!(metadata, expected.replace('M', "\"managedFields\":[{}]"), "{text}");
            assert_eq!(entries, "[{}]", "{text}");
            let bare = expected.replace(",M", "").replace("M,", "").replace('M', "");
            assert_eq!(composed(text, at, "", revision), [bare, String::new()], "{text}");
        }
    }

    #[test]
    fn offsets_that_do_not_fit_the_text_are_refused() {
        let text = Bytes::from_static(br#"{"metadata":{"a":{"b":1},"n":"x"},"spec":{}}"#);
        let fits = |end, at| Body::new(text.clone(), end, at, Bytes::new()).is_some();
        assert!(fits(33, 13) && fits(33, 25) && fits(33, 32));
        let found: Vec<_> = (0..50).filter(|at| fits(33, *at)).collect();
        assert_eq!(found, [13, 18, 25, 32], "18 is in a nested object, which single bytes cannot show");
        for end in (0..50).filter(|end| ![24, 33, 43].contains(end)) {
            assert!(!fits(end, 13), "{end}");
        }
        for other in ["", "{}", "[]", r#"{"metadata":{"#, r#"{"spec":{},"metadata":{"a":1}}"#] {
            for (end, at) in [(0, 0), (13, 12), (14, 13), (2, 1), (usize::MAX, usize::MAX)] {
                assert_eq!(Body::new(other.into(), end, at, Bytes::new()), None, "{other}");
            }
        }
    }
}
