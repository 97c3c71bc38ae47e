//! Views: the objects of one version of a kind, converted from the storage version.
//!
//! A view is computed once for each state of an object, however many readers and watchers it has, and kept within the
//! cache's budget of renderings. Evicted views are recomputed with the same result: conversions are pure functions.
use std::sync::Arc;

use bytes::Bytes;

use super::record;
use crate::{
    cache::{Body, Object, Renderings},
    codec,
    kind::Kind,
};

/// Converts objects to a version.
#[derive(Clone)]
pub struct View {
    kind: Arc<Kind>,
    type_meta: Arc<str>,
    renderings: Arc<Renderings>,
    /// Distinguishes the renderings of this view from others.
    number: u32,
}

impl View {
    /// The view of a version with a conversion. `number` must be unique among views with the same renderings.
    pub fn new(kind: Arc<Kind>, renderings: Arc<Renderings>, number: u32) -> Self {
        Self { type_meta: kind.type_meta().into(), kind, renderings, number }
    }

    /// A stored object in this version, converted now if it is not kept. It has the key, revision, labels and
    /// selectable values of the stored object, and is unreadable if that is.
    ///
    /// # Errors
    /// The reason why it cannot be converted.
    pub fn of(&self, stored: &Arc<Object>) -> Result<Arc<Object>, String> {
        // Failed conversions are kept, too, so that they happen only once.
        readable(stored, self.renderings.object(stored, self.number, || self.make(stored)))
    }

    /// The same without keeping the result, for readers of more objects than can be kept.
    ///
    /// # Errors
    /// Like [`View::of`].
    pub fn passing(&self, stored: &Arc<Object>) -> Result<Arc<Object>, String> {
        let kept = self.renderings.find_object(stored, self.number);
        readable(stored, kept.unwrap_or_else(|| Arc::new(self.make(stored))))
    }

    /// A stored object with a body in this version that was made before the object was stored.
    pub fn with_body(&self, stored: &Arc<Object>, body: Body) -> Arc<Object> {
        self.renderings.object(stored, self.number, || stored.in_form(&self.type_meta, Ok(body)))
    }

    /// True if the views of this many bytes of objects fit and leave enough room for others.
    pub fn keeps(&self, bytes: usize) -> bool {
        self.renderings.has_room_for(bytes)
    }

    fn make(&self, stored: &Object) -> Object {
        stored.in_form(
            &self.type_meta,
            if stored.unreadable().is_some() { Err(String::new()) } else { self.body(stored) },
        )
    }

    fn body(&self, stored: &Object) -> Result<Body, String> {
        // Conversions do not see managed fields, which stay unchanged.
        let document = self.kind.convert_from_stored(record::parse(&stored.without_managed_fields())?)?;
        let mut text = Vec::with_capacity(stored.json_bytes().len());
        let places = codec::canonical(&document, &mut text);
        let managed_fields = Bytes::copy_from_slice(stored.managed_fields());
        let body = Body::new(text.into(), places.metadata_end, places.managed_at, managed_fields);
        Ok(body.expect("a canonical body says where its parts are"))
    }
}

fn readable(stored: &Object, view: Arc<Object>) -> Result<Arc<Object>, String> {
    match view.unreadable() {
        Some(reason) if stored.unreadable().is_none() => Err(reason.to_owned()),
        _ => Ok(view),
    }
}
