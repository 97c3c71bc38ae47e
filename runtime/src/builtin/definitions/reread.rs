//! Objects that could not be read while their conversion webhook was down. kube-apiserver converts them anew in each request.
use std::{sync::Arc, time::Duration};

use tokio::task::spawn_blocking;

use super::Definitions;
use crate::registry::Registered;

/// The wait before such objects are read again. Each further wait doubles.
pub(super) const REREAD_AFTER: Duration = Duration::from_secs(2);

/// The longest wait: a webhook may refuse an object for ever.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

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
