//! Whether services are available: asks each for its discovery document, and writes the condition `Available`. A service is checked
//! when its object appears or changes, when it could not be reached, every half a minute, and, as long as it fails, after growing
//! delays.
use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{Aggregation, Entry, RemoteServer};
use crate::{
    builtin::{APIService, api_services::APIServiceCondition},
    cache::Subscription,
    handlers::Client,
    tasks,
};

/// How often an available service is checked, and the longest delay after failures.
const PERIOD: Duration = Duration::from_secs(30);
/// The delay after the first failure. Each further one is twice as long.
const FIRST_DELAY: Duration = Duration::from_millis(100);
/// The least time between two checks because of failed requests.
const LEAST: Duration = Duration::from_secs(1);
/// The maximum size of an answer.
const MOST_BYTES: usize = 8 << 20;
/// The maximum number of checks at a time.
const AT_ONCE: usize = 16;

/// What is known of the service of an object.
struct Known {
    server: Arc<RemoteServer>,
    /// The next check; `None` while one runs.
    next: Option<Instant>,
    last: Instant,
    failures: u32,
}

/// The result of a check.
struct Checked {
    name: String,
    server: Arc<RemoteServer>,
    result: Result<(), String>,
}

/// The services, and the running checks.
#[derive(Default)]
struct Checks {
    known: HashMap<String, Known>,
    running: JoinSet<Checked>,
}

impl Aggregation {
    /// Writes conditions until it must stop, or until the cache is closed.
    pub(crate) async fn keep_conditions(&self, client: &Client, stop: impl Future<Output = ()>) {
        tokio::select! {
            biased;
            () = stop => {}
            () = self.check_all(client) => {}
        }
    }

    async fn check_all(&self, client: &Client) {
        let mut checks = Checks::default();
        loop {
            let snapshot = self.objects.snapshot();
            let Ok(mut changes) = self.objects.watch(snapshot.revision(), Subscription::All, None).await else {
                tokio::time::sleep(LEAST).await;
                continue;
            };
            loop {
                checks.renew(self, client).await;
                let next = checks.start(self);
                tokio::select! {
                    change = changes.next() => match change {
                        Some(Ok(_)) => {}
                        Some(Err(_)) => break,
                        None => return,
                    },
                    Some(checked) = checks.running.join_next() => {
                        if let Ok(checked) = checked {
                            checks.finish(checked, client).await;
                        }
                    }
                    () = self.failed.notified() => checks.hurry(),
                    () = sleep_until(next) => {}
                }
            }
        }
    }
}

impl Checks {
    /// Takes in the objects as of now. Those without a service are available.
    async fn renew(&mut self, aggregation: &Aggregation, client: &Client) {
        let table = aggregation.table();
        self.known.retain(|name, _| table.remotes().any(|(entry, _)| entry.name == *name));
        for entry in table.iter() {
            let Some(server) = &entry.server else {
                if !entry.is_available {
                    write(client, &entry.name, None, APIServiceCondition::local()).await;
                }
                continue;
            };
            if self.known.get(&entry.name).is_none_or(|known| !Arc::ptr_eq(&known.server, server)) {
                let now = Instant::now();
                let known = Known { server: server.clone(), next: Some(now), last: now, failures: 0 };
                self.known.insert(entry.name.clone(), known);
            }
        }
    }

    /// Starts the checks that are due. Returns when the next one is.
    fn start(&mut self, aggregation: &Aggregation) -> Instant {
        let (table, now) = (aggregation.table(), Instant::now());
        for (entry, server) in table.remotes() {
            let Some(known) = self.known.get_mut(&entry.name) else { continue };
            if self.running.len() < AT_ONCE && known.next.is_some_and(|next| next <= now) {
                (known.next, known.last) = (None, now);
                let (entry, server) = (entry.clone(), server.clone());
                self.running.spawn(tasks::boxed(async move {
                    let result = check(&entry, &server).await;
                    Checked { name: entry.name.clone(), server, result }
                }));
            }
        }
        if self.running.len() >= AT_ONCE {
            // The end of one of them wakes this up.
            return now + PERIOD;
        }
        self.known.values().filter_map(|known| known.next).min().unwrap_or(now + PERIOD)
    }

    /// Checks soon, because a request could not be passed on.
    fn hurry(&mut self) {
        for known in self.known.values_mut() {
            known.next = known.next.map(|next| next.min(known.last + LEAST));
        }
    }

    async fn finish(&mut self, checked: Checked, client: &Client) {
        let Checked { name, server, result } = checked;
        // The object may have gone, or may name another service by now.
        let Some(known) = self.known.get_mut(&name).filter(|known| Arc::ptr_eq(&known.server, &server)) else { return };
        let delay = if result.is_ok() {
            known.failures = 0;
            PERIOD
        } else {
            known.failures = known.failures.saturating_add(1);
            PERIOD.min(FIRST_DELAY * 2_u32.pow(known.failures.min(10) - 1))
        };
        known.next = Some(Instant::now() + delay);
        let condition = match result {
            Ok(()) => APIServiceCondition::available(true, "Passed", "all checks passed"),
            Err(why) => APIServiceCondition::available(false, "FailedDiscoveryCheck", why),
        };
        write(client, &name, Some(&server), condition).await;
    }
}

/// Asks a service for the discovery document of its version.
async fn check(entry: &Entry, server: &Arc<RemoteServer>) -> Result<(), String> {
    server.sweep();
    let (path, host) = (entry.path(), server.host());
    let url = format!("https://{host}{path}");
    let failed = |why: String| format!("failing or missing response from {url}: {why}");
    match server.get(&path, "*/*", MOST_BYTES).await {
        Ok((code, ..)) if code.is_success() => Ok(()),
        Ok((code, ..)) => Err(failed(format!("bad status from {url}: {}", code.as_u16()))),
        Err(why) => Err(failed(format!("Get {url:?}: {why}"))),
    }
}

/// Writes a condition, if the object still names this server. A conflict is solved by the next check.
async fn write(client: &Client, name: &str, server: Option<&RemoteServer>, condition: APIServiceCondition) {
    let expected = server.map(|server| &server.settings);
    let change = |service: &mut APIService| {
        if super::table::settings(service).as_ref() == expected {
            service.status.set_availability(condition.clone());
        }
        Ok(())
    };
    if let Err(error) = client.of::<APIService>("").change_status(name, change).await {
        tracing::debug!(name, %error, "the condition of an APIService could not be written");
    }
}
