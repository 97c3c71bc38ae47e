//! Runs the kind's hooks in a write, with ratcheting as for the schema: errors about unchanged parts do not refuse the
//! write. A stored object may not decode into the current type of the hooks.
//!
//! - Errors about an unchanged value are ignored if the hook reports them for the old object, too.
//! - An object that does not decode is accepted if only its metadata and status change. So finalizers can be removed,
//!   labels, annotations and owner references changed, and the status written.
use std::sync::Arc;

use super::{Error, metadata, write::Write};
use crate::{
    auth::User,
    kind::{
        Kind,
        binding::{Hook, HookContext, HookError},
    },
    meta::{FieldError, FieldErrorKind, FieldPath, Operation, Warnings},
    schema::{self, Document},
};

impl Write<'_> {
    /// Refuses a dry run of a kind whose hooks have side effects. Fails with [`Error::BadRequest`].
    pub(super) fn check_dry_run(&self) -> Result<(), Error> {
        let kind = self.kind;
        if self.options.dry_run && kind.binding.hooks.has_side_effects() {
            let resource = kind.group_resource();
            return Err(Error::BadRequest(format!("the hooks of \"{resource}\" do not support dry run")));
        }
        Ok(())
    }

    /// Runs the hook that sets defaults. A new object with a generated name gets the defaults again after its name:
    /// some contain it. Fails if the hook refuses, or cannot decode an object that the schema allows.
    pub(super) async fn run_default(&self, document: &mut Document) -> Result<(), Error> {
        let (hooks, schema) = (&self.kind.binding.hooks, &self.kind.version.schema);
        if !hooks.runs(Hook::Defaults) {
            return Ok(());
        }
        if let Some(old) = self.old.filter(|old| schema::rest_is_kept(schema, document, old)) {
            return self.default_kept(document, old).await;
        }
        let done = self.permits.outside(hooks.set_defaults(document, self.context())).await;
        if let Err(why) = self.unless_refused(done, document)? {
            self.undecodable(document, &why)?;
        }
        schema::normalise(schema, document);
        Ok(())
    }

    /// Sets the defaults of an object of which only metadata and status change. Objects that do not decode are written
    /// without them, and an object that violates its schema gets defaults only in its metadata.
    async fn default_kept(&self, document: &mut Document, old: &Document) -> Result<(), Error> {
        let schema = &self.kind.version.schema;
        let status = document.get("status").cloned();
        let done = self.permits.outside(self.kind.binding.hooks.set_defaults(document, self.context())).await;
        if self.unless_refused(done, document)?.is_err() {
            return Ok(());
        }
        schema::normalise(schema, document);
        let changed = document.get("status") != status.as_ref() || !schema::rest_is_kept(schema, document, old);
        if changed && !self.is_sound(document).await? {
            schema::restore(document, old, status);
        }
        Ok(())
    }

    /// True if an object fits the schema, and the hook reports no errors for it alone.
    async fn is_sound(&self, document: &Document) -> Result<bool, Error> {
        Ok(schema::validate(&self.kind.version.schema, document, &self.request.meter)?.is_empty()
            && self.by_itself(document).await?.is_some_and(|errors| errors.is_empty()))
    }

    /// The hook that sets defaults could not decode the object. If the schema reports errors, too, validation describes
    /// them better.
    fn undecodable(&self, document: &Document, why: &str) -> Result<(), Error> {
        let (schema, meter) = (&self.kind.version.schema, &self.request.meter);
        let found = schema::validate(schema, document, meter)?;
        let reported = match self.old {
            Some(old) => schema::validate_change(schema, found.clone(), document, old, meter)?,
            None => found.clone(),
        };
        if !reported.is_empty() {
            return Ok(());
        }
        Err(Error::invalid(self.kind, document, faults_or(found, why)))
    }

    /// The errors of the validate hook that count.
    pub(super) async fn hook_errors(&self, document: &Document) -> Result<Vec<FieldError>, Error> {
        let (hooks, schema) = (&self.kind.binding.hooks, &self.kind.version.schema);
        if !hooks.runs(Hook::Validation) {
            return Ok(Vec::new());
        }
        let found = self.permits.outside(hooks.validate(document, self.context())).await;
        Ok(match (self.unless_refused(found, document)?, self.old) {
            (Ok(found), Some(old)) if !found.is_empty() => self.brought_about(found, document, old).await?,
            (Ok(found), _) => found,
            (Err(_), Some(old)) if schema::rest_is_kept(schema, document, old) => Vec::new(),
            (Err(why), _) => faults_or(schema::validate(schema, document, &self.request.meter)?, &why),
        })
    }

    /// The errors of a validate hook that the write causes.
    async fn brought_about(
        &self,
        mut found: Vec<FieldError>,
        document: &Document,
        old: &Document,
    ) -> Result<Vec<FieldError>, Error> {
        let schema = &self.kind.version.schema;
        match self.by_itself(old).await? {
            // Errors about unchanged values that are reported for the old object, too, are not the write's.
            Some(known) => found.retain(|error| {
                let origin = schema::origin(schema, document, old, error.path.as_str());
                let was = (origin.path.as_str(), &error.kind, &error.detail);
                !origin.kept || !known.iter().any(|known| (known.path.as_str(), &known.kind, &known.detail) == was)
            }),
            None if schema::rest_is_kept(schema, document, old) => found.clear(),
            None => {}
        }
        Ok(found)
    }

    /// The errors that a validate hook reports for an object alone, as if the server had just created it: rules about
    /// changes and users do not apply. `None` if the object does not decode.
    async fn by_itself(&self, document: &Document) -> Result<Option<Vec<FieldError>>, Error> {
        let hooks = &self.kind.binding.hooks;
        if !hooks.runs(Hook::Validation) {
            return Ok(Some(Vec::new()));
        }
        let (user, warnings) = (Arc::new(User::system()), Warnings::default());
        let context = HookContext {
            dry_run: true,
            server: Some(self.api),
            ..HookContext::new(&self.kind.version.schema, &user, &warnings)
        };
        let found = self.permits.outside(hooks.validate(document, context)).await;
        Ok(self.unless_refused(found, document)?.ok())
    }

    /// The name that the hook of a kind generates for a new object in its version, if it does.
    pub(super) async fn name_by_hook(
        &self,
        kind: &Kind,
        document: &Document,
        base: &str,
    ) -> Result<Option<String>, Error> {
        let hooks = &kind.binding.hooks;
        if !hooks.runs(Hook::Name) {
            return Ok(None);
        }
        let name = self.permits.outside(hooks.generate_name(document, base)).await;
        Ok(self.unless_refused(name, document)?.unwrap_or_default())
    }

    /// Runs the kind's hook that decides about valid writes and deletions. Objects that it cannot decode have passed
    /// validation because only metadata and status change.
    pub(super) async fn run_admit(&self, operation: Operation, document: &Document) -> Result<(), Error> {
        let hooks = &self.kind.binding.hooks;
        if !hooks.runs(Hook::Admission) {
            return Ok(());
        }
        let context = HookContext { operation, ..self.context() };
        let done = self.permits.outside(hooks.admit(document, context)).await;
        self.unless_refused(done, document).map(drop)
    }

    /// The result of a hook unless it refuses; an error says why the hook cannot decode the object.
    fn unless_refused<T>(&self, result: Result<T, HookError>, document: &Document) -> Result<Result<T, String>, Error> {
        match result {
            Ok(done) => Ok(Ok(done)),
            Err(HookError::Undecodable(why)) => Ok(Err(why)),
            Err(HookError::Refused(refusal)) => {
                Err(Error::refused(refusal, self.kind, metadata::text(document, "name")))
            }
        }
    }

    fn context(&self) -> HookContext<'_> {
        HookContext {
            operation: self.operation(),
            old: self.old,
            schema: &self.kind.version.schema,
            user: &self.request.user,
            dry_run: self.options.dry_run,
            subresource: self.subresource(),
            field_manager: self.options.manager(),
            warnings: &self.request.warnings,
            server: Some(self.api),
        }
    }
}

/// The schema's errors for an object that does not decode into the hooks' type, because they have paths. If there are
/// none, the decoding error.
fn faults_or(faults: Vec<FieldError>, why: &str) -> Vec<FieldError> {
    if !faults.is_empty() {
        return faults;
    }
    vec![fault_of_object(format!("the kind's hooks cannot decode the object: {why}"))]
}

/// An error about the whole object.
pub(super) fn fault_of_object(detail: String) -> FieldError {
    FieldError::new(&FieldPath::root(), FieldErrorKind::Invalid("object".into()), detail)
}
