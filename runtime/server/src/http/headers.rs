//! Readers of request headers.

use http::{
    HeaderMap,
    header::{AsHeaderName, CONTENT_TYPE},
};

use crate::auth::authenticate::Headers;

/// A header as text, if it is ASCII. What `HeaderValue::to_str` does byte by byte, which takes long for signed tokens.
pub(super) fn text(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    let bytes = headers.get(name)?.as_bytes();
    if bytes.is_ascii() { std::str::from_utf8(bytes).ok() } else { None }
}

/// The media type of the body in lower case without parameters; empty if the client sent none.
pub(super) fn media_type(headers: &HeaderMap) -> String {
    let given = text(headers, CONTENT_TYPE).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

impl Headers for HeaderMap {
    fn header(&self, name: &str) -> Option<&str> {
        text(self, name)
    }

    fn each(&self, visit: &mut dyn FnMut(&str, &[u8])) {
        self.iter().for_each(|(name, value)| visit(name.as_str(), value.as_bytes()));
    }
}
