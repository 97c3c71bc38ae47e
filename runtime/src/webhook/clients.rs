//! The clients of webhooks, made when they are called first.
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{Resolver, connection::Client, pool::Pool};
use crate::kind::convert::{Question, Webhook};

/// The maximum number of clients that are kept.
const MOST_CLIENTS: usize = 1_024;

/// A webhook, and the address that the resolver gave.
type Target = (Arc<Webhook>, Option<String>);

/// The clients of webhooks. Definitions with the same webhook share one.
pub(super) struct Clients {
    resolver: Option<Resolver>,
    /// How long a call may take.
    timeout: Duration,
    pool: Arc<Pool>,
    known: Mutex<HashMap<Target, Known>>,
}

/// A client, and the definitions that have called it.
struct Known {
    client: Arc<Client>,
    definitions: HashSet<Arc<str>>,
}

impl Clients {
    pub(super) fn new(resolver: Option<Resolver>, timeout: Duration) -> Self {
        Self { resolver, timeout, pool: Arc::default(), known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Target, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client of who answers a question.
    pub(super) fn of(&self, question: &Question) -> Arc<Client> {
        let (webhook, definition) = (&question.webhook, &question.definition);
        let address =
            webhook.service.as_ref().zip(self.resolver.as_ref()).and_then(|(service, resolver)| resolver(service));
        let key = (webhook.clone(), address);
        let use_known = |known: &mut Known| {
            if !known.definitions.contains(definition) {
                known.definitions.insert(definition.clone());
            }
            known.client.clone()
        };
        if let Some(known) = self.known().get_mut(&key) {
            return use_known(known);
        }
        // Not under the lock, because this may read files.
        let client = Arc::new(Client::new(webhook, key.1.clone(), &self.pool, self.timeout));
        let mut all = self.known();
        if all.len() >= MOST_CLIENTS {
            all.clear();
        }
        use_known(all.entry(key).or_insert(Known { client, definitions: HashSet::new() }))
    }

    /// Forgets the clients that only a definition has called, which was removed.
    pub(super) fn forget(&self, definition: &str) {
        self.known().retain(|_, known| {
            known.definitions.remove(definition);
            !known.definitions.is_empty()
        });
    }
}
