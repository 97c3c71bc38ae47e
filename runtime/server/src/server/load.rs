//! Builds an app from a builder, bottom up: store, cache, kinds, users, initial objects, controllers.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::{sync::watch, task::JoinSet};

use super::{
    App, Error, Limits, Result,
    access::Access,
    account_keys::{self, KeyFile},
    aggregation::Front,
    builder::{Builder, Check, Core, RegisterMetrics},
    controllers::{self, Controller, ControllerTasks, Host},
    definition_files::{self, InitialDefinitions, KindHooks},
    files::FileWatcher,
    listen::Entrance,
    state::StateDir,
    stores::OpenStore,
};
use crate::{
    Resource,
    builtin::{
        self, Controllers, Definitions, Lease, ServiceAccount,
        accounts::{self, Accounts, Issuer},
        eviction,
        rbac::Guard,
    },
    cache::{Cache, Preload},
    handlers::Pending,
    http::{self, DocumentsAt, Health, Metrics, PathPrefix, Service, VersionInfo},
    kind::{Kind, by_resource},
    registry::{PreparedKind, Preparer, Registry, reader::Identity},
    schema::Document,
    storage::Store,
    tasks,
    verbs::Verbs,
    webhook::Webhooks,
};

impl Builder {
    pub(super) async fn load(mut self) -> Result<App> {
        check_clock(SystemTime::now())?;
        if !self.problems.is_empty() {
            return Err(Error::Kind(self.problems.join("\n")));
        }
        self.users.check(self.entrance.plain_http)?;
        let state = self.core.store.keep.directory()?;
        let initial = self.define().await?;
        let (front, kinds) = (Front::of(&self.core), self.entrance.samples.kinds.clone());
        let ((api, mut handlers, definitions), guard, issuer) =
            self.core.read(&state, self.limits.clone(), kinds).await?;
        // The directory is locked only now, so that no other server creates the same files.
        let key_file = KeyFile::find(self.users.account_keys.take(), &state)?;
        let accounts = Accounts::new(&api, key_file.read()?).map(Arc::new);
        let roles = Arc::new(builtin::rbac::roles(&api));
        let Access { authenticator, authorizer, admin, client_ca, clients, mut files, follow_host } =
            self.users.access(&state, self.entrance.plain_http, accounts.clone(), roles.clone()).await?;
        guard.allow(&roles, &authorizer);
        api.authorize_by(authorizer.clone());
        let secrets = accounts.as_ref().filter(|_| self.builtin_controllers);
        let own_certificate = self.entrance.certificate.is_none();
        let secrets = secrets.map(|accounts| account_keys::secrets_controller(accounts, &state, own_certificate));
        self.controllers.splice(0..0, secrets);
        builtin::answer_reviews(&mut handlers, &authenticator, &authorizer);
        let handlers = Arc::new(handlers.mount());
        bootstrap(&api, &initial.objects).await.map_err(Error::Bootstrap)?;
        let aggregation = front.open(&api, &state, client_ca, &mut self.controllers).await?;
        let metrics = metrics(&api, std::mem::take(&mut self.metrics))?;
        let health = controllers::show(&mut self.controllers, &metrics, health(&api.store, self.checks)?);
        let (builtin, controllers) =
            control(&api, definitions, self.controllers, self.builtin_controllers, self.stop.within)?;
        converted(&api).await;
        let service = Service::new(Arc::new(http::Backend {
            api: api.clone(),
            handlers: handlers.clone(),
            authenticator,
            authorizer,
            health: health.clone(),
            version: version(self.version.as_deref())?,
            documents: serve_accounts(accounts, &issuer, (key_file, &mut files), self.entrance.path_prefix.as_ref())?,
            aggregation,
            limits: http::CurrentLimits::new(self.limits.requests),
            metrics,
        }));
        let service = self.layers.into_iter().fold(service, |service, add| add(service));
        let host = Host::new(&api, &service, self.faults);
        let controllers = ControllerTasks::start(controllers, &host);
        files.extend(self.definition_files.follow(initial, api.registry.clone()));
        files.extend(self.installed.install(&service, api.store.is_shared()).await?);
        files.extend(self.followed.into_iter().map(|follow| follow(&service)));
        let mut app = App {
            api,
            handlers,
            service,
            #[cfg(feature = "kube")]
            in_process: host.in_process.clone(),
            health,
            controllers,
            builtin,
            file_watchers: JoinSet::new(),
            read_now: watch::Sender::new(()),
            admin,
            entrance: Entrance { limits: self.limits.connections, clients, ..self.entrance },
            stop: self.stop,
            state,
        };
        app.follow_all(files, follow_host);
        Ok(app)
    }

    /// Reads the files of definitions, adds their kinds, and adds hooks to kinds that come from documents.
    async fn define(&mut self) -> Result<InitialDefinitions> {
        let (kinds, files) = (&mut self.entrance.samples.kinds, &mut self.definition_files);
        let builtins = if self.core.without_builtins { Vec::new() } else { builtin::kinds() };
        files.declared = builtins.iter().chain(kinds.iter()).map(Kind::group_resource).collect();
        let unattached: Vec<_> = files.hooks.iter().filter(|hooks| !hooks.attach(kinds)).cloned().collect();
        let (files, installed) = (files.clone(), self.installed.clone());
        let reading = tasks::blocking(move || {
            let installed = installed.prepare()?;
            let initial = files.open()?;
            let kinds: Vec<Kind> =
                initial.resources.iter().flat_map(|defined| files.kinds(&defined.resource)).collect();
            Ok::<_, Error>((initial, kinds, installed))
        });
        let (initial, from_files, installed) = reading.await.expect("reading definitions does not panic")?;
        self.installed = installed;
        let missing = unattached.iter().filter(|hooks| !from_files.iter().any(|kind| hooks.is_for(kind)));
        let missing: Vec<String> = missing.map(KindHooks::missing).collect();
        kinds.extend(from_files);
        self.core.replaced.clone_from(&initial.replaced);
        if missing.is_empty() { Ok(initial) } else { Err(Error::Kind(missing.join("\n"))) }
    }
}

impl Core {
    /// Reads the store, and registers the kinds. Returns what guards roles and issues tokens, to be completed.
    async fn read(self, state: &StateDir, limits: Limits, kinds: Vec<Kind>) -> Result<(CoreParts, Guard, Issuer)> {
        let (guard, issuer) = (Guard::default(), Issuer::default());
        let (path, shared) = (state.files.path().to_owned(), (guard.clone(), issuer.clone()));
        let loading = tasks::blocking(move || self.load(path, &limits, kinds, &shared));
        let parts = loading.await.expect("loading the cache does not panic")?;
        // Watches and lists that need history wait for it. If it fails, the first of them tries again.
        tasks::spawn(parts.0.cache.fill_history());
        Ok((parts, guard, issuer))
    }

    /// Opens the store, loads the cache and registers the kinds. Blocks on the disk.
    fn load(
        mut self,
        path: PathBuf,
        limits: &Limits,
        kinds: Vec<Kind>,
        (guard, issuer): &(Guard, Issuer),
    ) -> Result<CoreParts> {
        let transformer = self.transformer.take().unwrap_or_else(|| Arc::new(Identity));
        let webhooks = Arc::new(Webhooks::with_resolver(self.webhook_resolver.take()));
        let builtins = if self.without_builtins { Vec::new() } else { builtin::kinds() };
        let is_served = |kind: &Kind| !self.without_users || !builtin::is_of_users(kind);
        let mut kinds: Vec<Kind> = builtins.into_iter().filter(is_served).chain(kinds).collect();
        if let Some(lifetime) = self.event_lifetime {
            kinds = kinds.into_iter().map(|kind| builtin::event_lifetime(kind, lifetime)).collect();
        }
        guard.protect(&mut kinds);
        let account = ServiceAccount::kind().group_resource();
        if kinds.iter().any(|kind| kind.group_resource() == account) {
            self.handlers.builtin_subresource("token", accounts::subresource(issuer));
        }
        if kinds.iter().any(eviction::is_for) {
            self.handlers.builtin_subresource(eviction::SUBRESOURCE, eviction::subresource());
        }
        self.handlers.declare(&mut kinds).map_err(Error::Kind)?;
        kinds = kinds.into_iter().map(|kind| definition_files::complete(kind, &self.replaced)).collect();
        let preparer = Preparer { transformer: &transformer, webhooks: &webhooks };
        let prepared = by_resource(kinds).into_iter().map(|versions| preparer.prepare(versions));
        let prepared = prepared.collect::<Result<Vec<_>, _>>().map_err(Error::Kind)?;

        // The store is read once: objects are rendered while it is verified.
        let preload = Preload::new(prepared.iter().map(PreparedKind::resource));
        let (open_store, loaded) = OpenStore::open(self.store, path, limits, &preload)?;
        let store = open_store.store.clone();
        let cache = match loaded {
            Some(at) => Cache::preloaded(store.clone(), limits.cache, preload, at),
            None => Cache::new(store.clone(), limits.cache),
        };
        let registry = Arc::new(Registry::with(cache.clone(), transformer, webhooks));
        for kind in prepared {
            registry.register_prepared(&kind).map_err(Error::Kind)?;
        }
        let api = Verbs::with_admission(registry, cache, store, self.admission);
        open_store.serve(&api);
        let definitions = self.definitions.then(|| Definitions::load(&api));
        Ok((api, self.handlers, definitions))
    }
}

/// Gives accounts to their `token` subresource, follows their keys, and returns the documents by which others check tokens.
fn serve_accounts(
    accounts: Option<Arc<Accounts>>,
    issuer: &Issuer,
    (key_file, files): (KeyFile, &mut Vec<FileWatcher>),
    prefix: Option<&PathPrefix>,
) -> Result<DocumentsAt> {
    let Some(accounts) = accounts else { return Ok(DocumentsAt::default()) };
    drop(issuer.set(Arc::downgrade(&accounts)));
    let documents = account_keys::documents(&accounts, prefix);
    files.push(key_file.watch(accounts)?);
    Ok(documents)
}

/// Creates the objects that every server has, and those of overlays.
async fn bootstrap(api: &Arc<Verbs>, objects: &[Document]) -> std::result::Result<(), String> {
    builtin::bootstrap(api, objects).await?;
    builtin::rbac::bootstrap(api).await
}

/// The metrics, with those of the program.
fn metrics(api: &Arc<Verbs>, own: Vec<RegisterMetrics>) -> Result<Metrics> {
    let metrics = Metrics::new(api);
    for register in own {
        register(metrics.registry()).map_err(Error::Metrics)?;
    }
    Ok(metrics)
}

/// How long the start waits for webhooks.
const CONVERTED_WITHIN: Duration = Duration::from_millis(300);

/// Waits a moment for webhooks that convert stored objects. A server whose webhooks answer thus begins with all objects; objects of
/// others are unread until their webhook answers.
async fn converted(api: &Verbs) {
    let all_read = || api.registry.resources().0.iter().all(|served| served.records.unread() == 0).then_some(());
    // Late ones are no error here.
    drop(tokio::time::timeout(CONVERTED_WITHIN, api.registry.until(all_read)).await);
}

/// Starts the server's own controllers, as far as `own` is set. Returns them, and the builder's, which are started last. If other
/// servers write to the store, one controller runs those of them that one server at a time must run.
fn control(
    api: &Arc<Verbs>,
    definitions: Option<Definitions>,
    mut controllers: Vec<Controller>,
    own: bool,
    stop_within: Duration,
) -> Result<(Controllers, Vec<Controller>)> {
    let mut builtin = Controllers::default();
    builtin.reread(api);
    let leads = watch::Sender::new(!api.store.is_shared());
    let idle = !own && definitions.is_none() && controllers.is_empty();
    if let Some(definitions) = definitions {
        builtin.follow(definitions, leads.subscribe());
    }
    if !api.store.is_shared() {
        if own {
            builtin.lead(api);
        }
    } else if !idle {
        let lease = Lease::kind().group_resource();
        if api.registry.resource(&lease).is_none() {
            return Err(Error::Setting(format!(
                "several servers may share this store, so that a lease elects the one whose controllers run, but {lease} is \
                 not served; add .kind::<builtin::Lease>()"
            )));
        }
        controllers = vec![Controller::elected(controllers, own, leads, stop_within / 2)];
    }
    Ok((builtin, controllers))
}

/// The parts of a server whose store was read.
type CoreParts = (Arc<Verbs>, Pending, Option<Definitions>);

/// The answer of `/version`.
fn version(given: Option<&str>) -> Result<VersionInfo> {
    let Some(given) = given else { return Ok(VersionInfo::default()) };
    let wrong = || format!("the version {given:?} does not begin with three numbers, as v1.33.0+library-2.1 does");
    VersionInfo::parse(given).ok_or_else(|| Error::Setting(wrong()))
}

/// From 1970 to the end of 9999, in UTC.
const END_OF_DATES: Duration = Duration::from_hours(70_389_528);

/// Refuses a clock that the `Date` header cannot represent: connections would panic. On Linux the clock cannot be set
/// before 1970 later.
fn check_clock(now: SystemTime) -> Result<()> {
    match now.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) if since < END_OF_DATES => Ok(()),
        _ => Err(Error::Clock),
    }
}

/// The health checks.
fn health(store: &Arc<dyn Store>, checks: Vec<Check>) -> Result<Health> {
    let (writes, damaged) = (store.clone(), store.clone());
    let mut health = Health::default()
        .with_readiness("store", move || writes.health().refuses_writes.is_none())
        .with_note(move || damage(&*damaged));
    for Check { name, of_readiness, is_well } in checks {
        if !health.takes(&name) {
            let why = "it is taken, or has characters other than letters, digits, dashes, dots and underscores";
            return Err(Error::Setting(format!("{name:?} cannot be the name of a health check: {why}")));
        }
        health = if of_readiness { health.with_readiness(&name, is_well) } else { health.with(&name, is_well) };
    }
    Ok(health)
}

/// The damage shown by `/readyz?verbose`. It is public, so it names no objects.
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
