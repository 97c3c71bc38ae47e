//! Applies that change nothing, answered without copying the object. Tools that apply repeatedly mostly send these.
use super::{
    Answer, Error, Request, Verbs, Written, get::find, ownership::with_writer, pipeline::Write, rewrite::document_of,
};
use crate::{
    cache::Object,
    codec::{self, Limits},
    kind::binding::Hook,
    meta::Operation,
    patch::apply,
    schema::Document,
};

impl Verbs {
    /// The answer to an apply that changes nothing; `None` if it changes something, or if that is not cheap to
    /// determine.
    ///
    /// # Errors
    /// Errors of the current object: validation may have become stricter.
    pub(super) async fn apply_unchanged(&self, write: &Write<'_>, config: &Document) -> Result<Option<Written>, Error> {
        let (request, kind) = (write.request, &*write.request.served.kind);
        // Hooks, admission, or another version than the storage version may change the object even if the apply does
        // not.
        let own = kind.binding.hooks.runs(Hook::Defaults) || kind.binding.conversion.is_some();
        let settled = write.faults.is_empty() && !own && !self.admits(Operation::Update);
        if !settled || request.endpoint().is_none() {
            return Ok(None);
        }
        let Ok(object) = find(request) else { return Ok(None) };
        let Some(live) = unchanged(request, write, &object, config) else { return Ok(None) };
        let live = if kind.binding.hooks.runs(Hook::Validation) { document_of(&object)? } else { live };
        write.validate(&live, Some(&live)).await?;
        Ok(Some(Written { answer: Answer::Object(object), created: false, warnings: Vec::new() }))
    }
}

/// The object without its managed fields, if an apply does not change it.
fn unchanged(request: &Request, write: &Write<'_>, object: &Object, config: &Document) -> Option<Document> {
    if object.unreadable().is_some() || object.is_renewed() {
        return None;
    }
    let entries = str::from_utf8(object.managed_fields()).ok().filter(|entries| !entries.is_empty())?;
    let live = codec::decode(&object.without_managed_fields(), &Limits::NONE).ok()?.document;
    let noop = with_writer(request, &write.options.field_manager, |view, writer| {
        apply::is_noop(view, &live, entries, config, writer)
    });
    noop.ok()?.then_some(live)
}
