//! Server-side apply: merges the fields that each manager declares for an object. Creates a missing object.
use super::{
    Error, Request, Verbs, Written,
    decode::Origin,
    ownership::with_writer,
    pipeline::Write,
    rewrite::{MODIFIED, conflict},
};
use crate::{
    codec::Decoded,
    meta::{
        Preconditions,
        options::PatchOptions,
        preconditions::{Identity, Mismatch},
    },
    patch::apply::{self, ApplyError, View, Writer},
    schema::Document,
};

impl Verbs {
    /// Applies a configuration.
    ///
    /// # Errors
    /// [`Error::Conflicts`] if it would change fields of other managers and is not forced; errors of the object.
    pub(super) async fn apply(
        &self,
        request: &Request,
        config: &Decoded,
        options: &PatchOptions,
    ) -> Result<Written, Error> {
        if request.is_scale() {
            return self.apply_scale(request, config, options).await;
        }
        let document = &config.document;
        let write = Write {
            origin: Origin::Apply,
            pruned: config.pruned,
            ..Write::of_body(self, request, &options.write, &config.faults)
        };
        if let Some(written) = self.apply_unchanged(&write, document).await? {
            return Ok(written);
        }
        self.rewrite_or_create(&write, |old| {
            let mut new = merge(request, old, document, options)?;
            if old.is_none() {
                check_new(request, &new)?;
            }
            let warnings = write.decode_named(&mut new, old)?;
            Ok((new, warnings))
        })
        .await
    }
}

/// The result of merging a configuration into an object, or into none.
fn merge(
    request: &Request,
    old: Option<&Document>,
    config: &Document,
    options: &PatchOptions,
) -> Result<Document, Error> {
    let merged = |view: &View<'_>, writer: &Writer<'_>| apply::merge(view, old, config, writer, options.force);
    with_writer(request, &options.write.field_manager, merged)?.map_err(refused)
}

/// Checks a configuration that creates its object. A uid or resourceVersion refers to an earlier object, so the
/// client's view is outdated.
fn check_new(request: &Request, new: &Document) -> Result<(), Error> {
    Preconditions::of(&new["metadata"]).check(None).map_err(|Mismatch { of, expected, .. }| match of {
        Identity::Uid => {
            let message =
                format!("uid mismatch: the provided object specified uid {expected}, and no existing object was found");
            conflict(request, message)
        }
        Identity::ResourceVersion => conflict(request, MODIFIED),
    })
}

pub(super) fn refused(error: ApplyError) -> Error {
    let message = error.to_string();
    match error {
        ApplyError::Conflicts(conflicts) => Error::Conflicts(message, conflicts),
        ApplyError::BadRequest(_) => Error::BadRequest(message),
        ApplyError::Untyped(_) => Error::Unknown(message),
    }
}
