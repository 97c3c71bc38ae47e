//! The registry: which kinds are served, under which group and version, and where each one's objects are cached.
//! Kinds may be added while the server runs; readers take the table of the moment without a lock.
use std::{
    borrow::Cow,
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use arc_swap::ArcSwap;

use super::{
    Kind, Versions,
    endpoint::{self, Endpoint},
    reader::{Identity, KindReader, Transformer},
    view::View,
};
use crate::{cache, codec::protobuf};

/// A kind in a version that is served, or in which its objects are stored, and its place in the cache. All versions of a
/// resource share objects and records.
pub struct Served {
    /// The kind.
    pub kind: Arc<Kind>,
    /// What is served of it.
    pub endpoints: Vec<Endpoint>,
    /// Its objects, in the version in which they are stored.
    pub objects: Arc<cache::Resource>,
    /// Makes what is stored of an object, and knows the version in which it is stored.
    pub records: Arc<KindReader>,
    /// Objects as Protobuf messages, where all of the kind's fields have numbers.
    pub messages: Option<protobuf::Message>,
    /// Makes its objects of those in the version that is stored; `None` where that is this version itself.
    pub view: Option<View>,
    /// The same in the version in which its objects are stored; `None` where that is this version itself.
    pub stored: Option<Arc<Served>>,
    /// No two kinds or versions of this process have the same, not even one after the other; never zero.
    pub number: u32,
}

/// A number that no kind had yet.
fn next_number() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

impl Served {
    fn new(
        kind: Arc<Kind>,
        endpoints: Vec<Endpoint>,
        objects: &Arc<cache::Resource>,
        records: &Arc<KindReader>,
    ) -> Self {
        let messages = protobuf::Message::of_object(&kind.schema);
        let (objects, records) = (objects.clone(), records.clone());
        Self { kind, endpoints, objects, records, messages, view: None, stored: None, number: next_number() }
    }

    /// The same in the version in which its objects are stored.
    pub fn stored(self: &Arc<Self>) -> &Arc<Self> {
        self.stored.as_ref().unwrap_or(self)
    }

    /// What is served at a subresource, or of the objects themselves where its name is empty.
    pub fn endpoint(&self, subresource: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| &*endpoint.subresource == subresource)
    }

    /// A stored object in this version. What is made now is kept for others.
    ///
    /// # Errors
    /// Why it has no form in this version.
    pub fn show<'o>(&self, object: &'o Arc<cache::Object>) -> Result<Cow<'o, Arc<cache::Object>>, String> {
        match &self.view {
            None => Ok(Cow::Borrowed(object)),
            Some(view) => view.of(object).map(Cow::Owned),
        }
    }

    /// The same for who goes through so many bytes of stored objects: what is made now is kept where all of it can be.
    ///
    /// # Errors
    /// As [`Served::show`].
    pub fn show_among<'o>(
        &self,
        object: &'o Arc<cache::Object>,
        bytes: usize,
    ) -> Result<Cow<'o, Arc<cache::Object>>, String> {
        match &self.view {
            Some(view) if !view.keeps(bytes) => view.passing(object).map(Cow::Owned),
            _ => self.show(object),
        }
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Served({} {})", self.kind.group_version, self.kind.kind)
    }
}

/// The kinds of one moment.
#[derive(Default)]
struct Table {
    /// Each served version, in the order of registration.
    kinds: Arc<Vec<Arc<Served>>>,
    /// Each resource in the version in which its objects are stored, served or not.
    resources: Arc<Vec<Arc<Served>>>,
    /// The kind whose objects are namespaces.
    namespaces: Option<Arc<Served>>,
    /// By plural name, which few kinds share: found without building a key.
    places: HashMap<String, Vec<Arc<Served>>>,
    /// Grows with each change.
    generation: u64,
}

/// The kinds that are served.
pub struct Registry {
    cache: Arc<cache::Cache>,
    transformer: Arc<dyn Transformer>,
    table: ArcSwap<Table>,
    /// Held while a kind is added: one at a time, so that two with clashing names cannot both find their names free.
    adding: Mutex<()>,
}

impl Registry {
    /// An empty registry over a cache.
    pub fn new(cache: Arc<cache::Cache>) -> Self {
        Self::with_transformer(cache, Arc::new(Identity))
    }

    /// An empty registry that stores objects through a transformer.
    pub fn with_transformer(cache: Arc<cache::Cache>, transformer: Arc<dyn Transformer>) -> Self {
        Self { cache, transformer, table: ArcSwap::default(), adding: Mutex::new(()) }
    }

    /// Adds a kind in all of its versions: checks it, loads its objects, and serves it. Blocks on the disk. Gives it in the
    /// version in which its objects are stored, which need not be served.
    ///
    /// # Errors
    /// Versions that do not belong together, a schema that is wrong by itself, names that clash with another kind's, or
    /// objects that could not be loaded; the text names both.
    pub fn register(&self, versions: impl IntoIterator<Item = Kind>) -> Result<Arc<Served>, String> {
        let _one_at_a_time = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let versions = Versions::new(versions)?;
        versions.iter().try_for_each(|kind| check_schema(kind))?;
        let kind = versions.stored().clone();
        let table = self.table.load();
        for other in table.resources.iter() {
            check_clash(&kind, &other.kind)?;
            check_keys(&kind, &other.kind)?;
        }
        let (records, objects) = self.load(versions)?;
        if let Some(misfits) = records.take_misfits() {
            tracing::warn!(
                resource = %kind.group_resource(), count = misfits.count, example = misfits.example,
                "stored objects do not fit the schema of their kind: they are served, can be deleted, and can be written \
                 as far as that changes only what fits",
            );
        }
        let served = |kind: &Arc<Kind>| Served::new(kind.clone(), endpoint::of(kind), &objects, &records);
        let stored = Arc::new(served(&kind));
        let in_version = |version: &Arc<Kind>| {
            if Arc::ptr_eq(version, &kind) {
                return stored.clone();
            }
            let view = View::new(kind.clone(), version.clone(), self.cache.renderings().clone());
            Arc::new(Served { view: Some(view), stored: Some(stored.clone()), ..served(version) })
        };
        let versions: Vec<Arc<Served>> = records.versions().iter().map(in_version).collect();
        self.table.store(Arc::new(table.with(&versions, stored.clone())));
        Ok(stored)
    }

    /// Loads the objects of a kind.
    fn load(&self, versions: Versions) -> Result<(Arc<KindReader>, Arc<cache::Resource>), String> {
        let records = Arc::new(KindReader::new(versions, self.transformer.clone()));
        let kind = records.stored();
        let objects = self.cache.register(&kind.prefix(), records.clone());
        let objects =
            objects.map_err(|error| format!("cannot load the objects of {}: {error}", kind.group_resource()))?;
        Ok((records, objects))
    }

    /// A kind of documents that are not stored, and that no path of its own is about: what a subresource takes and gives.
    ///
    /// # Errors
    /// A kind whose schema is wrong by itself.
    pub fn unserved(&self, kind: Arc<Kind>) -> Result<Served, String> {
        let at = &kind.group_version;
        if let Some(served) = self.find(&at.group, &at.version, &kind.plural).filter(|s| s.kind.kind == kind.kind) {
            return Ok(Served {
                kind,
                endpoints: Vec::new(),
                objects: served.objects.clone(),
                records: served.records.clone(),
                messages: served.messages.clone(),
                view: served.view.clone(),
                stored: served.stored.clone(),
                number: served.number,
            });
        }
        check_schema(&kind)?;
        let (records, objects) =
            self.load(Versions::new([Kind { served: true, conversion: None, ..Kind::clone(&kind) }])?)?;
        Ok(Served::new(kind, Vec::new(), &objects, &records))
    }

    /// The kind served at a group, version and plural name.
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Served>> {
        let table = self.table.load();
        let is_meant = |served: &&Arc<Served>| {
            let at = &served.kind.group_version;
            at.group == group && at.version == version
        };
        table.places.get(plural)?.iter().find(is_meant).cloned()
    }

    /// The kind whose objects the objects of others live in.
    pub fn namespaces(&self) -> Option<Arc<Served>> {
        self.table.load().namespaces.clone()
    }

    /// All kinds in each version that is served, in the order in which they were registered, and a number that changes when
    /// they do.
    pub fn all(&self) -> (Arc<Vec<Arc<Served>>>, u64) {
        let table = self.table.load();
        (table.kinds.clone(), table.generation)
    }

    /// Each resource once, in the version in which its objects are stored, served or not; and the number of
    /// [`Registry::all`]. For those who look at objects as they lie in the store.
    pub fn resources(&self) -> (Arc<Vec<Arc<Served>>>, u64) {
        let table = self.table.load();
        (table.resources.clone(), table.generation)
    }
}

impl Table {
    /// This table and one resource more.
    fn with(&self, versions: &[Arc<Served>], stored: Arc<Served>) -> Self {
        let (mut kinds, mut places) = (Vec::clone(&self.kinds), self.places.clone());
        for served in versions.iter().filter(|served| served.kind.served) {
            kinds.push(served.clone());
            places.entry(served.kind.plural.clone()).or_default().push(served.clone());
        }
        let mut resources = Vec::clone(&self.resources);
        resources.push(stored.clone());
        let namespaces = self.namespaces.clone().or_else(|| stored.kind.policy.contains_objects().then_some(stored));
        let (kinds, resources) = (Arc::new(kinds), Arc::new(resources));
        Self { namespaces, kinds, resources, places, generation: self.generation + 1 }
    }
}

fn check_schema(kind: &Kind) -> Result<(), String> {
    let wrong = |problems: Vec<String>| {
        format!(
            "the schema of {} in {} is wrong: {}",
            kind.group_kind(),
            kind.group_version.version,
            problems.join("; ")
        )
    };
    kind.schema.check().map_err(wrong)
}

/// The keys of a kind are its own: none of them is below the prefix of another kind. They would be for a group named as
/// another kind's plural, such as `secrets`: groups are domains.
fn check_keys(new: &Kind, old: &Kind) -> Result<(), String> {
    let (ours, theirs) = (new.prefix(), old.prefix());
    if !ours.starts_with(&theirs) && !theirs.starts_with(&ours) || ours == theirs {
        return Ok(());
    }
    Err(format!(
        "the objects of {} cannot be told from those of {} in the store ({ours:?} and {theirs:?}): name its group as a domain",
        new.group_kind(),
        old.group_kind()
    ))
}

/// Within a group, a name stands for one kind only: clients look up plural, singular and short names alike.
fn check_clash(new: &Kind, old: &Kind) -> Result<(), String> {
    if new.group_version.group != old.group_version.group {
        return Ok(());
    }
    for kind in [&new.kind, &new.list_kind] {
        if [&old.kind, &old.list_kind].contains(&kind) {
            return Err(format!(
                "kind {kind} of {} is taken by {} of {}",
                new.group_resource(),
                old.kind,
                old.group_resource()
            ));
        }
    }
    let taken = |name: &str| name == old.plural || name == old.singular || old.short_names.iter().any(|n| n == name);
    let names = [&new.plural, &new.singular].into_iter().chain(&new.short_names);
    match names.into_iter().find(|name| taken(name)) {
        Some(name) => Err(format!("name {name:?} of {} is taken by {}", new.group_kind(), old.group_kind())),
        None => Ok(()),
    }
}
