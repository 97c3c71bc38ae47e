//! Lists in JSON: a header, the cached bytes of the items, and a tail, without parsing or rendering any object. The
//! length is known before the first byte is sent. Items are copied into chunks as the client reads them, because a
//! system call per item costs more than copying. An answer holds the listed snapshot and one chunk.

use std::{
    convert::Infallible,
    hint::black_box,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};

use super::{
    negotiate::{ResponseFormat, Shape},
    partial,
};
use crate::{cache::Object, kind::Kind, verbs};

/// The size of a chunk.
const CHUNK: usize = 128 << 10;
/// The size of a page of memory on most machines.
const PAGE: usize = 4 << 10;
/// The maximum number of objects that are fetched together.
const BATCH: usize = 64;

/// The members of a list's `metadata`, with braces. For lists of whole objects, the continue token is present even if
/// it is empty, as in kube-apiserver.
pub(super) fn metadata(list: &verbs::List, whole: bool) -> String {
    let mut text = format!("{{\"resourceVersion\":\"{}\"", list.revision);
    if let Some(token) = list.continue_token.as_deref().or(whole.then_some("")) {
        text.push_str(",\"continue\":");
        text.push_str(&serde_json::Value::from(token).to_string());
    }
    if let Some(remaining) = list.remaining {
        text.push_str(",\"remainingItemCount\":");
        text.push_str(&remaining.to_string());
    }
    text.push('}');
    text
}

/// The part of an object that a list contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// With type meta, as kube-apiserver lists custom resources.
    Whole,
    /// Without type meta, as kube-apiserver lists its compiled kinds.
    Bare,
    /// Only its metadata, as PartialObjectMetadata of this version.
    Partial(&'static str),
}

impl Part {
    /// The part that lists of a kind contain in the accepted form.
    pub(super) fn of(kind: &Kind, format: ResponseFormat) -> Self {
        match format.shape {
            Shape::Partial | Shape::PartialList => Self::Partial(format.meta_version()),
            _ if kind.policy().lists_type_meta() => Self::Whole,
            _ => Self::Bare,
        }
    }

    /// The beginning of a list up to its first item.
    pub(super) fn head(self, kind: &Kind, list: &verbs::List) -> String {
        let (kind, version) = match self {
            Self::Partial(version) => ("PartialObjectMetadataList", version.to_owned()),
            Self::Whole | Self::Bare => (&*kind.names().list_kind, kind.group_version.to_string()),
        };
        let metadata = metadata(list, self == Self::Whole);
        format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{version}\",\"metadata\":{metadata},\"items\":[")
    }

    /// The number of bytes that [`Part::write`] appends.
    pub(super) fn length(self, object: &Object) -> usize {
        match self {
            Self::Whole => object.json_bytes().len(),
            Self::Bare => object.item_bytes().len() + 1,
            Self::Partial(version) => partial::length(object, version),
        }
    }

    /// The number of bytes of all items.
    fn lengths(self, items: &verbs::Items) -> usize {
        match self {
            Self::Whole => items.json_bytes(),
            // Objects of one list have the same type meta.
            Self::Bare => {
                let type_meta = items.iter().next().map_or(0, |object| object.json_bytes().len() - self.length(object));
                items.json_bytes() - items.len() * type_meta
            }
            Self::Partial(_) => items.iter().map(|object| self.length(object)).sum(),
        }
    }

    /// Appends an object.
    pub(super) fn write(self, out: &mut impl BufMut, object: &Object) {
        match self {
            Self::Whole => out.put_slice(object.json_bytes()),
            Self::Bare => {
                out.put_slice(b"{");
                out.put_slice(object.item_bytes());
            }
            Self::Partial(version) => partial::write(out, object, version),
        }
    }
}

/// The end of a JSON list, with the newline that kube-apiserver ends compact JSON with.
pub(super) const TAIL: &[u8] = b"]}\n";

/// A list in JSON as a response body.
pub(super) struct ListBody {
    head: Option<String>,
    items: verbs::Items,
    place: verbs::ItemPosition,
    part: Part,
    first: bool,
    left: usize,
    buffer: BytesMut,
}

impl ListBody {
    /// The body of a list of a kind.
    pub(super) fn new(kind: &Kind, part: Part, list: verbs::List) -> Self {
        let head = part.head(kind, &list);
        let commas = list.items.len().saturating_sub(1);
        let items = part.lengths(&list.items);
        let left = head.len() + items + commas + TAIL.len();
        let place = verbs::ItemPosition::default();
        Self { head: Some(head), items: list.items, place, part, first: true, left, buffer: BytesMut::new() }
    }

    fn chunk(&mut self) -> Option<Bytes> {
        if self.left == 0 {
            return None;
        }
        let out = &mut self.buffer;
        out.reserve(self.left.min(CHUNK + CHUNK / 8) + PAGE);
        begin_within_a_page(out);
        if let Some(head) = self.head.take() {
            out.extend_from_slice(head.as_bytes());
        }
        let mut items = self.items.iter_from(self.place);
        while out.len() < CHUNK {
            let batch = fetched(&mut items, CHUNK - out.len());
            if batch.is_empty() {
                out.extend_from_slice(TAIL);
                break;
            }
            for object in batch {
                if !std::mem::replace(&mut self.first, false) {
                    out.extend_from_slice(b",");
                }
                self.part.write(out, object);
            }
        }
        self.place = items.position();
        let chunk = out.split().freeze();
        self.left = self.left.checked_sub(chunk.len()).expect("the length was summed over the same parts");
        Some(chunk)
    }
}

/// Makes an empty buffer with room for a page begin in the middle of a page. TLS copies a chunk to records, which the allocator lets
/// begin at a page. If a chunk began there, too, the processor would take loads for dependent on the stores just before them, because
/// it compares only the lower 12 bits of their addresses (4 KiB aliasing). Lists over TLS would take a quarter more time.
fn begin_within_a_page(buffer: &mut BytesMut) {
    let skipped = (PAGE / 2).wrapping_sub(buffer.as_ptr().addr()) % PAGE;
    buffer.put_bytes(0, skipped);
    buffer.advance(skipped);
}

/// Objects of about this many bytes, brought into the processor's cache. Objects lie anywhere in memory. Here the processor waits
/// for several of them at once; copied one after another, it would wait for each. This halves the time of a long list whose
/// objects were not written in key order.
fn fetched<'a>(items: &mut verbs::ItemIter<'a>, bytes: usize) -> Vec<&'a Arc<Object>> {
    let (mut batch, mut found) = (Vec::with_capacity(BATCH), 0);
    while found < bytes
        && batch.len() < BATCH
        && let Some(object) = items.next()
    {
        found += object.json_bytes().len();
        batch.push(object);
    }
    let touched = batch.iter().map(|object| object.json_bytes()).fold(0, |all, json| {
        let middle = json.get(json.len() / 2).copied().unwrap_or_default();
        all ^ middle ^ json.first().copied().unwrap_or_default()
    });
    black_box(touched);
    batch
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

#[cfg(test)]
mod tests;
