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
    Kind,
    endpoint::{self, Endpoint},
    reader::{Identity, KindReader, Transformer},
    view::View,
};
use crate::{cache, codec::protobuf};

/// A kind that is served, and its place in the cache.
pub struct Served {
    /// The kind.
    pub kind: Arc<Kind>,
    /// What is served of it.
    pub endpoints: Vec<Endpoint>,
    /// Its objects.
    pub objects: Arc<cache::Resource>,
    /// Makes what is stored of an object.
    pub records: Arc<KindReader>,
    /// Objects as Protobuf messages, where all of the kind's fields have numbers.
    pub messages: Option<protobuf::Message>,
    /// Makes its objects of those in the version that is stored; `None` where that is this version itself.
    pub view: Option<View>,
    /// No two kinds of this process have the same, not even one after the other; never zero.
    pub number: u32,
}

/// A number that no kind had yet.
fn next_number() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

impl Served {
    /// What is served at a subresource, or of the objects themselves where its name is empty.
    pub fn endpoint(&self, subresource: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| &*endpoint.subresource == subresource)
    }

    /// A stored object in this version, as [`View::of`] gives it.
    ///
    /// # Errors
    /// Why it has no form in this version.
    pub fn show<'o>(&self, object: &'o Arc<cache::Object>) -> Result<Cow<'o, Arc<cache::Object>>, String> {
        match &self.view {
            None => Ok(Cow::Borrowed(object)),
            Some(view) => view.of(object).map(Cow::Owned),
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
    /// In the order of registration.
    kinds: Arc<Vec<Arc<Served>>>,
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

    /// Adds a kind: checks it, loads its objects, and serves it. Blocks on the disk.
    ///
    /// # Errors
    /// A kind whose schema is wrong by itself, whose names clash with another's, or whose objects could not be loaded; the text names both.
    pub fn register(&self, kind: Kind) -> Result<Arc<Served>, String> {
        let _one_at_a_time = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let problems = kind.schema.check().err().map(|problems| problems.join("; "));
        if let Some(problems) = problems {
            return Err(format!("the schema of {} is wrong: {problems}", kind.group_kind()));
        }
        let table = self.table.load();
        for other in table.kinds.iter() {
            check_clash(&kind, &other.kind)?;
            check_keys(&kind, &other.kind)?;
        }
        let messages = protobuf::Message::of_object(&kind.schema);
        let kind = Arc::new(kind);
        let records = Arc::new(KindReader::new(kind.clone(), self.transformer.clone()));
        let objects = self
            .cache
            .register(&kind.prefix(), records.clone())
            .map_err(|error| format!("cannot load the objects of {}: {error}", kind.group_resource()))?;
        if let Some(misfits) = records.take_misfits() {
            tracing::warn!(
                resource = %kind.group_resource(), count = misfits.count, example = misfits.example,
                "stored objects do not fit the schema of their kind: they are served, can be deleted, and can be written \
                 as far as that changes only what fits",
            );
        }
        let endpoints = endpoint::of(&kind);
        let served =
            Arc::new(Served { kind, endpoints, objects, records, messages, view: None, number: next_number() });
        self.table.store(Arc::new(table.with(served.clone())));
        Ok(served)
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
                number: served.number,
            });
        }
        let problems = kind.schema.check().err().map(|problems| problems.join("; "));
        if let Some(problems) = problems {
            return Err(format!("the schema of {} is wrong: {problems}", kind.group_kind()));
        }
        let messages = protobuf::Message::of_object(&kind.schema);
        let records = Arc::new(KindReader::new(kind.clone(), self.transformer.clone()));
        let objects = self
            .cache
            .register(&kind.prefix(), records.clone())
            .map_err(|error| format!("cannot load the objects of {}: {error}", kind.group_resource()))?;
        Ok(Served { kind, endpoints: Vec::new(), objects, records, messages, view: None, number: next_number() })
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

    /// All kinds, in the order in which they were registered, and a number that changes when they do.
    pub fn all(&self) -> (Arc<Vec<Arc<Served>>>, u64) {
        let table = self.table.load();
        (table.kinds.clone(), table.generation)
    }
}

impl Table {
    /// This table and one kind more.
    fn with(&self, served: Arc<Served>) -> Self {
        let mut kinds = Vec::clone(&self.kinds);
        kinds.push(served.clone());
        let mut places = self.places.clone();
        places.entry(served.kind.plural.clone()).or_default().push(served.clone());
        let namespaces = self.namespaces.clone().or_else(|| served.kind.policy.contains_objects().then_some(served));
        Self { namespaces, kinds: Arc::new(kinds), places, generation: self.generation + 1 }
    }
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
