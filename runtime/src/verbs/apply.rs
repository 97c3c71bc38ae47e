//! Server-side apply: an object becomes what its managers have said of it, each for the fields that it names. Creates the
//! object where there is none.
use super::{
    Answer, Api, Error, Part, Request, Written,
    decode::Origin,
    ownership::Reset,
    pipeline::Write,
    rewrite::{MODIFIED, conflict},
    system,
};
use crate::{
    codec::Decoded,
    meta::{Time, options::PatchOptions},
    patch::apply::{self, ApplyError, Writer},
    schema::Document,
};

/// How often an apply goes between finding no object and finding that there is one after all.
const TRIES: usize = 8;

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
        let (document, faults) = (&config.document, config.faults.as_slice());
        let write = Write {
            request,
            options: &options.write,
            origin: Origin::Apply,
            faults,
            pruned: config.pruned,
            patch: None,
        };
        for _ in 0..TRIES {
            match self.rewrite(&write, |old| merge(request, Some(old), document, options)).await {
                Ok(done) => {
                    let answer = Answer::Object(done.object);
                    return Ok(Written { answer, created: false, warnings: done.warnings });
                }
                Err(Error::NotFound(..)) if request.part == Part::Whole && !options.write.must_exist => {}
                Err(error) => return Err(error),
            }
            let new = merge(request, None, document, options)?;
            check_new(request, &new)?;
            match self.create_new(&write, new).await {
                Err(Error::AlreadyExists(..)) => {}
                done => return done,
            }
        }
        Err(conflict(request, MODIFIED))
    }
}

/// What a configuration makes of an object, or of none.
fn merge(
    request: &Request,
    old: Option<&Document>,
    config: &Document,
    options: &PatchOptions,
) -> Result<Document, Error> {
    let kind = &*request.served.kind;
    let (version, now) = (kind.group_version.to_string(), Time::now().to_string());
    let writer = Writer {
        manager: &options.write.field_manager,
        api_version: &version,
        subresource: request.part.subresource(),
        time: &now,
    };
    let reset = Reset::of(kind, request.part);
    reset.view(kind, |view| apply::merge(view, old, config, &writer, options.force)).map_err(refused)
}

/// Holds a configuration that creates its object against what there is: nothing. A uid or a resourceVersion names an
/// object that was, so there is something that the client does not know.
fn check_new(request: &Request, new: &Document) -> Result<(), Error> {
    let uid = system::text(new, "uid");
    if !uid.is_empty() {
        let message =
            format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
        return Err(conflict(request, message));
    }
    if !["", "0"].contains(&system::text(new, "resourceVersion")) {
        return Err(conflict(request, MODIFIED));
    }
    if system::text(new, "name").is_empty() {
        let message = "the name of the object (based on URL) was undeterminable: name must be provided";
        return Err(Error::BadRequest(message.to_owned()));
    }
    Ok(())
}

pub(super) fn refused(error: ApplyError) -> Error {
    let message = error.to_string();
    match error {
        ApplyError::Conflicts(conflicts) => Error::Conflicts(message, conflicts),
        ApplyError::BadRequest(_) => Error::BadRequest(message),
        ApplyError::Untyped(_) => Error::Unknown(message),
    }
}
