//! Malformed bodies and patches: the server refuses them as the client's error, or stores a valid object.
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value, json};

use super::fixture::{World, below};
use crate::{
    meta::options::{DeleteOptions, FieldValidation, PatchOptions, WriteOptions},
    verbs::{Error, Patch},
};

/// Names with a meaning to the server.
const KEYS: &[&str] = &[
    "metadata",
    "spec",
    "status",
    "data",
    "apiVersion",
    "kind",
    "name",
    "namespace",
    "generateName",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
    "managedFields",
    "replicas",
    "size",
    "color",
    "fixed",
    "phase",
    "selector",
    "k",
    "0",
    "-",
    "",
];

fn leaf() -> impl Strategy<Value = Value> {
    let texts =
        ["", "w", "ns", "other", "1", "x y", "Widget", "v1", "example.com/v1", "2026-01-02T03:04:05Z", "\u{0}", "ü/\n"];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        select(&[0i64, 1, -1, 3, 999, i64::MAX, i64::MIN][..]).prop_map(Value::from),
        Just(json!(1.5)),
        select(texts.to_vec()).prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((select(KEYS), inner), 0..4).prop_map(|fields| Value::Object(
                fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<Map<_, _>>()
            )),
        ]
    })
}

/// A body that resembles an object, with something unusual in it.
fn body() -> impl Strategy<Value = Value> {
    let near = (select(KEYS), value(), select(KEYS), value()).prop_map(|(top, strange, inner, odd)| {
        let mut body = json!({"metadata": {"name": "w"}, "spec": {"size": 1}});
        body["metadata"][inner] = odd.clone();
        body["spec"][inner] = odd;
        if !top.is_empty() && top != "metadata" {
            body[top] = strange;
        }
        body
    });
    prop_oneof![3 => near, 1 => value(), 1 => claim()]
}

/// A body with managed fields that are more or less valid.
fn claim() -> impl Strategy<Value = Value> {
    const NAMES: &[&str] =
        &["f:spec", "f:size", "f:metadata", "f:labels", "k:{\"a\":1}", "v:1", "i:0", ".", "zz", "f:", "v:", "k:[]"];
    let fields = Just(json!({})).prop_recursive(4, 12, 3, |inner| {
        vec((select(NAMES), inner), 0..3)
            .prop_map(|all| all.into_iter().map(|(name, below)| (name.to_owned(), below)).collect::<Map<_, _>>().into())
    });
    let operation = select(vec!["Apply", "Update", "", "What"]);
    let version = select(vec!["example.com/v1", "v9", ""]);
    (operation, version, prop_oneof![4 => fields, 1 => value()]).prop_map(|(operation, version, fields)| {
        let entry = json!({"manager": "hostile", "operation": operation, "apiVersion": version, "fieldsV1": fields,
            "fieldsType": "FieldsV1"});
        json!({"metadata": {"name": "w", "managedFields": [entry]}, "spec": {"size": 2}})
    })
}

fn pointer() -> impl Strategy<Value = String> {
    vec(select(KEYS), 1..5).prop_map(|names| format!("/{}", names.join("/")))
}

fn json_patch() -> impl Strategy<Value = Value> {
    let op = select(vec!["add", "remove", "replace", "move", "copy", "test", "what"]);
    let step = (op, pointer(), pointer(), value())
        .prop_map(|(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value}));
    vec(step, 0..4).prop_map(Value::from)
}

#[derive(Clone, Debug)]
enum Act {
    Create(Value),
    Update(&'static str, Value),
    Merge(&'static str, Value),
    Json(&'static str, Value),
    Strategic(&'static str, Value),
    Apply(&'static str, Value),
    Delete,
}

fn act() -> impl Strategy<Value = Act> {
    let at = || select(vec!["", "", "status", "scale", "finalize"]);
    prop_oneof![
        body().prop_map(Act::Create),
        (at(), body()).prop_map(|(at, body)| Act::Update(at, body)),
        (at(), body()).prop_map(|(at, body)| Act::Merge(at, body)),
        (at(), json_patch()).prop_map(|(at, patch)| Act::Json(at, patch)),
        (at(), body()).prop_map(|(at, patch)| Act::Strategic(at, patch)),
        (at(), body()).prop_map(|(at, config)| Act::Apply(at, config)),
        Just(Act::Delete),
    ]
}

async fn perform(world: &World, act: Act, options: &WriteOptions) -> Result<(), Error> {
    let on = |subresource| below(world.widget("w"), subresource);
    let patching = PatchOptions { write: options.clone(), force: false };
    match act {
        Act::Create(body) => world.api.create(&world.widget(""), body, options).await.map(drop),
        Act::Update(at, mut body) => {
            // Sometimes with the current version, so that the write is attempted.
            if let (Ok(newest), true) = (world.get(&world.widget("w")).await, body["metadata"].is_object()) {
                body["metadata"]["resourceVersion"] = newest["metadata"]["resourceVersion"].clone();
            }
            world.api.update(&on(at), body, options).await.map(drop)
        }
        Act::Merge(at, patch) => {
            world.api.patch(&on(at), Patch::Merge(patch.to_string().into()), &patching).await.map(drop)
        }
        Act::Json(at, patch) => {
            world.api.patch(&on(at), Patch::Json(patch.to_string().into()), &patching).await.map(drop)
        }
        Act::Strategic(at, patch) => {
            world.api.patch(&on(at), Patch::Strategic(patch.to_string().into()), &patching).await.map(drop)
        }
        Act::Apply(at, mut config) => {
            // Sometimes as a valid apply configuration.
            if config.is_object() && config["kind"].is_null() {
                let kind = if at == "scale" { ("autoscaling/v1", "Scale") } else { ("example.com/v1", "Widget") };
                (config["apiVersion"], config["kind"]) = (json!(kind.0), json!(kind.1));
            }
            let force = options.field_validation == FieldValidation::Strict;
            world.apply_with(&on(at), config, &PatchOptions { force, ..patching }).await.map(drop)
        }
        Act::Delete => world.api.delete(&on(""), &DeleteOptions::default()).await.map(drop),
    }
}

/// The invariants of every stored object.
fn check(object: &Value, before: Option<&Value>) {
    let meta = &object["metadata"];
    let number = |object: &Value, member: &str| -> i64 {
        let value = &object["metadata"][member];
        value.as_i64().or_else(|| value.as_str()?.parse().ok()).expect("a number")
    };
    assert_eq!((&meta["name"], &meta["namespace"], &object["kind"]), (&json!("w"), &json!("ns"), &json!("Widget")));
    assert_eq!(meta["uid"].as_str().map(str::len), Some(36), "{object}");
    assert!(meta["creationTimestamp"].as_str().is_some_and(|at| at.len() == 20), "{object}");
    assert!(object["spec"]["size"].as_i64().is_some_and(|size| (1..=1000).contains(&size)), "{object}");
    assert!(object.get("data").is_none(), "{object}");
    for entry in meta["managedFields"].as_array().into_iter().flatten() {
        assert!(entry["fieldsType"] == "FieldsV1" && entry["fieldsV1"].is_object(), "{object}");
    }
    let Some(before) = before.filter(|before| before["metadata"]["uid"] == meta["uid"]) else { return };
    assert_eq!(before["metadata"]["creationTimestamp"], meta["creationTimestamp"]);
    assert!(number(object, "resourceVersion") >= number(before, "resourceVersion"));
    let desired = |object: &Value| (object["spec"].clone(), object["metadata"].get("deletionTimestamp").cloned());
    assert_eq!(
        number(object, "generation") > number(before, "generation"),
        desired(object) != desired(before),
        "{object}"
    );
    let deleted = &before["metadata"]["deletionTimestamp"];
    assert!(deleted.is_null() || *deleted == meta["deletionTimestamp"], "a deletion cannot be taken back");
    assert!(before["spec"]["fixed"].is_null() || before["spec"]["fixed"] == object["spec"]["fixed"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn malformed_requests_are_client_errors(acts in vec((act(), any::<bool>()), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let world = World::new().await;
            world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 1, "fixed": "f"}})).await;
            let mut before = world.get(&world.widget("w")).await.ok();
            for (act, strict) in acts {
                let field_validation = if strict { FieldValidation::Strict } else { FieldValidation::Warn };
                let options = WriteOptions { field_validation, field_manager: "hostile".into(), ..Default::default() };
                let shown = format!("{act:?}");
                if let Err(error) = perform(&world, act, &options).await {
                    // kube-apiserver also answers 500 to an invalid resourceVersion, to one in a create, and to an
                    // apply of unknown fields.
                    let known = ["resourceVersion", "failed to create typed patch object"];
                    let accident = matches!(&error, Error::Unknown(why) if known.iter().any(|text| why.contains(text)));
                    assert!(accident || !matches!(error, Error::Internal(_) | Error::Unknown(_)), "{shown}: {error:?}");
                }
                let after = world.get(&world.widget("w")).await.ok();
                if let Some(object) = &after {
                    check(object, before.as_ref());
                }
                before = after;
            }
        });
    }
}
