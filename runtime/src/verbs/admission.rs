//! Admission: steps that may change or refuse a write between decoding and storing it.
use std::{sync::Arc, time::Instant};

use super::{Error, Request, Verbs};
use crate::{
    cache::Object,
    kind::Kind,
    meta::Operation,
    metrics::{self, Step},
    schema::Document,
    storage::Hold,
};

/// A write on its way to the store.
pub struct Attributes<'a> {
    /// The authorized request.
    pub request: &'a Request,
    /// The current object; `None` if the write creates it.
    pub old: Option<&'a Document>,
    /// True if nothing will be stored.
    pub dry_run: bool,
}

/// A step of admission. Steps run in order: first all of them may change the object, then all of them may refuse the
/// result. Changes that the write itself may not make are undone: no step can forge a uid, or write the spec through
/// `/status`.
pub trait Admission: Send + Sync {
    /// Its name in metrics: that of its type, unless it says otherwise.
    fn name(&self) -> &str {
        std::any::type_name::<Self>().rsplit("::").next().unwrap_or_default()
    }

    /// May change the object or refuse it.
    ///
    /// # Errors
    /// The reason for refusing the write.
    fn admit(&self, api: &Verbs, attributes: &Attributes<'_>, object: &mut Document) -> Result<(), Error> {
        let _ = (api, attributes, object);
        Ok(())
    }

    /// May refuse the object as it will be stored.
    ///
    /// # Errors
    /// The reason for refusing the write.
    fn validate(&self, api: &Verbs, attributes: &Attributes<'_>, object: &Document) -> Result<(), Error> {
        let _ = (api, attributes, object);
        Ok(())
    }

    /// May refuse a deletion.
    ///
    /// # Errors
    /// The reason for refusing the deletion.
    fn delete(&self, api: &Verbs, request: &Request) -> Result<(), Error> {
        let _ = (api, request);
        Ok(())
    }
}

/// A step of admission, and how long it took.
pub(super) struct Plugin {
    pub(super) step: Arc<dyn Admission>,
    pub(super) durations: metrics::Admission,
}

impl Verbs {
    /// Runs all steps of admission, and measures each of them and all together. Does nothing without steps.
    ///
    /// # Errors
    /// Why a step refuses the request.
    pub(super) fn run_admission(
        &self,
        step: Step,
        operation: Operation,
        mut run: impl FnMut(&dyn Admission) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.admission.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        let result = self.admission.iter().try_for_each(|plugin| {
            let start = Instant::now();
            let result = run(&*plugin.step);
            plugin.durations.observe(step, operation, result.is_err(), start.elapsed());
            result
        });
        self.admission_durations.observe(step, operation, result.is_err(), start.elapsed());
        result
    }

    /// How long admission took: each step by name, and under no name all steps together.
    pub fn admission_durations(&self) -> impl Iterator<Item = (Option<&str>, &metrics::Admission)> {
        let each = self.admission.iter().map(|plugin| (Some(plugin.step.name()), &plugin.durations));
        each.chain([(None, &self.admission_durations)])
    }
}

/// Refuses a new object in a namespace that is missing or terminating. Returns the condition on the namespace for the
/// commit. If namespaces are not served, every namespace exists.
///
/// Between this check and the commit the namespace could be marked, emptied and removed, which would leave the new
/// object behind. So the commit requires the namespace's checked revision. Every object whose creation saw an active
/// namespace is therefore stored, and visible, before the mark. The lifecycle controller lists after the mark, so no
/// object is left behind, however many servers share the store.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Forbidden`].
pub(super) fn hold_namespace(api: &Verbs, request: &Request, name: &str) -> Result<Option<Hold>, Error> {
    if request.namespace.is_empty() {
        return Ok(None);
    }
    let Some(namespaces) = api.registry.namespaces() else { return Ok(None) };
    let Some(namespace) = namespaces.objects.snapshot().get(&request.namespace) else {
        return Err(Error::NotFound(namespaces.kind.group_resource(), request.namespace.clone()));
    };
    if !is_terminating(&namespaces.kind, &namespace) {
        let key = format!("{}{}", namespaces.objects.prefix(), request.namespace).into();
        return Ok(Some(Hold { key, revision: Some(namespace.revision()) }));
    }
    let namespace = &request.namespace;
    Err(Error::Forbidden {
        resource: request.served.kind.group_resource(),
        name: name.to_owned(),
        message: format!("unable to create new content in namespace {namespace} because it is being terminated"),
        causes: vec![(
            "NamespaceTerminating".to_owned(),
            format!("namespace {namespace} is being terminated"),
            "metadata.namespace".to_owned(),
        )],
    })
}

/// Refuses the deletion of objects that every cluster needs.
///
/// # Errors
/// [`Error::Forbidden`].
pub(super) fn check_deletion(request: &Request) -> Result<(), Error> {
    let kind = &*request.served.kind;
    let Some(why) = kind.policy().refuses_deletion(&request.name) else { return Ok(()) };
    Err(Error::Forbidden {
        resource: kind.group_resource(),
        name: request.name.clone(),
        message: why.to_owned(),
        causes: Vec::new(),
    })
}

/// Reads the phase from the selectable fields, which the cache has ready.
fn is_terminating(kind: &Kind, namespace: &Object) -> bool {
    let mut fields = kind.version.selectable.iter().enumerate();
    fields.any(|(position, path)| kind.policy().is_closed_by(&path.0, namespace.field(position)))
}
