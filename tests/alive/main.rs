//! Resources that are added, replaced and removed while the server runs: under load, and in great numbers.
//!
//! `cargo test --release -p kindsmith-tests --test alive -- --nocapture` prints the measurements.

mod clients;
mod many;
mod rig;

use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use kindsmith::{
    kind::Kind,
    meta::{GroupResource, Revision},
    schema::{Schema, Type},
};
use kindsmith_server::registry::ResourceEntry;
use kindsmith_storage::{Expect, Hold, Op};
use serde_json::{Value, json};

use clients::{Counts, PATH, generation_of};
use rig::{Rig, kind, object, resident_kib, text};

/// The memory measurements are those of the process, so only one test runs at a time.
pub static ALONE: Mutex<()> = Mutex::new(());

const ROUNDS: u64 = 1_000;
/// The number of rounds before memory is compared, so that everything that is kept for a while is included.
const SETTLED: u64 = 250;
const GROWTH_KIB: u64 = 32 << 10;
const ROW: &str = "/registry/definitions/gadgets.alive.example.com";
const PREFIX: &str = "/registry/alive.example.com/gadgets/";

/// The version that a generation serves beside v1.
pub fn beta(generation: u64) -> u64 {
    generation % 5 + 1
}

/// A generation of gadgets. A field with a default and the set of versions differ between generations.
fn gadgets(generation: u64) -> Vec<Kind> {
    let mark = Schema::of(Type::Boolean).with(|mark| mark.default = Some(json!(true)));
    let spec = object([(format!("g{generation}"), mark), ("text".to_owned(), text())]);
    let spec = spec.with(|spec| spec.default = Some(json!({})));
    let versions = ["v1".to_owned(), format!("v1beta{}", beta(generation))];
    versions
        .map(|version| kind("alive.example.com", "Gadget", &version, object([("spec".to_owned(), spec.clone())])))
        .into()
}

/// Changes the declaration of gadgets, like a controller for definitions.
struct Driver {
    rig: Arc<Rig>,
    /// The generation in which gadgets were added; `None` while they are absent.
    since: Option<u64>,
    known: Vec<Weak<ResourceEntry>>,
}

impl Driver {
    async fn write_row(&self, value: Option<&'static str>) -> Revision {
        let op = Op { key: ROW.into(), value: value.map(Into::into), expect: Expect::Any, lifetime: None };
        self.rig.api.store.commit(vec![op].into()).await.expect("a commit")[0]
    }

    fn stored(&self) -> Vec<(Arc<str>, Vec<u8>)> {
        let (entries, _) = self.rig.api.store.range(PREFIX).expect("a range");
        entries.into_iter().map(|entry| (entry.key, entry.value.expect("a value").to_vec())).collect()
    }

    /// Adds gadgets, or replaces those of another generation.
    async fn serve(&mut self, generation: u64) {
        if self.since.is_none() {
            assert!(self.stored().is_empty(), "a late write has survived the removal");
        }
        let revision = Some(self.write_row(Some("declared")).await);
        if self.since.is_none() {
            assert!(self.stored().is_empty(), "a write has come before the declaration that allows it");
        }
        let (api, definition) = (self.rig.api.clone(), Hold { key: ROW.into(), revision });
        let replaced = move || api.registry.replace(gadgets(generation), Some(definition));
        let resource = tokio::task::spawn_blocking(replaced).await.expect("no panic").expect("gadgets are served");
        self.known.push(Arc::downgrade(&resource));
        self.since.get_or_insert(generation);
    }

    async fn remove(&mut self) {
        self.write_row(None).await;
        let gadgets = GroupResource { group: "alive.example.com".to_owned(), resource: "gadgets".to_owned() };
        let gadgets = self.rig.api.registry.resource(&gadgets).expect("gadgets are served");
        self.rig.api.remove_resource(&gadgets).await.expect("gadgets are removed");
        assert!(self.stored().is_empty(), "everything that was stored is gone");
        self.since = None;
    }

    /// Clients see the latest declaration.
    async fn check(&self, generation: u64) {
        let group = self.rig.get("/apis/alive.example.com").await;
        let others = (1..=5).filter(|k| self.since.is_none() || *k != beta(generation));
        for k in others {
            assert_eq!(self.rig.get(&format!("/apis/alive.example.com/v1beta{k}")).await.0, 404);
        }
        let Some(since) = self.since else {
            assert_eq!(group.0, 404, "{}", group.1);
            assert_eq!(self.rig.get(PATH).await.0, 404);
            return;
        };
        let names: Vec<&Value> =
            group.1["versions"].as_array().expect("versions").iter().map(|version| &version["version"]).collect();
        assert_eq!(json!(names), json!(["v1", format!("v1beta{}", beta(generation))]));
        for version in ["v1".to_owned(), format!("v1beta{}", beta(generation))] {
            let (code, list) = self.rig.get(&format!("/apis/alive.example.com/{version}")).await;
            assert_eq!((code, &list["resources"][0]["name"]), (200, &json!("gadgets")));
            let (code, list) = self.rig.get(&PATH.replace("v1", &version)).await;
            assert_eq!(code, 200, "{list}");
            assert!(list["items"].as_array().expect("items").iter().all(|item| generation_of(item) == generation));
        }
        for (key, value) in self.stored() {
            let written = written_by(&value);
            assert!(
                (since..=generation).contains(&written),
                "{key} was written by {written}, gadgets are since {since}"
            );
        }
        if generation.is_multiple_of(50) {
            let (code, index) = self.rig.get("/openapi/v3").await;
            let paths: Vec<&String> = index["paths"].as_object().expect("paths").keys().collect();
            let ours = |version: &str| paths.iter().any(|path| **path == format!("apis/alive.example.com/{version}"));
            assert!(code == 200 && ours("v1") && ours(&format!("v1beta{}", beta(generation))), "{paths:?}");
            assert_eq!(paths.len(), 3, "{paths:?}");
        }
    }
}

/// The generation of the schema under which a record was written.
fn written_by(record: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(record);
    let (_, rest) = text.split_once("\"spec\":{\"g").expect("the mark comes first");
    rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn resources_are_added_replaced_and_removed_a_thousand_times_under_load() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let rig = Arc::new(Rig::new().await);
        let (stop, stopping) = tokio::sync::watch::channel(false);
        let counts = Arc::new(Counts::default());
        let clients = clients::start(&rig, &stopping, &counts);
        let mut driver = Driver { rig: rig.clone(), since: None, known: Vec::new() };
        let mut settled = 0;
        for round in 0..ROUNDS {
            if round % 4 == 3 {
                driver.remove().await;
            } else {
                driver.serve(round).await;
            }
            driver.check(round).await;
            tokio::time::sleep(Duration::from_millis(round % 5)).await;
            if round.is_multiple_of(50) {
                // Otherwise a memory store keeps all history.
                let head = rig.api.store.head();
                rig.api.store.compact(Revision(head.0.saturating_sub(2_000))).expect("history is forgotten");
            }
            if round == SETTLED {
                settled = resident_kib();
            }
        }
        let end = resident_kib();
        stop.send_replace(true);
        for client in clients {
            tokio::time::timeout(Duration::from_mins(1), client).await.expect("a client ends").expect("no panic");
        }
        println!("{counts:?}; resident {settled} KiB after {SETTLED} rounds, {end} KiB after {ROUNDS}");
        counts.check(ROUNDS);
        assert!(end < settled + GROWTH_KIB, "{settled} KiB, then {end} KiB");
        let alive = driver.known.iter().filter(|resource| resource.strong_count() > 0).count();
        assert!(alive <= 2, "{alive} generations are kept");
    });
}
