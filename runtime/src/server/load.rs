//! From a builder to an app, from the store up: store, cache, kinds, users, the objects every server has, controllers.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::{
    sync::Notify,
    task::{JoinSet, spawn_blocking},
};

use super::{
    App, Error, Result,
    access::{self, Access},
    builder::{Builder, Keep},
    state::StateDir,
};
use crate::{
    builtin::{self, Controllers},
    cache::{self, Cache},
    handlers::{Handlers, Pending},
    http::{self, Health, Service},
    kind::{Kind, Registry, by_resource},
    meta::Revision,
    storage::{Embedded, Memory, Options, Store},
    verbs::Api,
};

impl Builder {
    /// Opens the store, loads what is in it, and starts the controllers: from here on requests are answered, by
    /// [`App::service`] and, once it [runs](App::run), on a listener.
    ///
    /// # Errors
    /// [`Error`] where the server cannot start.
    pub async fn build(mut self) -> Result<App> {
        check_clock(SystemTime::now())?;
        let state = match &self.keep {
            Keep::Unsaid => return Err(Error::NoStore),
            Keep::Memory => StateDir::temporary()?,
            Keep::Disk(path) => StateDir::open(path)?,
        };
        let handlers = std::mem::take(&mut self.handlers);
        let (api, handlers) =
            load(&self.keep, &state, self.limits.clone(), self.entrance.samples.kinds.clone(), handlers).await?;
        // Only now is the directory locked, and no other server makes the same files.
        let Access { authenticator, authorizer, admin, token_file } = access::of(&mut self, &state)?;
        builtin::bootstrap(&api).await.map_err(Error::Bootstrap)?;
        let controllers = self.controllers.then(|| Controllers::start(api.clone()));
        let health = health(&api.store);
        let service = Service::new(Arc::new(http::App {
            api: api.clone(),
            handlers: handlers.clone(),
            authenticator,
            authorizer,
            health: health.clone(),
            version: http::VersionInfo::default(),
            limits: http::Limits::default(),
        }));
        let (mut following, read_now) = (JoinSet::new(), Arc::new(Notify::new()));
        if let Some(file) = token_file {
            following.spawn(file.follow(Arc::clone(&read_now)));
        }
        let (entrance, stop_within) = (self.entrance, self.stop_within);
        Ok(App {
            api,
            handlers,
            service,
            health,
            controllers,
            following,
            read_now,
            admin,
            entrance,
            stop_within,
            state,
        })
    }
}

/// From 1970 to the end of 9999, in UTC.
const END_OF_DATES: Duration = Duration::from_hours(70_389_528);

/// Refuses a clock that the `Date` header cannot show: connections would panic. Linux lets no clock be set before 1970 later.
fn check_clock(now: SystemTime) -> Result<()> {
    match now.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) if since < END_OF_DATES => Ok(()),
        _ => Err(Error::Clock),
    }
}

/// Where the revisions of a new store begin: past the numbers that counts, ports and sizes in objects and messages have,
/// so that people and tools that compare answers tell a resourceVersion from them.
const ORIGIN: Revision = Revision(1_000);

/// Opens the store, loads the cache and registers the kinds. Both block on the disk, so they have a thread of their own.
async fn load(
    keep: &Keep,
    state: &StateDir,
    limits: cache::Limits,
    kinds: Vec<Kind>,
    handlers: Pending,
) -> Result<(Arc<Api>, Arc<Handlers>)> {
    let on_disk = matches!(keep, Keep::Disk(_));
    let path = state.path().to_owned();
    let load = move || {
        let store: Arc<dyn Store> = if on_disk {
            Arc::new(Embedded::open(path, Options { origin: ORIGIN, ..Options::default() }).map_err(Error::Store)?)
        } else {
            Arc::new(Memory::starting_after(ORIGIN))
        };
        let cache = Cache::new(store.clone(), limits);
        let registry = Arc::new(Registry::new(cache.clone()));
        let mut kinds: Vec<Kind> = builtin::kinds().into_iter().chain(kinds).collect();
        handlers.declare(&mut kinds).map_err(Error::Kind)?;
        for versions in by_resource(kinds) {
            registry.register(versions).map_err(Error::Kind)?;
        }
        let handlers = Arc::new(handlers.mount(&registry).map_err(Error::Kind)?);
        Ok((Api::new(registry, cache, store), handlers))
    };
    spawn_blocking(load).await.expect("loading the cache does not panic")
}

/// What the health endpoints report.
fn health(store: &Arc<dyn Store>) -> Health {
    let (writes, damaged) = (store.clone(), store.clone());
    Health::default()
        .with_readiness("store", move || writes.health().refuses_writes.is_none())
        .with_note(move || damage(&*damaged))
}

/// What `/readyz?verbose` says of damage. Anybody may ask, so that it names no object.
fn damage(store: &dyn Store) -> Option<String> {
    let count = store.health().damage.count;
    (count > 0).then(|| format!("store: {count} stored values are damaged and cannot be read; the log names them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_no_date_can_show_is_refused() {
        let second = Duration::from_secs(1);
        for now in [SystemTime::now(), SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + END_OF_DATES - second] {
            check_clock(now).unwrap();
        }
        for now in [SystemTime::UNIX_EPOCH - second, SystemTime::UNIX_EPOCH + END_OF_DATES] {
            let error = check_clock(now).unwrap_err().to_string();
            assert!(error.contains("the system's clock"), "{error}");
        }
    }
}
