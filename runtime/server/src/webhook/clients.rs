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
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    by_target: HashMap<Target, Entry>,
    /// The number of the last use of any.
    last_use: u64,
}

/// A client, and the definitions that have called it.
struct Entry {
    client: Arc<Client>,
    definitions: HashSet<Arc<str>>,
    last_use: u64,
}

impl Entries {
    fn call(&mut self, target: &Target, definition: &Arc<str>) -> Option<Arc<Client>> {
        let entry = self.by_target.get_mut(target)?;
        self.last_use += 1;
        entry.last_use = self.last_use;
        if !entry.definitions.contains(definition) {
            entry.definitions.insert(definition.clone());
        }
        Some(entry.client.clone())
    }

    fn add(&mut self, target: &Target, client: Client) {
        if self.by_target.len() >= MOST_CLIENTS {
            self.evict();
        }
        let entry = Entry { client: client.into(), definitions: HashSet::new(), last_use: 0 };
        self.by_target.entry(target.clone()).or_insert(entry);
    }

    /// Removes the client that no call has used for the longest time. One with a call stays, and with it what is known of its
    /// webhook.
    fn evict(&mut self) {
        let unused = self.by_target.iter().filter(|(_, entry)| Arc::strong_count(&entry.client) == 1);
        let oldest = unused.min_by_key(|(_, entry)| entry.last_use).map(|(target, _)| target.clone());
        if let Some(oldest) = oldest {
            self.by_target.remove(&oldest);
        }
    }
}

impl Clients {
    pub(super) fn new(resolver: Option<Resolver>, timeout: Duration) -> Self {
        Self { resolver, timeout, pool: Arc::default(), entries: Mutex::default() }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client of who answers a question.
    pub(super) fn of(&self, question: &Question) -> Arc<Client> {
        let (webhook, definition) = (&question.webhook, &question.definition);
        let address =
            webhook.service.as_ref().zip(self.resolver.as_ref()).and_then(|(service, resolver)| resolver(service));
        let target = (webhook.clone(), address);
        if let Some(client) = self.entries().call(&target, definition) {
            return client;
        }
        // Not under the lock, because this may read files.
        let client = Client::new(webhook, target.1.clone(), &self.pool, self.timeout);
        let mut entries = self.entries();
        entries.add(&target, client);
        entries.call(&target, definition).expect("it was added")
    }

    /// Forgets the clients that only this definition has called, except those of the webhook that it has now.
    pub(super) fn forget_others(&self, definition: &str, now: Option<&Arc<Webhook>>) {
        self.entries().by_target.retain(|(webhook, _), entry| {
            now == Some(webhook) || {
                entry.definitions.remove(definition);
                !entry.definitions.is_empty()
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        kind::{
            Convert,
            convert::{Answers, ByWebhook},
        },
        meta::GroupVersion,
    };

    fn question(webhook: usize, definition: &str) -> Question {
        let version = |name: &str| GroupVersion { group: "g".to_owned(), version: name.to_owned() };
        let webhook = Webhook { url: Some(format!("http://{webhook}/")), ..Webhook::default() };
        let (here, stored) = (version("v2"), version("v1"));
        let conversion =
            ByWebhook { webhook: webhook.into(), definition: definition.into(), kind: "K".to_owned(), here, stored };
        Answers::default().attempt(|answers| conversion.read_with(json!({}), answers)).unwrap_err().remove(0)
    }

    #[test]
    fn the_client_that_was_not_used_for_longest_makes_room_unless_it_has_a_call() {
        let clients = Clients::new(None, Duration::from_secs(30));
        let calling = clients.of(&question(0, "a"));
        for webhook in 1..MOST_CLIENTS {
            clients.of(&question(webhook, "a"));
        }
        let again = Arc::downgrade(&clients.of(&question(1, "a")));
        clients.of(&question(MOST_CLIENTS, "b"));
        let targets = |webhook: usize| {
            let url = format!("http://{webhook}/");
            clients.entries().by_target.keys().any(|(webhook, _)| webhook.url.as_ref() == Some(&url))
        };
        assert!(Arc::ptr_eq(&calling, &clients.of(&question(0, "a"))));
        assert!(again.upgrade().is_some() && targets(MOST_CLIENTS) && !targets(2) && targets(3));
        assert_eq!(clients.entries().by_target.len(), MOST_CLIENTS);
    }

    #[test]
    fn the_client_of_a_webhook_that_a_definition_had_before_is_forgotten() {
        let clients = Clients::new(None, Duration::from_secs(30));
        for (webhook, definition) in [(0, "a"), (0, "b"), (1, "a"), (2, "a")] {
            clients.of(&question(webhook, definition));
        }
        clients.forget_others("a", Some(&question(2, "a").webhook));
        let mut left: Vec<_> = clients.entries().by_target.keys().map(|(webhook, _)| webhook.url.clone()).collect();
        left.sort();
        assert_eq!(left, [Some("http://0/".to_owned()), Some("http://2/".to_owned())]);
        clients.forget_others("b", None);
        clients.forget_others("a", None);
        assert!(clients.entries().by_target.is_empty());
    }
}
