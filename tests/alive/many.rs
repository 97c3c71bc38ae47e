//! A thousand resources in five versions each: the time to register them, their memory, and that requests about one of
//! them are as fast as without the others.

use std::{
    sync::PoisonError,
    time::{Duration, Instant},
};

use kindsmith::kind::Kind;
use kindsmith_storage::{Expect, Op};
use serde_json::json;

use super::{
    ALONE,
    rig::{Rig, kind, object, resident_kib, text},
};

const RESOURCES: usize = 1_000;
const VERSIONS: [&str; 5] = ["v1", "v1beta1", "v1beta2", "v1alpha1", "v1alpha2"];
/// Generous, because other processes may use the machine.
const TIME: Duration = Duration::from_secs(if cfg!(debug_assertions) { 30 } else { 3 });
const MEMORY_KIB: u64 = 100 << 10;
const REQUESTS: usize = 2_000;

/// A kind of the usual size: twenty fields in three objects, each with a description.
fn versions(number: usize) -> Vec<Kind> {
    let field = |prefix: &str, at: usize| {
        let description = format!("Field {at} of {prefix}, which says how something is to be.");
        (format!("{prefix}{at}"), text().with(|text| text.description = description))
    };
    let spec = object(
        (0..9)
            .map(|at| field("spec", at))
            .chain([("template".to_owned(), object((0..6).map(|at| field("template", at))))]),
    );
    let status = object((0..5).map(|at| field("status", at)));
    let schema = object([("spec".to_owned(), spec), ("status".to_owned(), status)]);
    let one = |version: &&str| kind("many.example.com", &format!("Kind{number:04}"), version, schema.clone());
    VERSIONS.iter().map(one).collect()
}

/// The median time of a get, and of a write that touches one resource.
async fn measure(rig: &Rig) -> (Duration, Duration) {
    let path = "/apis/many.example.com/v1/namespaces/ns/kind0000s/a";
    let (mut gets, mut writes) = (Vec::new(), Vec::new());
    for n in 0..REQUESTS {
        let begun = Instant::now();
        let (code, _) = rig.get(path).await;
        gets.push(begun.elapsed());
        assert_eq!(code, 200);
        let op = Op {
            key: "/registry/many.example.com/kind0000s/ns/b".into(),
            value: Some(n.to_string().into()),
            expect: Expect::Any,
            lifetime: None,
        };
        let begun = Instant::now();
        rig.api.store.commit(vec![op].into()).await.expect("a commit");
        writes.push(begun.elapsed());
    }
    let median = |mut all: Vec<Duration>| {
        all.sort_unstable();
        all[all.len() / 2]
    };
    (median(gets), median(writes))
}

#[test]
fn a_thousand_resources_in_five_versions_register_fast_and_do_not_slow_requests() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let rig = Rig::new().await;
        let registry = &rig.api.registry;
        registry.register(versions(0)).expect("a kind");
        let path = "/apis/many.example.com/v1/namespaces/ns/kind0000s";
        let object = json!({
            "apiVersion": "many.example.com/v1", "kind": "Kind0000", "metadata": {"name": "a"}, "spec": {"spec1": "x"},
        });
        let (code, made) = rig.call("POST", path, &object).await;
        assert_eq!(code, 201, "{made}");
        let alone = measure(&rig).await;
        let before = resident_kib();
        let begun = Instant::now();
        let mut halves = [Duration::ZERO; 2];
        for number in 1..RESOURCES {
            let begun = Instant::now();
            registry.register(versions(number)).expect("a kind");
            halves[number * 2 / RESOURCES] += begun.elapsed();
        }
        let took = begun.elapsed();
        let grown = resident_kib().saturating_sub(before);
        let among = measure(&rig).await;
        let begun = Instant::now();
        let (code, group) = rig.get("/apis/many.example.com/v1").await;
        let discovery = begun.elapsed();
        assert_eq!((code, group["resources"].as_array().map(Vec::len)), (200, Some(RESOURCES * 2)));
        println!(
            "{RESOURCES} resources in {} versions: {took:?} ({halves:?} by halves), {} MiB; discovery made in {discovery:?}; \
             a get {:?}, alone {:?}; a commit {:?}, alone {:?}",
            VERSIONS.len(), grown >> 10, among.0, alone.0, among.1, alone.1,
        );
        assert!(took < TIME, "{took:?}");
        assert!(grown < MEMORY_KIB, "{grown} KiB");
        assert!(halves[1] < halves[0] * 2 + TIME / 20, "{halves:?}: what is registered later costs more");
        let slack = Duration::from_micros(if cfg!(debug_assertions) { 300 } else { 30 });
        assert!(among.0 < alone.0 * 3 / 2 + slack, "a get takes {:?}, and {:?} alone", among.0, alone.0);
        assert!(among.1 < alone.1 * 3 / 2 + slack, "a commit takes {:?}, and {:?} alone", among.1, alone.1);
    });
}
