//! Objects that could not be read while their conversion webhook was down. kube-apiserver converts them anew in each request.
use std::{collections::HashSet, future::ready, sync::Arc, time::Duration};

use tokio::{sync::watch as signal, task::JoinSet, time::sleep_until};

use super::{Definitions, retry::Retry};
use crate::{kind::Definition, registry::ResourceEntry, tasks, verbs::Verbs};

/// The wait before such objects are read again. Each further wait doubles.
pub(super) const REREAD_AFTER: Duration = Duration::from_secs(2);

/// The longest wait: a webhook may refuse an object for ever.
pub(super) const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Reads such objects of resources that no stored definition declares, at once and again, until the stop signal.
pub(crate) async fn run(api: Arc<Verbs>, mut stop: signal::Receiver<bool>) {
    let (mut retry, mut tried) = (Retry::now(), HashSet::new());
    loop {
        let (_, generation) = api.registry.resources();
        let unread = unread(&api);
        // Resources that were not tried yet do not wait.
        let is_new = unread.iter().any(|resource| !tried.contains(&resource.number));
        tokio::select! {
            biased;
            _ = stop.wait_for(|stopping| *stopping) => return,
            () = sleep_until(retry.at), if !is_new => {}
            () = ready(()), if is_new => {}
            _ = api.registry.after(generation), if !is_new => continue,
        }
        tried = unread.iter().map(|resource| resource.number).collect();
        let mut reading = JoinSet::new();
        for before in unread {
            let (registry, stop) = (api.registry.clone(), stop.clone());
            reading.spawn(tasks::boxed(async move { registry.reread(&before, stop).await }));
        }
        let mut all_read = true;
        while let Some(read) = reading.join_next().await {
            all_read &= read.ok().flatten().is_some_and(|now| now.records.unread() == 0);
        }
        retry = if all_read { Retry::after(REREAD_AFTER) } else { retry.longer(REREAD_AFTER, LONGEST_WAIT) };
    }
}

/// The resources that no stored definition declares, with objects that could not be converted.
fn unread(api: &Verbs) -> Vec<Arc<ResourceEntry>> {
    let (resources, _) = api.registry.resources();
    let is_unread = |resource: &&Arc<ResourceEntry>| resource.definition_row.is_none() && resource.records.unread() > 0;
    resources.iter().filter(is_unread).cloned().collect()
}

impl Definitions {
    /// The definitions with objects that a conversion webhook could not convert when they were read, unless a task is about them.
    pub(super) fn unread(&self) -> impl Iterator<Item = (&String, &(Definition, Arc<ResourceEntry>))> {
        let served = self.states.iter().filter_map(|(name, state)| Some((name, state.served.as_ref()?)));
        served.filter(|(name, (_, served))| {
            served.records.unread() > 0 && !self.servings.has(name) && !self.removals.has(*name)
        })
    }

    /// Reads such objects again, in tasks.
    pub(super) fn reread(&mut self) {
        let unread: Vec<_> = self.unread().map(|(name, served)| (name.clone(), served.clone())).collect();
        for (name, (definition, before)) in unread {
            self.servings.reread(&name, definition, self.access.api.registry.clone(), before);
        }
    }
}
