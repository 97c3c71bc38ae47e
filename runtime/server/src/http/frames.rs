//! Watch frames: events and bookmarks in the negotiated form, each written completely.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;

use super::{
    call::Call,
    guard,
    negotiate::{ResponseFormat, Shape},
    offload, partial,
    render::{self, Renderer},
    status::StatusError,
    table::{Include, Table},
};
use crate::{
    cache::{Body, DecodedValue, Event, FRAME_END, Object},
    codec::{self, Encoding, protobuf},
    kind::Kind,
    meta::{Revision, status::Status},
    registry::ResourceEntry,
    verbs::ConversionFailures,
};

/// Events of at least this size are sent without a copy. A copy of less costs less than a piece of its own, with its counters.
const LARGE: usize = 4 << 10;

/// A single event that was written off the threads that serve connections.
pub(super) struct EventFrame {
    /// The renderer after it.
    pub render: Render,
    /// The frame, or its opening.
    pub frame: Bytes,
    /// The rest of a frame whose opening is sent separately.
    pub rest: Option<Bytes>,
}

/// Writes events in the negotiated form.
#[derive(Clone)]
pub(super) struct Render {
    served: Arc<ResourceEntry>,
    /// Writes frames other than JSON.
    renderer: Option<Renderer>,
    format: ResponseFormat,
    include: Include,
    columns_sent: bool,
    /// The stream has ended, because an object could not be written; the client got an error.
    broken: bool,
}

impl Render {
    /// A renderer for the objects of a resource.
    pub(super) fn new(call: &Call<'_>) -> Self {
        Self {
            served: call.request.resource.clone(),
            renderer: call.renderer(),
            format: call.format,
            include: call.include,
            columns_sent: false,
            broken: false,
        }
    }

    /// True if the stream has ended, because an object could not be written; the client got an error.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    /// The encoding of the frames.
    pub(super) fn encoding(&self) -> Encoding {
        self.format.encoding
    }

    /// True if objects are neither converted nor written in another form than they are stored in.
    pub(super) fn is_as_stored(&self) -> bool {
        self.served.view.is_none() && self.renderer.is_none() && self.format.shape != Shape::Table
    }

    /// True if frames are those of the cache.
    pub(super) fn is_plain(&self) -> bool {
        self.is_as_stored() && self.format.shape == Shape::Full
    }

    /// True if it takes long to convert or to write an object.
    pub(super) fn takes_long(&self, object: &Object) -> bool {
        !self.is_as_stored() && object.json_bytes().len() > offload::LARGE
    }

    /// Converts and writes one event off the threads that serve connections. The result has the renderer as it is after
    /// that.
    pub(super) fn prepare(
        &self,
        event: Event,
        among_bytes: usize,
        whole: bool,
    ) -> impl Future<Output = EventFrame> + Send + use<> {
        let mut render = self.clone();
        offload::answer(move || {
            let (frame, rest) = render.single(&event, among_bytes, whole);
            EventFrame { render, frame, rest }
        })
    }

    /// The frame of a single event. The frame of a large JSON event is in two pieces if it need not be whole.
    fn single(&mut self, event: &Event, among_bytes: usize, whole: bool) -> (Bytes, Option<Bytes>) {
        let mut out = Vec::new();
        let Some(event) = self.shown(event, among_bytes, &mut out) else { return (out.into(), None) };
        if let Some(pieces) = self.uncopied(&event, whole) {
            return pieces;
        }
        self.event(&mut out, &event);
        (out.into(), None)
    }

    /// An event in the requested version; `among_bytes` is the size of the stored objects that the caller processes. If
    /// its object cannot be converted, the stream ends with an error frame.
    pub(super) fn shown<'e>(
        &mut self,
        event: &'e Event,
        among_bytes: usize,
        out: &mut Vec<u8>,
    ) -> Option<Cow<'e, Event>> {
        match self.served.show_among(&event.object, among_bytes) {
            Ok(Cow::Borrowed(_)) => Some(Cow::Borrowed(event)),
            Ok(Cow::Owned(view)) => Some(Cow::Owned(Event { object: view, event_type: event.event_type })),
            Err(reason) => {
                let unconverted = ConversionFailures::one(&self.served, &event.object, &reason);
                let status = unconverted.refusal(&self.served, event.object.name()).into();
                self.broken = true;
                error_frame(out, &status, self.format.encoding);
                None
            }
        }
    }

    /// True if an event, not converted yet, is large enough to be sent as pieces of its own, without a copy.
    pub(super) fn is_worth_sharing(&self, event: &Event) -> bool {
        (self.renderer.is_some() || self.format.shape == Shape::Full) && event.object.json_bytes().len() >= LARGE
    }

    /// The frame of an event that need not be copied, as one piece, or, unless it must be whole, as two.
    pub(super) fn uncopied(&self, event: &Event, whole: bool) -> Option<(Bytes, Option<Bytes>)> {
        if !whole && let Some((opening, rest)) = self.in_two(event) {
            return Some((opening, Some(rest)));
        }
        self.shared(event).map(|frame| (frame, None))
    }

    /// The frame of an event, if all watchers in this form share it.
    fn shared(&self, event: &Event) -> Option<Bytes> {
        let frame = match &self.renderer {
            Some(renderer) => renderer.frame(event.event_type, &event.object).ok(),
            None => (self.format.shape == Shape::Full).then(|| event.frame()),
        };
        frame.inspect(|frame| self.count(frame.len()))
    }

    /// Counts a sent event.
    fn count(&self, bytes: usize) {
        self.count_all([bytes].into_iter());
    }

    /// Counts sent events by their sizes.
    pub(super) fn count_all(&self, sizes: impl Iterator<Item = usize>) {
        if let Some(endpoint) = self.served.requests.first() {
            endpoint.sent_events(sizes);
        }
    }

    /// The frame of a large JSON event in two pieces, if it is not shared as a whole: one copy per watcher would add up.
    fn in_two(&self, event: &Event) -> Option<(Bytes, Bytes)> {
        let is_plain = self.renderer.is_none() && self.format.shape == Shape::Full && !self.broken;
        let is_large = event.object.json_bytes().len() >= LARGE && !event.is_frame_shared();
        let opening = Bytes::from_static(event.event_type.opening().as_bytes());
        let pieces = (is_plain && is_large).then(|| (opening, event.object.frame_after_opening()));
        pieces.inspect(|(opening, rest)| self.count(opening.len() + rest.len()))
    }

    /// Writes the frame of an event.
    pub(super) fn event(&mut self, out: &mut Vec<u8>, event: &Event) {
        if self.broken {
            return;
        }
        let before = out.len();
        self.write(out, event);
        self.count(out.len() - before);
    }

    fn write(&mut self, out: &mut Vec<u8>, event: &Event) {
        if let Some(renderer) = &self.renderer {
            match renderer.frame(event.event_type, &event.object) {
                Ok(frame) => out.extend_from_slice(&frame),
                Err(StatusError(status)) => {
                    self.broken = true;
                    error_frame(out, &status, self.format.encoding);
                }
            }
            return;
        }
        out.extend_from_slice(event.event_type.opening().as_bytes());
        self.object(out, &event.object, self.include);
        out.extend_from_slice(FRAME_END.as_bytes());
    }

    /// Writes an object in JSON.
    fn object(&mut self, out: &mut Vec<u8>, object: &Object, include: Include) {
        match self.format.shape {
            Shape::Full | Shape::PartialList => out.extend_from_slice(object.json_bytes()),
            Shape::Partial => partial::write(out, object, self.format.meta_version()),
            Shape::Table => self.table(out, object, include),
        }
    }

    fn table(&mut self, out: &mut Vec<u8>, object: &Object, include: Include) {
        let table = Table::new(self.served.kind.clone(), self.format.meta_version(), include);
        match guard::attempt(|| table.of_event(object, !self.columns_sent)) {
            Some(made) => out.extend_from_slice(&made),
            // Like kube-apiserver if it cannot produce the requested form.
            None => return out.extend_from_slice(object.json_bytes()),
        }
        self.columns_sent = true;
    }

    /// Writes the frame of a bookmark.
    pub(super) fn bookmark(&mut self, out: &mut Vec<u8>, revision: Revision, ends_initial: bool) {
        let before = out.len();
        self.write_bookmark(out, revision, ends_initial);
        self.count(out.len() - before);
    }

    fn write_bookmark(&mut self, out: &mut Vec<u8>, revision: Revision, ends_initial: bool) {
        let object = bookmark_object(&self.served.kind, revision, ends_initial);
        if let Some(renderer) = &self.renderer {
            return out.extend_from_slice(&renderer.bookmark(&object));
        }
        out.extend_from_slice(b"{\"type\":\"BOOKMARK\",\"object\":");
        // The end of the initial events is marked in the metadata, which is therefore always included.
        let include = if ends_initial && self.include == Include::None { Include::Metadata } else { self.include };
        self.object(out, &object, include);
        out.extend_from_slice(FRAME_END.as_bytes());
    }
}

/// An object of the kind with only a revision.
fn bookmark_object(kind: &Kind, revision: Revision, ends_initial: bool) -> Object {
    let text: &[u8] = if ends_initial {
        br#"{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}"#
    } else {
        br#"{"metadata":{"creationTimestamp":null}}"#
    };
    let end = text.len() - 1;
    let body = Body::new(Bytes::from_static(text), end, end - 1, Bytes::new()).expect("metadata and nothing more");
    Object::compose("", revision, &kind.type_meta(), DecodedValue::plain(Ok(body)))
}

/// Writes the frame of a failure.
pub(super) fn error_frame(out: &mut Vec<u8>, status: &Status, encoding: Encoding) {
    if encoding != Encoding::Json {
        let document = codec::from_typed(status).expect("a Status is plain data");
        let whole = render::document(encoding, Some(&protobuf::STATUS), &document).expect("a Status has its message");
        return out.extend_from_slice(&render::frame(encoding, "ERROR", &whole));
    }
    out.extend_from_slice(b"{\"type\":\"ERROR\",\"object\":");
    serde_json::to_writer(&mut *out, status).expect("writing to memory does not fail");
    out.extend_from_slice(FRAME_END.as_bytes());
}
