//! Readers of request headers.

use http::{
    HeaderMap, HeaderValue,
    header::{AsHeaderName, CONNECTION, CONTENT_TYPE, UPGRADE},
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

/// True if a request asks to change its connection to a protocol.
pub(super) fn asks_for(headers: &HeaderMap, protocol: &str) -> bool {
    let has = |name, token: &str| {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|given| given.trim().eq_ignore_ascii_case(token))
    };
    has(CONNECTION, "upgrade") && has(UPGRADE, protocol)
}

/// The protocol to which a request wants to change its connection, if that is one by which clients of Kubernetes stream.
pub(super) fn upgrade_of(headers: &HeaderMap) -> Option<&HeaderValue> {
    let protocol = headers.get(UPGRADE)?;
    let is = |known: &&str| protocol.as_bytes().eq_ignore_ascii_case(known.as_bytes());
    asks_for(headers, ["websocket", "SPDY/3.1"].iter().find(|known| is(known))?).then_some(protocol)
}

impl Headers for HeaderMap {
    fn header(&self, name: &str) -> Option<&str> {
        text(self, name)
    }

    fn each(&self, visit: &mut dyn FnMut(&str, &[u8])) {
        self.iter().for_each(|(name, value)| visit(name.as_str(), value.as_bytes()));
    }
}
