//! Server-side apply: an object becomes what its managers have said of it, each for the fields that it names. Creates the
//! object where there is none.
use super::{
    Api, Error, Part, Request, Written,
    decode::Origin,
    ownership::Reset,
    pipeline::Write,
    rewrite::{MODIFIED, conflict},
};
use crate::{
    codec::Decoded,
    meta::{
        Preconditions, Time,
        options::{PatchOptions, WriteOptions},
        preconditions::{Identity, Mismatch},
    },
    patch::apply::{self, ApplyError, View, Writer},
    schema::Document,
};

impl Api {
    /// Applies a configuration.
    ///
    /// # Errors
    /// [`Error::Conflicts`] where others own what it would change and it is not forced; what is wrong with it.
    pub(super) async fn apply(
        &self,
        request: &Request,
        config: &Decoded,
        options: &PatchOptions,
    ) -> Result<Written, Error> {
        if request.part == Part::Scale {
            return self.apply_scale(request, config, options).await;
        }
        let document = &config.document;
        let write = Write {
            origin: Origin::Apply,
            pruned: config.pruned,
            ..Write::of_body(request, &options.write, &config.faults)
        };
        if let Some(written) = self.apply_unchanged(&write, document)? {
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

/// What a configuration makes of an object, or of none.
fn merge(
    request: &Request,
    old: Option<&Document>,
    config: &Document,
    options: &PatchOptions,
) -> Result<Document, Error> {
    let merged = |view: &View<'_>, writer: &Writer<'_>| apply::merge(view, old, config, writer, options.force);
    with_writer(request, &options.write, merged).map_err(refused)
}

/// Calls a function of `patch::apply` with what an apply works on, and who applies.
pub(super) fn with_writer<T>(
    request: &Request,
    options: &WriteOptions,
    then: impl FnOnce(&View<'_>, &Writer<'_>) -> T,
) -> T {
    let kind = &*request.served.kind;
    let (version, now) = (kind.group_version.to_string(), Time::now().to_string());
    let writer = Writer {
        manager: &options.field_manager,
        api_version: &version,
        subresource: request.part.subresource(),
        time: &now,
    };
    Reset::of(kind, request.part).view(kind, |view| then(view, &writer))
}

/// Holds a configuration that creates its object against what there is: nothing. A uid or a resourceVersion names an
/// object that was, so there is something that the client does not know.
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
