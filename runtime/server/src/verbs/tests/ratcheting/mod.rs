//! Ratcheting (KEP-4008): an update may keep an invalid value that it does not change. Objects stored under looser
//! rules, one for each rule, and writes of them with every verb under the tighter rules.
mod hooks;
mod table;

use std::sync::Arc;

use serde_json::{Value, json};

use self::table::{
    Then::{Refused, Stored},
    changes,
};
use super::fixture::{World, applier, at, below, causes, dry_run, kind, merge_patch, shown};
use crate::{
    kind::{
        Kind,
        model::{Path, ScalePaths},
        policy::Custom,
    },
    meta::options::PatchOptions,
    registry::ResourceEntry,
    storage::Memory,
    verbs::{DeleteResult, Error, Patch, Request},
};

/// The schema of a spec; `tight` selects the rules.
fn cask(tight: bool) -> Kind {
    let rule = |loose: Value, tighter: Value| {
        let mut rule = loose;
        if tight {
            rule.as_object_mut().unwrap().extend(tighter.as_object().unwrap().clone());
        }
        rule
    };
    let integer = || json!({"type": "integer"});
    let text = || json!({"type": "string"});
    let short = || rule(text(), json!({"maxLength": 3}));
    let digit = || rule(integer(), json!({"maximum": 9}));
    let pair = |a: &str, b: &str| json!({"type": "object", "properties": {a: integer(), b: integer()}});
    let spec = json!({
        "size": rule(integer(), json!({"minimum": 1, "maximum": 9})),
        "color": rule(text(), json!({"enum": ["Red", "Green"]})),
        "code": rule(text(), json!({"pattern": "^[A-Z]+$", "maxLength": 4})),
        "when": rule(text(), json!({"format": "date-time"})),
        "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"], "properties": {
                "name": text(), "number": digit(), "protocol": {"type": "string", "default": "TCP"}}}},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": short()},
        "args": {"type": "array", "x-kubernetes-list-type": "atomic", "items": short()},
        "plain": {"type": "array", "items": digit()},
        "options": {"type": "object", "additionalProperties": short()},
        "fixed": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": short()},
        "nested": {"type": "object", "properties": {
            "a": rule(text(), json!({"minLength": 2})),
            "b": rule(integer(), json!({"minimum": 0})),
            "deep": {"type": "object", "properties": {"c": rule(integer(), json!({"multipleOf": 2}))}}}},
        "pair": rule(pair("left", "right"), json!({"required": ["left", "right"]})),
        "choice": rule(pair("x", "y"), json!({"union": true})),
        "many": rule(json!({"type": "array", "items": integer()}), json!({"maxItems": 2})),
        "open": rule(
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            json!({"properties": {"n": {"type": "integer", "maximum": 5}}}),
        ),
        "either": rule(json!({"x-kubernetes-int-or-string": true}), json!({"pattern": "^[0-9]+%$"})),
        "twice": rule(json!({"type": "array", "items": text()}), json!({"x-kubernetes-list-type": "set"})),
        "typed": if tight { text() } else { integer() },
    });
    let status = json!({"type": "object", "properties": {
        "phase": rule(text(), json!({"enum": ["Ready"]})), "n": rule(integer(), json!({"maximum": 5}))}});
    let from = rule(
        json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": spec}, "status": status, "extra": text()}}),
        json!({"required": ["extra"]}),
    );
    kind("example.com", "Cask", "casks", &from).with(|_, version, binding| {
        binding.policy = &Custom;
        version.status = true;
        version.generation = true;
        version.scale = Some(ScalePaths::new(Path::from("spec.size"), Path::from("status.n")));
    })
}

/// Objects that the looser rules allow, each named after the tighter rule that it violates.
fn stored() -> Vec<(&'static str, Value)> {
    vec![
        ("size", json!({"size": 9_999_999})),
        ("color", json!({"color": "Mauve"})),
        ("code", json!({"code": "lower"})),
        ("when", json!({"when": "later"})),
        ("ports", json!({"ports": [{"name": "a", "number": 8}, {"name": "b", "number": 808_080}]})),
        ("tags", json!({"tags": ["ok", "longer"]})),
        ("args", json!({"args": ["ok", "longer"]})),
        ("plain", json!({"plain": [1, 505_050]})),
        ("options", json!({"options": {"a": "ok", "b": "longer"}})),
        ("fixed", json!({"fixed": {"a": "ok", "b": "longer"}})),
        ("nested", json!({"nested": {"a": "x", "b": -1, "deep": {"c": 3}}})),
        ("pair", json!({"pair": {"left": 1}})),
        ("choice", json!({"choice": {"x": 1, "y": 2}})),
        ("many", json!({"many": [1, 2, 3]})),
        ("open", json!({"open": {"n": 9, "free": "yes"}})),
        ("either", json!({"either": "many"})),
        ("two", json!({"size": 9_999_999, "color": "Mauve"})),
        ("twice", json!({"twice": ["a", "a"], "size": 1})),
        ("typed", json!({"typed": 7, "size": 1})),
    ]
}

/// The finalizer of an object to be deleted.
const HOLD: &str = "example.com/hold";

/// A world with the tighter rules over objects of the looser ones.
struct Tight {
    world: World,
    casks: Arc<ResourceEntry>,
}

impl Tight {
    async fn new() -> Self {
        let store = Arc::new(Memory::new());
        let loose = World::over(store.clone()).await;
        let casks = loose.api.registry.register([cask(false)]).unwrap();
        for (name, spec) in stored() {
            let body = json!({"metadata": {"name": name}, "extra": "x", "spec": spec});
            loose.create(&casks, "ns", body).await.unwrap();
        }
        let body =
            json!({"metadata": {"name": "leaving", "finalizers": [HOLD]}, "extra": "x", "spec": {"size": 9_999_999}});
        loose.create(&casks, "ns", body).await.unwrap();
        let config = json!({"apiVersion": "example.com/v1", "kind": "Cask", "metadata": {"name": "leaving"},
            "spec": {"color": "Mauve"}});
        loose.apply(&at(&casks, "ns", "leaving"), "owner", config).await.unwrap();
        loose.create(&casks, "ns", json!({"metadata": {"name": "bare"}, "spec": {"color": "Red"}})).await.unwrap();
        let status = below(at(&casks, "ns", "size"), "status");
        loose.merge(&status, json!({"status": {"phase": "Odd", "n": 7}})).await.unwrap();

        let world = World::over(store).await;
        let casks = world.api.registry.register([cask(true)]).unwrap();
        Self { world, casks }
    }

    fn at(&self, name: &str) -> Request {
        at(&self.casks, "ns", name)
    }

    async fn merge(&self, name: &str, patch: Value) -> Result<Value, Error> {
        self.world.merge(&self.at(name), patch).await
    }

    async fn apply(&self, name: &str, manager: &str, spec: Value) -> Result<Value, Error> {
        let config = json!({"apiVersion": "example.com/v1", "kind": "Cask", "metadata": {"name": name}, "spec": spec});
        self.world.apply_with(&self.at(name), config, &applier(manager)).await.map(shown)
    }
}

#[tokio::test]
async fn metadata_of_every_object_can_be_changed() {
    let tight = Tight::new().await;
    for (name, _) in stored().into_iter().chain([("bare", json!({})), ("leaving", json!({}))]) {
        let before = tight.world.get(&tight.at(name)).await.unwrap();
        let labelled = tight.merge(name, json!({"metadata": {"labels": {"a": "b"}}})).await;
        let labelled = labelled.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(labelled["spec"], before["spec"], "{name}");
        assert_eq!(labelled["metadata"]["generation"], before["metadata"]["generation"], "{name}");
    }
}

#[tokio::test]
async fn only_changed_values_are_validated() {
    let tight = Tight::new().await;
    for (name, spec, then) in changes() {
        let done = tight.merge(name, json!({"spec": spec})).await;
        match then {
            Stored(expected) => {
                let stored = done.unwrap_or_else(|error| panic!("{name} {spec}: {error:?}"));
                assert_eq!(stored["spec"], expected, "{name} {spec}");
            }
            Refused(expected) => assert_eq!(causes(&done.expect_err(name)), expected, "{name} {spec}"),
        }
    }
}

#[tokio::test]
async fn every_kind_of_write_may_keep_unchanged_values() {
    let tight = Tight::new().await;
    let (world, ports, options) = (&tight.world, tight.at("ports"), tight.at("options"));

    world
        .json(&ports, json!([{"op": "add", "path": "/spec/ports/-", "value": {"name": "e", "number": 1}}]))
        .await
        .unwrap();
    let strategic = |patch: Value| Patch::Strategic(patch.to_string().into());
    let add = strategic(json!({"metadata": {"annotations": {"a": "b"}}, "spec": {"size": 3}}));
    world.api.patch(&ports, add, &PatchOptions::default()).await.unwrap();
    tight.apply("ports", "applier", json!({"ports": [{"name": "f", "number": 2}]})).await.unwrap();
    let refused = tight.apply("ports", "applier", json!({"ports": [{"name": "g", "number": 202_020}]})).await;
    let told =
        "spec.ports[3].number: Invalid value: 202020: spec.ports[3].number in body should be less than or equal to 9";
    assert_eq!(causes(&refused.unwrap_err()), [told]);
    let taken = tight.apply("ports", "second", json!({"ports": [{"name": "b", "number": 808_080}]})).await.unwrap();
    let names: Vec<_> = taken["spec"]["ports"].as_array().unwrap().iter().map(|port| &port["name"]).collect();
    assert_eq!(names, ["a", "b", "e", "f"], "an apply takes the bad item as it is");
    let refused = tight.apply("tags", "applier", json!({"tags": ["one"]})).await.unwrap_err();
    assert_eq!(causes(&refused), ["spec.tags[1]: Too long: may not be more than 3 bytes"]);

    let mut object = world.get(&options).await.unwrap();
    object["spec"]["options"] = json!({"b": "longer", "z": "z"});
    let mut object = world.update(&options, object).await.unwrap();
    object["spec"]["options"] = json!({"b": "longest"});
    let told = "spec.options.b: Too long: may not be more than 3 bytes";
    assert_eq!(causes(&world.update(&options, object.clone()).await.unwrap_err()), [told]);
    let options_of_dry_run = PatchOptions { write: dry_run(), ..PatchOptions::default() };
    let patch = merge_patch(&json!({"spec": {"options": {"b": "longest"}}}));
    assert_eq!(causes(&world.api.patch(&options, patch, &options_of_dry_run).await.unwrap_err()), [told]);
}

#[tokio::test]
async fn subresources_may_keep_unchanged_values() {
    let tight = Tight::new().await;
    let status = |name| below(tight.at(name), "status");
    let scale = |name| below(tight.at(name), "scale");
    let merge = async |request: Request, patch: Value| tight.world.merge(&request, patch).await;
    let annotated = json!({"status": {"phase": "Odd"}, "metadata": {"annotations": {"a": "b"}}});
    merge(status("size"), annotated).await.unwrap();
    let fixed = merge(status("size"), json!({"status": {"n": 3}})).await.unwrap();
    assert_eq!(fixed["status"], json!({"n": 3, "phase": "Odd"}));
    let refused = merge(status("size"), json!({"status": {"phase": "Queer"}})).await.unwrap_err();
    assert_eq!(causes(&refused), [r#"status.phase: Unsupported value: "Queer": supported values: "Ready""#]);
    for name in ["color", "bare"] {
        let written = merge(status(name), json!({"status": {"phase": "Ready"}})).await.unwrap();
        assert_eq!(
            written["status"],
            json!({"phase": "Ready"}),
            "{name}: beside a spec, or a lack, that is not allowed"
        );
    }
    let spec = tight.merge("size", json!({"spec": {"size": 9}})).await.unwrap();
    assert_eq!(
        spec["status"],
        json!({"n": 3, "phase": "Odd"}),
        "a spec is written beside a status that is not allowed"
    );

    let scaled = merge(scale("color"), json!({"spec": {"replicas": 4}})).await.unwrap();
    assert_eq!(scaled["spec"], json!({"replicas": 4}));
    let refused = merge(scale("color"), json!({"spec": {"replicas": 4_444_444}})).await.unwrap_err();
    assert_eq!(
        causes(&refused),
        ["spec.size: Invalid value: 4444444: spec.size in body should be less than or equal to 9"]
    );
}

#[tokio::test]
async fn objects_that_do_not_fit_are_deleted_like_others() {
    let tight = Tight::new().await;
    let dropped = tight.apply("leaving", "owner", json!({})).await.unwrap();
    assert_eq!(dropped["spec"], json!({"size": 9_999_999}), "its owner lets go of one bad value, and the other stays");
    assert!(matches!(tight.world.delete(&tight.at("leaving")).await.unwrap(), DeleteResult::Marked(_)));
    let refused = tight.merge("leaving", json!({"spec": {"size": 8_888_888}})).await.unwrap_err();
    let told = "spec.size: Invalid value: 8888888: spec.size in body should be less than or equal to 9";
    assert_eq!(causes(&refused), [told]);
    tight.merge("leaving", json!({"metadata": {"finalizers": null}})).await.unwrap();
    let gone = tight.world.get(&tight.at("leaving")).await;
    assert!(matches!(gone, Err(Error::NotFound(..))));
    assert!(matches!(tight.world.delete(&tight.at("two")).await.unwrap(), DeleteResult::Gone { .. }));
}

#[tokio::test]
async fn new_objects_are_validated_completely() {
    let tight = Tight::new().await;
    let told = "spec.size: Invalid value: 9999999: spec.size in body should be less than or equal to 9";
    let body = json!({"metadata": {"name": "new"}, "extra": "x", "spec": {"size": 9_999_999}});
    let refused = tight.world.create(&tight.casks, "ns", body).await.unwrap_err();
    assert_eq!(causes(&refused), [told]);
    let applied = tight.apply("new", "m", json!({"size": 9_999_999})).await.unwrap_err();
    assert_eq!(causes(&applied), [told, "extra: Required value"]);
}
