//! Tests of the typed client: the verbs, and a version other than the storage version.
use serde::{Deserialize, Serialize};
use serde_json::json;

use std::sync::Arc;

use crate::{
    ApiType, ObjectMeta, Resource,
    cache::{Cache, Limits},
    handlers::Result,
    meta::{
        Preconditions,
        options::{DeleteOptions, ListOptions},
        selector::Labels,
    },
    registry::Registry,
    storage::{Memory, Store},
    verbs::Verbs,
};
use kindsmith_model::kind::client::{Client, List, Objects, Patch, Watch, WatchEvent};

/// A choir.
#[derive(Resource, Clone, Debug, PartialEq)]
#[resource(group = "example.com", version = "v1", cluster, status)]
#[resource(scale(replicas = spec.singers, status = status.singers))]
struct Choir {
    metadata: ObjectMeta,
    spec: ChoirSpec,
    status: Option<ChoirStatus>,
}

/// The desired state of a choir.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct ChoirSpec {
    /// The number of singers.
    #[api(default = 1)]
    singers: i32,
    /// The music.
    #[serde(default)]
    #[api(list = set, merge)]
    songs: Vec<String>,
}

/// The observed state of a choir.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct ChoirStatus {
    /// The number of singers.
    singers: Option<i32>,
}

/// A place to sing.
#[derive(Resource, Clone, Debug, PartialEq)]
#[resource(group = "example.com", version = "v1")]
struct Place {
    metadata: ObjectMeta,
    spec: ChoirSpec,
}

/// A bell.
#[derive(Resource, Clone, Debug, PartialEq)]
#[resource(group = "example.com", version = "v2", cluster)]
struct Bell {
    metadata: ObjectMeta,
    spec: BellSpec,
}

/// How a bell sounds.
#[derive(ApiType, Clone, Debug, PartialEq, Serialize, Deserialize)]
struct BellSpec {
    /// Its tone.
    tone: String,
}

/// An older declaration of a bell.
#[derive(Resource, Clone, Debug, PartialEq)]
#[resource(version = "v1", storage = Bell, convert = from)]
struct OldBell {
    metadata: ObjectMeta,
    spec: OldBellSpec,
}

/// How a bell sounded.
#[derive(ApiType, Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OldBellSpec {
    /// Its sound.
    sound: String,
}

impl From<OldBell> for Bell {
    fn from(OldBell { metadata, spec }: OldBell) -> Self {
        Self { metadata, spec: BellSpec { tone: spec.sound } }
    }
}

impl TryFrom<Bell> for OldBell {
    type Error = String;

    fn try_from(Bell { metadata, spec }: Bell) -> std::result::Result<Self, String> {
        match spec.tone.as_str() {
            "infrasound" => Err("it was inaudible".to_owned()),
            _ => Ok(Self { metadata, spec: OldBellSpec { sound: spec.tone } }),
        }
    }
}

fn bell(name: &str, tone: &str) -> Bell {
    Bell { metadata: ObjectMeta::named(name), spec: BellSpec { tone: tone.to_owned() } }
}

fn choir(name: &str, singers: i32) -> Choir {
    let spec = ChoirSpec { singers, ..ChoirSpec::default() };
    Choir { metadata: ObjectMeta::named(name), spec, status: None }
}

/// A client of a server with these kinds, as versions of one resource each.
fn client(kinds: Vec<Vec<crate::kind::Kind>>) -> Client {
    Client::new(verbs(kinds), "test")
}

fn verbs(kinds: Vec<Vec<crate::kind::Kind>>) -> Arc<Verbs> {
    let store = Arc::new(Memory::new());
    let cache = Cache::new(store.clone(), Limits::default());
    let registry = Registry::new(cache.clone());
    for versions in kinds {
        registry.register(versions).expect("kinds that can be served");
    }
    Verbs::new(Arc::new(registry), cache, store)
}

fn choirs() -> Objects<Choir> {
    client(vec![vec![Choir::kind()]]).of("")
}

fn all() -> ListOptions {
    ListOptions::default()
}

fn refused<T: std::fmt::Debug>(answer: Result<T>) -> (u16, String) {
    let status = answer.expect_err("a refusal").status().clone();
    (status.code, status.reason)
}

/// The next event, as one line.
async fn next(watch: &mut Watch<Choir>) -> String {
    let line = |what: &str, choir: &Choir| format!("{what} {} {}", choir.metadata.name, choir.spec.singers);
    match watch.next().await.expect("an event").expect("no error") {
        WatchEvent::Added(choir) => line("added", &choir),
        WatchEvent::Modified(choir) => line("modified", &choir),
        WatchEvent::Deleted(choir) => line("deleted", &choir),
        WatchEvent::Bookmark { initial_events_end, .. } => format!("bookmark {initial_events_end}"),
        WatchEvent::Invalid { object, deleted } => format!("invalid {} {deleted}", object.name),
    }
}

#[tokio::test]
async fn objects_are_created_read_replaced_and_deleted() {
    let choirs = choirs();
    let made = choirs.create(&choir("a", 3)).await.unwrap();
    assert_eq!(choirs.get("a").await.unwrap(), made);
    let taken = choirs.create(&choir("a", 1)).await.unwrap_err();
    assert!(taken.status().is_already_exists() && !taken.status().is_conflict());
    assert_eq!(taken.to_string(), "choirs.example.com \"a\" already exists");

    let mut larger = made.clone();
    larger.spec.singers = 4;
    let replaced = choirs.replace("a", &larger).await.unwrap();
    assert_eq!((replaced.spec.singers, replaced.metadata.generation), (4, 2));
    assert!(choirs.replace("a", &larger).await.unwrap_err().status().is_conflict(), "of an older state");
    let mut largest = replaced.clone();
    largest.spec.singers = 9;
    assert_eq!(choirs.clone().dry_run().replace("a", &largest).await.unwrap().spec.singers, 9);
    assert_eq!(choirs.get("a").await.unwrap().spec.singers, 4, "a dry run stores nothing");

    let other = Preconditions { uid: Some("other".to_owned()), ..Preconditions::default() };
    let guarded = DeleteOptions { preconditions: other, ..DeleteOptions::default() };
    assert_eq!(refused(choirs.delete("a", &guarded).await), (409, "Conflict".to_owned()));
    choirs.patch("a", &Patch::Merge(json!({"metadata": {"finalizers": ["example.com/f"]}}))).await.unwrap();
    let waiting = choirs.delete("a", &DeleteOptions::default()).await.unwrap().expect("it waits for its finalizer");
    assert!(waiting.metadata.deletion_timestamp.is_some());
    choirs.patch("a", &Patch::Json(json!([{"op": "remove", "path": "/metadata/finalizers"}]))).await.unwrap();
    assert_eq!(choirs.get_opt("a").await.unwrap(), None);
    assert!(choirs.delete("a", &DeleteOptions::default()).await.unwrap_err().status().is_not_found());
}

#[tokio::test]
async fn patches_of_every_type_and_of_every_subresource() {
    let choirs = choirs();
    let applied = choirs.patch("a", &Patch::Apply(json!({"spec": {"singers": 2, "songs": ["one"]}}))).await.unwrap();
    assert_eq!((applied.spec.singers, applied.metadata.managed_fields.len()), (2, 1), "an apply creates");
    let other = choirs.clone().field_manager("other");
    let theirs = Patch::Apply(json!({"spec": {"singers": 5}}));
    let conflict = other.patch("a", &theirs).await.unwrap_err();
    assert!(conflict.status().is_conflict());
    assert_eq!(conflict.status().details.as_ref().unwrap().causes[0].field, ".spec.singers");
    assert_eq!(other.clone().force().patch("a", &theirs).await.unwrap().spec.singers, 5);
    let typed = Patch::Apply(choir("b", 3));
    assert_eq!(other.patch("b", &typed).await.unwrap().spec.singers, 3, "the kind's type is a configuration, too");

    let patched = choirs.patch("a", &Patch::Strategic(json!({"spec": {"songs": ["two"]}}))).await.unwrap();
    assert_eq!(patched.spec.songs, ["two", "one"]);
    let patched = choirs.patch("a", &Patch::Merge(json!({"spec": {"songs": ["three"]}}))).await.unwrap();
    assert_eq!(patched.spec.songs, ["three"]);
    let append = Patch::Json(json!([{"op": "add", "path": "/spec/songs/-", "value": "four"}]));
    assert_eq!(choirs.patch("a", &append).await.unwrap().spec.songs, ["three", "four"]);
    let invalid = choirs.patch("a", &Patch::Merge(json!({"spec": {"singers": "many"}}))).await.unwrap_err();
    assert_eq!((invalid.status().code, invalid.status().reason.as_str()), (422, "Invalid"));
    assert!(choirs.patch("c", &append).await.unwrap_err().status().is_not_found());

    let patch = Patch::Merge(json!({"status": {"singers": 1}, "spec": {"singers": 7}}));
    let stated = choirs.patch_status("a", &patch).await.unwrap();
    assert_eq!((stated.spec.singers, stated.status.clone().unwrap().singers), (5, Some(1)));
    let applied = other.patch_status("a", &Patch::Apply(json!({"status": {"singers": 1}}))).await.unwrap();
    assert_eq!(applied.metadata.managed_fields.iter().filter(|entry| entry.subresource == "status").count(), 2);
    let mut told = choirs.get_status("a").await.unwrap();
    told.status = None;
    assert_eq!(choirs.replace_status("a", &told).await.unwrap().status, None);

    let mut scale = choirs.get_scale("a").await.unwrap();
    assert_eq!((scale.spec.replicas, scale.metadata.name.as_str()), (5, "a"));
    scale.spec.replicas = 6;
    assert_eq!(choirs.replace_scale("a", &scale).await.unwrap().spec.replicas, 6);
    assert!(choirs.replace_scale("a", &scale).await.unwrap_err().status().is_conflict(), "of an older state");
    let scaled = choirs.patch_scale("a", &Patch::Merge(json!({"spec": {"replicas": 7}}))).await.unwrap();
    assert_eq!((scaled.spec.replicas, choirs.get("a").await.unwrap().spec.singers), (7, 7));
    let forced = choirs.clone().force();
    assert_eq!(
        forced.patch_scale("a", &Patch::Apply(json!({"spec": {"replicas": 8}}))).await.unwrap().spec.replicas,
        8
    );
}

#[tokio::test]
async fn lists_have_pages_of_one_version_and_watches_continue_from_it() {
    let verbs = verbs(vec![vec![Choir::kind()]]);
    let choirs: Objects<Choir> = Client::new(verbs.clone(), "test").of("");
    for (name, singers) in [("a", 1), ("b", 2), ("c", 3)] {
        let mut choir = choir(name, singers);
        choir.metadata.labels.insert("size".to_owned(), singers.to_string());
        choirs.create(&choir).await.unwrap();
    }
    let names = |list: &List<Choir>| list.items.iter().map(|choir| choir.metadata.name.clone()).collect::<String>();
    let page = choirs.list(&ListOptions { limit: 2, ..all() }).await.unwrap();
    assert_eq!((names(&page), page.metadata.remaining_item_count), ("ab".to_owned(), Some(1)));
    choirs.create(&choir("d", 4)).await.unwrap();
    let rest = ListOptions { limit: 2, continue_token: page.metadata.continue_token, ..all() };
    let rest = choirs.list(&rest).await.unwrap();
    assert_eq!((names(&rest), rest.metadata.continue_token.as_str()), ("c".to_owned(), ""));
    assert_eq!(rest.metadata.resource_version, page.metadata.resource_version);
    let labels = Labels::parse("size in (1,3)").unwrap();
    assert_eq!(names(&choirs.list(&ListOptions { labels: labels.clone(), ..all() }).await.unwrap()), "ac");
    assert_eq!(refused(choirs.list(&ListOptions { continue_token: "?".to_owned(), ..all() }).await).0, 400);

    let version = rest.metadata.resource_version.parse().ok();
    let mut watch = choirs.watch(&ListOptions { resource_version: version, ..all() }).await.unwrap();
    assert_eq!(next(&mut watch).await, "added d 4");
    choirs.patch("a", &Patch::Merge(json!({"spec": {"singers": 9}}))).await.unwrap();
    let deleted = choirs.delete_collection(&DeleteOptions::default(), &ListOptions { labels, ..all() }).await.unwrap();
    assert_eq!(names(&deleted), "ac");
    assert_eq!(next(&mut watch).await, "modified a 9");
    let mut gone = [next(&mut watch).await, next(&mut watch).await];
    gone.sort();
    assert_eq!(gone, ["deleted a 9", "deleted c 3"]);

    let mut watch = choirs.watch(&ListOptions::named("b")).await.unwrap();
    assert_eq!(next(&mut watch).await, "added b 2");
    choirs.delete("d", &DeleteOptions::default()).await.unwrap();
    choirs.delete("b", &DeleteOptions::default()).await.unwrap();
    assert_eq!(next(&mut watch).await, "deleted b 2");
    verbs.cache.close();
    assert!(watch.next().await.is_none() && watch.next().await.is_none(), "the server stops");
}

#[tokio::test(start_paused = true)]
async fn bookmarks_end_the_initial_events_and_come_every_minute() {
    let choirs = choirs();
    choirs.create(&choir("a", 1)).await.unwrap();
    let options = ListOptions { bookmarks: true, initial_events: Some(true), ..all() };
    let mut watch = choirs.watch(&options).await.unwrap();
    assert_eq!(next(&mut watch).await, "added a 1");
    assert_eq!(next(&mut watch).await, "bookmark true");
    let start = tokio::time::Instant::now();
    assert_eq!(next(&mut watch).await, "bookmark false");
    assert_eq!(start.elapsed().as_secs(), 60);
    choirs.create(&choir("b", 1)).await.unwrap();
    assert_eq!(next(&mut watch).await, "added b 1");
    assert_eq!(next(&mut watch).await, "bookmark false");
    assert_eq!(start.elapsed().as_secs(), 120);
}

#[tokio::test]
async fn a_version_whose_changes_are_gone_is_an_error_with_its_status() {
    let store = Arc::new(Memory::new());
    let limits = Limits { history_bytes: 1, ..Limits::default() };
    let cache = Cache::new(store.clone(), limits);
    let registry = Registry::new(cache.clone());
    registry.register([Choir::kind()]).expect("a kind");
    let choirs = Client::new(Verbs::new(Arc::new(registry), cache, store.clone()), "test").of::<Choir>("");
    let first = choirs.create(&choir("a", 1)).await.unwrap().metadata.resource_version;
    for singers in 2..9 {
        choirs.patch("a", &Patch::Merge(json!({"spec": {"singers": singers}}))).await.unwrap();
    }
    let head = store.head();
    store.compact(head).unwrap();
    let options = ListOptions { resource_version: first.parse().ok(), ..all() };
    let refusal = match choirs.watch(&options).await {
        Err(refusal) => refusal,
        Ok(mut watch) => watch.next().await.expect("an event").expect_err("an error"),
    };
    assert!(refusal.status().is_expired(), "{:?}", refusal.status());
}

#[tokio::test]
async fn types_of_other_versions_than_the_storage_version_work_alike() {
    let client = client(vec![vec![OldBell::kind(), Bell::kind()]]);
    let (new, old) = (client.of::<Bell>(""), client.of::<OldBell>(""));
    let sounds = |bells: List<OldBell>| bells.items.into_iter().map(|bell| bell.spec.sound).collect::<Vec<_>>();
    let sound = |event: Option<Result<WatchEvent<OldBell>>>| match event {
        Some(Ok(WatchEvent::Added(bell) | WatchEvent::Modified(bell))) => bell.spec.sound,
        other => panic!("{other:?}"),
    };

    new.create(&bell("a", "ding")).await.unwrap();
    new.create(&bell("b", "dong")).await.unwrap();
    assert_eq!(sounds(old.list(&all()).await.unwrap()), ["ding", "dong"]);
    let mut watch = old.watch(&ListOptions::named("a")).await.unwrap();
    assert_eq!(sound(watch.next().await), "ding");
    let changed = old.change("a", |bell| {
        bell.spec.sound.push('!');
        Ok(())
    });
    assert_eq!(changed.await.unwrap().spec.sound, "ding!");
    assert_eq!(sound(watch.next().await), "ding!");
    assert_eq!(new.get("a").await.unwrap().spec.tone, "ding!");

    let lower = async |name| {
        let change = |bell: &mut Bell| {
            bell.spec.tone = "infrasound".to_owned();
            Ok(())
        };
        new.change(name, change).await.unwrap()
    };
    lower("b").await;
    let list = old.list(&all()).await.unwrap();
    assert_eq!(sounds(list.clone()), ["ding!"]);
    let [invalid] = &list.invalid[..] else { panic!("{:?}", list.invalid) };
    assert_eq!((invalid.name.as_str(), invalid.namespace.as_str()), ("b", ""));
    assert!(invalid.reason.contains("it was inaudible"), "{}", invalid.reason);
    assert_eq!(new.list(&all()).await.unwrap().items.len(), 2);
    lower("a").await;
    new.delete("a", &DeleteOptions::default()).await.unwrap();
    for gone in [false, true] {
        let Some(Ok(WatchEvent::Invalid { object, deleted })) = watch.next().await else { panic!("it is invalid") };
        assert_eq!((object.name.as_str(), deleted), ("a", gone));
    }
    let refused = old.get("b").await.unwrap_err();
    assert_eq!((refused.status().code, refused.status().reason.as_str()), (500, "StoreReadError"));
}

#[tokio::test]
async fn a_client_refuses_names_and_namespaces_that_no_object_has() {
    let (client_of_choirs, bad) = (client(vec![vec![Choir::kind()]]), || (400, "BadRequest".to_owned()));
    let choirs = client_of_choirs.of::<Choir>("");
    choirs.create(&choir("bach", 4)).await.expect("created");
    for name in ["", "a/b"] {
        assert_eq!(refused(choirs.get(name).await), bad());
    }
    let elsewhere = client_of_choirs.of::<Choir>("default");
    assert_eq!(refused(elsewhere.create(&choir("liszt", 4)).await), bad());
    assert_eq!(refused(elsewhere.list(&all()).await.map(|list| list.items)), bad());
    assert_eq!(choirs.list(&all()).await.expect("a list").items.len(), 1);
    let places = client(vec![vec![Place::kind()]]);
    assert_eq!(refused(places.of::<Place>("").get("a").await), bad());
    assert!(places.of::<Place>("").list(&all()).await.is_ok(), "a list of all namespaces");
}
