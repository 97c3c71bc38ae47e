//! Objects that could not be read while their conversion webhook was down. kube-apiserver converts them anew in each request.
use std::{sync::Arc, time::Duration};

use tokio::{sync::watch as signal, task::spawn_blocking, time::sleep};

use super::Definitions;
use crate::{registry::Registered, verbs::Verbs};

/// The wait before such objects are read again. Each further wait doubles.
pub(super) const REREAD_AFTER: Duration = Duration::from_secs(2);

/// The longest wait: a webhook may refuse an object for ever.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Reads such objects of resources that no stored definition declares, until the stop signal.
pub(crate) async fn run(api: Arc<Verbs>, mut stop: signal::Receiver<bool>) {
    let mut wait = REREAD_AFTER;
    loop {
        tokio::select! {
            biased;
            _ = stop.wait_for(|stopping| *stopping) => return,
            () = sleep(wait) => {}
        }
        let (resources, _) = api.registry.resources();
        let is_unread = |served: &&Arc<Registered>| served.declarer.is_none() && served.records.unread() > 0;
        let mut all_read = true;
        for before in resources.iter().filter(is_unread) {
            let (registry, before) = (api.registry.clone(), before.clone());
            let now = spawn_blocking(move || registry.reread(&before)).await.ok().flatten();
            all_read &= now.is_some_and(|now| now.records.unread() == 0);
        }
        wait = if all_read { REREAD_AFTER } else { LONGEST_WAIT.min(wait * 2) };
    }
}

impl Definitions {
    /// The definitions with objects that a conversion webhook could not convert when they were read.
    pub(super) fn unread(&self) -> impl Iterator<Item = (&String, &Arc<Registered>)> {
        let served = self.known.iter().filter_map(|(name, known)| Some((name, &known.served.as_ref()?.1)));
        served.filter(|(_, served)| served.records.unread() > 0)
    }

    /// Reads such objects again. Returns the wait before the next time.
    pub(super) async fn reread(&mut self, waited: Duration) -> Duration {
        let unread: Vec<_> = self.unread().map(|(name, served)| (name.clone(), served.clone())).collect();
        for (name, before) in unread {
            let registry = self.access.api.registry.clone();
            let Ok(Some(now)) = spawn_blocking(move || registry.reread(&before)).await else { continue };
            if let Some((_, served)) = self.known.get_mut(&name).and_then(|known| known.served.as_mut()) {
                *served = now;
            }
        }
        let all_read = self.unread().next().is_none();
        if all_read { REREAD_AFTER } else { LONGEST_WAIT.min(waited * 2) }
    }
}
