//! Readers of request headers.

use http::{
    HeaderMap,
    header::{AsHeaderName, CONTENT_TYPE},
};

use crate::auth::authenticate::Headers;

/// A header as text.
pub(super) fn text(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
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
