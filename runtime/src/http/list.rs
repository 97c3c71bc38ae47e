//! Lists: a header, the cached bytes of the items, and a tail, sent without parsing or rendering any object.
//! The length is known before the first byte is sent. Items are copied together into chunks, since a system call an item
//! costs more than the copying.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};

use super::partial;
use crate::{
    cache::Object,
    kind::{Kind, model::Style},
    verbs,
};

/// Bytes copied together before they are handed to the connection.
const CHUNK: usize = 128 << 10;

/// The members of a list's `metadata`, with braces.
pub fn metadata(list: &verbs::List) -> String {
    let mut text = format!("{{\"resourceVersion\":\"{}\"", list.revision);
    if let Some(token) = &list.continue_token {
        text.push_str(",\"continue\":");
        text.push_str(&serde_json::Value::from(token.as_str()).to_string());
    }
    if let Some(remaining) = list.remaining {
        text.push_str(",\"remainingItemCount\":");
        text.push_str(&remaining.to_string());
    }
    text.push('}');
    text
}

/// Which bytes of an object stand for it in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// With type meta, as the reference lists custom resources.
    Whole,
    /// Without type meta, as the reference lists the kinds compiled into it.
    Bare,
}

impl Part {
    fn len(self, object: &Object) -> usize {
        match self {
            Self::Whole => object.json_bytes().len(),
            Self::Bare => object.item_bytes().len() + 1,
        }
    }

    fn write(self, out: &mut BytesMut, object: &Object) {
        match self {
            Self::Whole => out.extend_from_slice(object.json_bytes()),
            Self::Bare => {
                out.extend_from_slice(b"{");
                out.extend_from_slice(object.item_bytes());
            }
        }
    }
}

/// A list as a response body.
pub struct ListBody {
    head: Option<String>,
    items: std::vec::IntoIter<Arc<Object>>,
    part: Part,
    first: bool,
    left: usize,
    buffer: BytesMut,
}

const TAIL: &[u8] = b"]}";

impl ListBody {
    /// The body of a list of a kind.
    pub fn new(kind: &Kind, list: verbs::List) -> Self {
        let part = match kind.style {
            Style::Builtin => Part::Bare,
            Style::Custom => Part::Whole,
        };
        let head = format!(
            "{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{},\"items\":[",
            kind.list_kind,
            kind.group_version,
            metadata(&list)
        );
        let commas = list.items.len().saturating_sub(1);
        let items: usize = list.items.iter().map(|object| part.len(object)).sum();
        let left = head.len() + items + commas + TAIL.len();
        Self { head: Some(head), items: list.items.into_iter(), part, first: true, left, buffer: BytesMut::new() }
    }

    /// All of it at once.
    pub fn collect(mut self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.left);
        while let Some(chunk) = self.chunk() {
            all.extend_from_slice(&chunk);
        }
        all
    }

    fn chunk(&mut self) -> Option<Bytes> {
        if self.left == 0 {
            return None;
        }
        let out = &mut self.buffer;
        out.reserve(self.left.min(CHUNK + CHUNK / 8));
        if let Some(head) = self.head.take() {
            out.extend_from_slice(head.as_bytes());
        }
        while out.len() < CHUNK {
            let Some(object) = self.items.next() else {
                out.extend_from_slice(TAIL);
                break;
            };
            if !std::mem::replace(&mut self.first, false) {
                out.extend_from_slice(b",");
            }
            self.part.write(out, &object);
        }
        let chunk = out.split().freeze();
        self.left = self.left.checked_sub(chunk.len()).expect("the length was summed over the same parts");
        Some(chunk)
    }
}

impl Body for ListBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.chunk().map(|chunk| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.left).expect("a length fits 64 bits"))
    }
}

/// The list as PartialObjectMetadataList.
pub fn partial(list: &verbs::List, meta_version: &str) -> Vec<u8> {
    let mut out = format!(
        "{{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"{meta_version}\",\"metadata\":{},\"items\":[",
        metadata(list)
    )
    .into_bytes();
    for (at, object) in list.items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        partial::write(&mut out, object, meta_version);
    }
    out.extend_from_slice(TAIL);
    out
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
