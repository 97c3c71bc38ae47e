//! scale: the part of an object that says how many, as autoscaling/v1 Scale, found by the kind's paths.
use serde_json::json;

use super::{
    Answer, Api, Error, FieldErrorKind, Request, Written,
    decode::Origin,
    patch::Parsed,
    pipeline::Write,
    rewrite::{conflict, document_of},
    system::{self, text},
};
use crate::{
    cache::Object,
    codec::Decoded,
    kind::{
        Kind,
        model::{Path, ScalePaths},
    },
    meta::{FieldError, FieldPath, options::WriteOptions},
    schema::Document,
};

impl Api {
    /// Replaces the scale of an object.
    ///
    /// # Errors
    /// As [`Api::update`].
    pub(super) async fn update_scale(
        &self,
        request: &Request,
        scale: Decoded,
        options: &WriteOptions,
    ) -> Result<Written, Error> {
        self.rescale(request, options, &scale.faults, |_| Ok(scale.document.clone())).await
    }

    /// Changes the scale of an object.
    ///
    /// # Errors
    /// As [`Api::patch`].
    pub(super) async fn patch_scale(
        &self,
        request: &Request,
        patch: &Parsed,
        options: &WriteOptions,
    ) -> Result<Written, Error> {
        self.rescale(request, options, &[], |scale| patch.apply(scale)).await
    }

    async fn rescale(
        &self,
        request: &Request,
        options: &WriteOptions,
        faults: &[String],
        change: impl Fn(&Document) -> Result<Document, Error> + Send + Sync,
    ) -> Result<Written, Error> {
        let kind = &*request.served.kind;
        let paths = paths(kind)?;
        // What is decoded is the changed object, not a patch of it; the reference tells its mistakes as of a body.
        let write = Write { request, options, origin: Origin::Body, faults };
        let done = self
            .rewrite(&write, |old| {
                let scale = change(&of_document(kind, old)?)?;
                let replicas = replicas(request, &scale, old)?;
                let mut new = old.clone();
                put(&mut new, &paths.replicas, replicas.into());
                Ok(new)
            })
            .await?;
        let answer = Answer::Document(of_object(kind, &done.object)?);
        Ok(Written { answer, created: false, warnings: done.warnings })
    }
}

/// The scale of an object.
///
/// # Errors
/// As [`of_document`].
pub(super) fn of_object(kind: &Kind, object: &Object) -> Result<Document, Error> {
    of_document(kind, &document_of(object)?)
}

/// The scale of an object.
///
/// # Errors
/// [`Error::Internal`] where the object has no desired number, [`Error::MethodNotAllowed`] where its kind has no scale.
fn of_document(kind: &Kind, object: &Document) -> Result<Document, Error> {
    let paths = paths(kind)?;
    let Some(replicas) = paths.replicas.of(object).and_then(Document::as_i64) else {
        let message = format!("the spec replicas field {:?} does not exist", format!(".{}", paths.replicas));
        return Err(Error::Internal(message));
    };
    let observed = paths.status_replicas.of(object).and_then(Document::as_i64).unwrap_or(0);
    let mut scale = json!({
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {},
        "spec": if replicas == 0 { json!({}) } else { json!({ "replicas": replicas }) },
        "status": { "replicas": observed },
    });
    for member in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = object["metadata"].get(member) {
            scale["metadata"][member] = value.clone();
        }
    }
    if let Some(selector) = paths.selector.as_ref().and_then(|path| path.of(object)) {
        scale["status"]["selector"] = selector.clone();
    }
    Ok(scale)
}

fn paths(kind: &Kind) -> Result<&ScalePaths, Error> {
    kind.scale.as_ref().ok_or(Error::MethodNotAllowed)
}

/// The number that a scale asks for; the scale's metadata is held against the object.
fn replicas(request: &Request, scale: &Document, object: &Document) -> Result<i64, Error> {
    let kind = &*request.served.kind;
    let wrong = |why: &str| Error::BadRequest(format!("Scale in version \"v1\" cannot be handled as a Scale: {why}"));
    let matches = |member: &str, expected: &str| {
        scale.get(member).is_none_or(|given| given == expected || given == "" || given.is_null())
    };
    if !scale.is_object() || !matches("kind", "Scale") || !matches("apiVersion", "autoscaling/v1") {
        return Err(wrong("autoscaling/v1 Scale is expected here"));
    }
    let mut placed = json!({ "metadata": { "name": text(scale, "name"), "namespace": text(scale, "namespace") } });
    system::place(request, &mut placed)?;
    for (member, message) in [("resourceVersion", super::rewrite::MODIFIED), ("uid", "the uid is another one")] {
        let given = text(scale, member);
        if !given.is_empty() && given != text(object, member) {
            return Err(conflict(request, message));
        }
    }
    let replicas = match scale.get("spec").and_then(|spec| spec.get("replicas")) {
        None | Some(Document::Null) => 0,
        Some(given) => given.as_i64().filter(|replicas| i32::try_from(*replicas).is_ok()).ok_or_else(|| {
            wrong("json: cannot unmarshal into Go struct field ScaleSpec.spec.replicas of type int32")
        })?,
    };
    if replicas < 0 {
        let path = FieldPath::new(format!(".{}", paths(kind)?.replicas));
        let error =
            FieldError::new(&path, FieldErrorKind::Invalid(replicas.into()), "should be a non-negative integer");
        return Err(Error::Invalid(kind.group_kind(), request.name.clone(), vec![error]));
    }
    Ok(replicas)
}

/// Sets the value at a path, making the structs on the way.
fn put(document: &mut Document, path: &Path, value: Document) {
    let mut at = document;
    for name in &path.0 {
        if !at.is_object() {
            *at = json!({});
        }
        at = &mut at[name];
    }
    *at = value;
}
