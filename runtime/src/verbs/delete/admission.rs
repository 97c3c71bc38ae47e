//! Admission of a deletion: the hooks of the requested version and those of the storage version, then the plugins.
use std::sync::Arc;

use super::super::{
    Error, Request, Verbs,
    pipeline::Write,
    rewrite::document_of,
    turns::Turn,
    versions::{in_stored_version, shown_or_metadata},
};
use crate::{
    cache::Object,
    kind::{Kind, binding::Hook},
    meta::{
        Operation,
        options::{DeleteOptions, WriteOptions},
    },
    schema::Document,
};

impl Verbs {
    /// Asks hooks and plugins whether an object may be deleted, which is `old` in the storage version. As in kube-apiserver,
    /// they see it in the version of the request; the hooks of the storage version see it as it is stored.
    ///
    /// # Errors
    /// If one of them refuses, or has side effects and this is a dry run.
    pub(super) async fn admit_end(
        &self,
        request: &Request,
        options: &DeleteOptions,
        turn: &Turn,
        (object, old): (&Arc<Object>, &Document),
    ) -> Result<(), Error> {
        let decides = |kind: &Kind| {
            let hooks = &kind.binding.hooks;
            hooks.runs(Hook::Admission) || options.dry_run && hooks.has_side_effects()
        };
        let own = decides(&request.served.kind);
        let stored = request.served.stored.as_ref().is_some_and(|stored| decides(&stored.kind));
        if !own && !stored && !self.admits(Operation::Delete) {
            return Ok(());
        }
        let seen = match &request.served.stored {
            Some(_) => Some(document_of(&*shown_or_metadata(request, Some(turn), object).await?)?),
            None => None,
        };
        let seen = seen.as_ref().unwrap_or(old);
        let write = WriteOptions { dry_run: options.dry_run, ..WriteOptions::default() };
        if own {
            let write = Write { turn: Some(turn), ..Write::of_body(self, request, &write, &[]) };
            write.check_dry_run()?;
            write.run_admit(Operation::Delete, seen, Some(seen)).await?;
        }
        if stored {
            let request = in_stored_version(request);
            let write = Write { turn: Some(turn), ..Write::of_body(self, &request, &write, &[]) };
            write.check_dry_run()?;
            write.run_admit(Operation::Delete, old, Some(old)).await?;
        }
        self.admit_deletion(request, options, turn, Some(seen)).await
    }
}
