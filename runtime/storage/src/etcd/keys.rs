//! The names of keys: what the store's callers call `/registry/…` is below the configured prefix in etcd.

use std::sync::Arc;

use bytes::Bytes;

use super::error::EtcdError;

/// The beginning of all keys that callers use.
const ROOT: &str = "/registry/";
/// The engine's own key below the prefix. Its changes show how far a watch is, where etcd cannot say.
const MARKER: &str = "kindsmith.progress";
/// The note of a copy that fills the prefix.
const COPY: &str = "kindsmith.copy";

/// Translates keys.
pub(super) struct Keys {
    /// The configured prefix, which ends with a slash.
    prefix: String,
}

impl Keys {
    pub(super) fn new(prefix: &str) -> Result<Self, EtcdError> {
        let bare = prefix.trim_matches('/');
        if bare.is_empty() {
            let message = format!("the prefix {prefix:?} has no name; expected one such as /registry");
            return Err(EtcdError::Options(message));
        }
        Ok(Self { prefix: format!("/{bare}/") })
    }

    /// The prefix without its slash.
    pub(super) fn prefix(&self) -> &str {
        self.prefix.trim_end_matches('/')
    }

    /// A key in etcd, or `None` if it is not below the root.
    pub(super) fn stored(&self, key: &str) -> Option<Bytes> {
        key.strip_prefix(ROOT).map(|below| format!("{}{below}", self.prefix).into())
    }

    /// The key that callers use, or `None` for a key that is not theirs.
    pub(super) fn of_stored(&self, key: &[u8]) -> Option<Arc<str>> {
        let below = std::str::from_utf8(key).ok()?.strip_prefix(&self.prefix)?;
        (below != MARKER && below != COPY).then(|| format!("{ROOT}{below}").into())
    }

    /// The first key and the end of the keys that begin with a prefix.
    pub(super) fn span(&self, prefix: &str) -> Option<(Bytes, Bytes)> {
        let first = if ROOT.starts_with(prefix) { Bytes::from(self.prefix.clone()) } else { self.stored(prefix)? };
        let end = end_of(&first);
        Some((first, end))
    }

    /// The spans of keys that begin with one of the prefixes, in order, each key in one of them.
    pub(super) fn spans(&self, prefixes: &[&str]) -> Vec<(Bytes, Bytes)> {
        let mut spans: Vec<_> = prefixes.iter().filter_map(|prefix| self.span(prefix)).collect();
        spans.sort();
        // A prefix that begins with another one sorts after it.
        spans.dedup_by(|next, last| next.0.starts_with(&last.0));
        spans
    }

    /// All keys.
    pub(super) fn all(&self) -> (Bytes, Bytes) {
        let first = Bytes::from(self.prefix.clone());
        let end = end_of(&first);
        (first, end)
    }

    /// The key that is there as long as a copy is not complete.
    pub(super) fn copy(&self) -> Bytes {
        format!("{}{COPY}", self.prefix).into()
    }

    /// The engine's own key.
    pub(super) fn marker(&self) -> Bytes {
        format!("{}{MARKER}", self.prefix).into()
    }
}

/// The first key after all keys with a prefix.
fn end_of(prefix: &[u8]) -> Bytes {
    let mut end = prefix.to_vec();
    // Text has no byte 255, so that the last byte can be raised.
    if let Some(last) = end.last_mut() {
        *last = last.saturating_add(1);
    }
    end.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_below_the_configured_prefix() {
        let keys = Keys::new("/shop/").expect("a prefix");
        assert_eq!(keys.stored("/registry/a/b").as_deref(), Some(&b"/shop/a/b"[..]));
        assert_eq!(keys.stored("/elsewhere/a"), None);
        assert_eq!(keys.of_stored(b"/shop/a/b").as_deref(), Some("/registry/a/b"));
        assert_eq!(keys.of_stored(b"/shopping/a"), None);
        assert_eq!([keys.marker(), keys.copy()].map(|key| keys.of_stored(&key)), [None, None]);
        let span = |prefix| {
            keys.span(prefix).map(|(first, end)| [first, end].map(|key| String::from_utf8_lossy(&key).into_owned()))
        };
        assert_eq!(span("/registry/a/"), Some(["/shop/a/".to_owned(), "/shop/a0".to_owned()]));
        assert_eq!(span(""), Some(["/shop/".to_owned(), "/shop0".to_owned()]));
        assert_eq!(span("/other"), None);
        let spans = keys.spans(&["/registry/b/", "/registry/a/", "/registry/a/x/", "/other/", "/registry/b/"]);
        assert_eq!(spans, [keys.span("/registry/a/"), keys.span("/registry/b/")].map(|span| span.expect("a span")));
        assert!(matches!(Keys::new("/"), Err(EtcdError::Options(_))));
    }
}
