//! Views: the objects of one version of a kind, made of those in the version that is stored.
//!
//! A view is made once for each state of an object, however many read or watch it, and kept within the cache's budget of
//! renderings. What is not kept any more is made again, and is the same: conversions are functions of what they are given.
use std::sync::Arc;

use bytes::Bytes;

use super::{Kind, record};
use crate::{
    cache::{Body, Object, Renderings},
    codec,
};

/// Makes the objects of a version.
#[derive(Clone)]
pub struct View {
    kind: Arc<Kind>,
    type_meta: Arc<str>,
    renderings: Arc<Renderings>,
    /// Tells what this view has made of an object from what others have.
    number: u32,
}

impl View {
    /// The view of a version that says how it is converted. No two views of the same renderings have the same number.
    pub fn new(kind: Arc<Kind>, renderings: Arc<Renderings>, number: u32) -> Self {
        Self { type_meta: kind.type_meta().into(), kind, renderings, number }
    }

    /// A stored object in this version, made now and kept where it is not kept yet. It has the key, revision, labels and
    /// selectable values of the stored one, and is unreadable where that is.
    ///
    /// # Errors
    /// Why it has no form in this version.
    pub fn of(&self, stored: &Arc<Object>) -> Result<Arc<Object>, String> {
        // What has no form is kept, too: it is found out once.
        readable(stored, self.renderings.object(stored, self.number, || self.make(stored)))
    }

    /// The same, but what is made now is not kept: for who goes through more than can be kept.
    ///
    /// # Errors
    /// As [`View::of`].
    pub fn passing(&self, stored: &Arc<Object>) -> Result<Arc<Object>, String> {
        let kept = self.renderings.find_object(stored, self.number);
        readable(stored, kept.unwrap_or_else(|| Arc::new(self.make(stored))))
    }

    /// Whether the views of so many bytes of objects can be kept and leave room for what others want.
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
        // Managed fields are nothing to conversions, and stay the bytes that they are.
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
