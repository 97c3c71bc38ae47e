//! create: system fields, refusals, generated names, dry runs.
use std::sync::Arc;

use serde_json::json;

use super::fixture::{World, at, causes, dry_run, shown, version};
use crate::{
    codec::DecodedDocument,
    kind::{Kind, fixture::Hooks, model::Names},
    meta::options::{FieldValidation, GetOptions, WriteOptions},
    schema::{Schema, model::Type},
    verbs::{Answer, Error, error::Occupant},
};

#[tokio::test]
async fn the_server_sets_system_fields() {
    let world = World::new().await;
    let made = world
        .create_widget(json!({
            "metadata": {"name": "w", "uid": "mine", "generation": 7, "creationTimestamp": "1999-01-01T00:00:00Z",
                "deletionTimestamp": "1999-01-01T00:00:00Z", "managedFields": [{"manager": "x"}]},
            "spec": {"size": 2},
            "status": {"phase": "Ignored"},
        }))
        .await;
    let meta = &made["metadata"];
    assert_eq!(meta["uid"].as_str().map(str::len), Some(36));
    assert_eq!(meta["generation"], 1);
    assert_eq!(meta["namespace"], "ns");
    assert!(meta["creationTimestamp"].as_str().is_some_and(|at| at.starts_with("20")), "{meta}");
    assert!(meta.get("deletionTimestamp").is_none(), "{meta}");
    assert_eq!(meta["managedFields"][0]["manager"], "unknown", "invalid entries are unowned: {meta}");
    assert_eq!(made["spec"], json!({"color": "Red", "replicas": 1, "size": 2}));
    assert!(made.get("status").is_none());
    assert_eq!((&made["apiVersion"], &made["kind"]), (&json!("example.com/v1"), &json!("Widget")));
    assert_eq!(world.get(&world.widget("w")).await.unwrap(), made, "what was answered is what is stored");
}

#[tokio::test]
async fn an_existing_name_is_refused() {
    let world = World::new().await;
    world.create_config(json!({"metadata": {"name": "a"}})).await;
    let again = world.create(&world.configs, "ns", json!({"metadata": {"name": "a"}})).await;
    assert!(matches!(again, Err(Error::AlreadyExists(_, name, Occupant::Staying)) if name == "a"));
    let generated = json!({"metadata": {"name": "a", "generateName": "a-"}});
    let again = world.create(&world.configs, "ns", generated).await;
    assert!(matches!(again, Err(Error::GeneratedNameTaken(_, name, Occupant::Staying)) if name == "a"));

    world.create_config(json!({"metadata": {"name": "going", "finalizers": ["example.com/f"]}})).await;
    world.delete(&world.config("going")).await.unwrap();
    let again = world.create(&world.configs, "ns", json!({"metadata": {"name": "going"}})).await;
    assert!(matches!(again, Err(Error::AlreadyExists(_, _, Occupant::Terminating))), "{again:?}");
}

#[tokio::test]
async fn another_kind_or_place_is_a_bad_request() {
    let world = World::new().await;
    for body in [
        json!({"kind": "Secret", "metadata": {"name": "x"}}),
        json!({"apiVersion": "apps/v1", "metadata": {"name": "x"}}),
        json!({"metadata": {"name": "x", "namespace": "elsewhere"}}),
        json!({"metadata": {"name": "x"}, "data": {"k": 7}}),
        json!({"metadata": {"name": "x", "labels": {"k": 7}}}),
        json!({"metadata": "x"}),
        json!({"kind": 5}),
        json!([]),
        json!("text"),
        json!(null),
    ] {
        let refused = world.create(&world.configs, "ns", body.clone()).await;
        assert!(matches!(refused, Err(Error::BadRequest(_))), "{body}: {refused:?}");
    }
}

#[tokio::test]
async fn all_errors_are_reported_at_once() {
    let world = World::new().await;
    let refused = world
        .create(&world.widgets, "ns", json!({"metadata": {"name": "Bad"}, "spec": {"size": 0, "replicas": -1}}))
        .await
        .unwrap_err();
    let causes = causes(&refused);
    for field in ["metadata.name", "spec.size", "spec.replicas"] {
        assert!(causes.iter().any(|cause| cause.starts_with(field)), "{field} in {causes:?}");
    }
}

#[tokio::test]
async fn a_name_or_generate_name_is_required() {
    let world = World::new().await;
    let refused = world.create(&world.configs, "ns", json!({"metadata": {}})).await.unwrap_err();
    assert_eq!(causes(&refused), ["metadata.name: Required value: name or generateName is required"]);
    let made = world.create_config(json!({"metadata": {"generateName": "gen-"}})).await;
    let name = made["metadata"]["name"].as_str().unwrap();
    assert!(name.starts_with("gen-") && name.len() == 9, "{name}");
    assert!(world.get(&world.config(name)).await.is_ok());
}

#[tokio::test]
async fn generated_names_may_all_be_taken() {
    let world = World::new().await;
    let hooks = Hooks { generate_name: Some(|_, base| format!("{base}always")), ..Hooks::default() };
    let things = world.things(hooks);
    let body = json!({"metadata": {"generateName": "t-"}});
    let first = world.create(&things, "ns", body.clone()).await.unwrap();
    assert_eq!(first["metadata"]["name"], "t-always");
    let second = world.create(&things, "ns", body).await;
    assert!(matches!(second, Err(Error::GeneratedNameTaken(_, name, _)) if name == "t-always"));
}

#[tokio::test]
async fn a_resource_version_is_refused() {
    let world = World::new().await;
    let refused = world.create(&world.configs, "ns", json!({"metadata": {"name": "x", "resourceVersion": "5"}})).await;
    assert!(matches!(refused, Err(Error::Unknown(message)) if message.contains("should not be set")));
    for (at, unset) in ["0", "00", "abc", "-1", "1.0", "99999999999999999999999"].into_iter().enumerate() {
        let body = json!({"metadata": {"name": format!("x{at}"), "resourceVersion": unset}});
        let made = world.create(&world.configs, "ns", body).await.expect(unset);
        assert!(version(&made).parse::<u64>().is_ok_and(|version| version > 0), "{unset}: {made}");
        assert_eq!(world.get(&world.config(&format!("x{at}"))).await.unwrap(), made);
    }
}

#[tokio::test]
async fn a_dry_run_stores_nothing_and_shows_everything_but_a_version() {
    let world = World::new().await;
    let request = world.config("");
    let made = world.api.create(&request, json!({"metadata": {"name": "a"}}), &dry_run()).await.map(shown).unwrap();
    assert!(made["metadata"]["uid"].is_string());
    assert_eq!(version(&made), "");
    assert!(matches!(world.get(&world.config("a")).await, Err(Error::NotFound(..))));
    world.create_config(json!({"metadata": {"name": "a"}})).await;
    let again = world.api.create(&request, json!({"metadata": {"name": "a"}}), &dry_run()).await;
    assert!(matches!(again, Err(Error::AlreadyExists(..))));
}

#[tokio::test]
async fn unknown_fields_are_dropped_reported_or_refused() {
    let world = World::new().await;
    let body = json!({"metadata": {"name": "a", "what": 1}, "data": {}, "nope": {"x": 1}});
    let with = |field_validation| WriteOptions { field_validation, ..dry_run() };
    let request = world.config("");

    let quiet = world.api.create(&request, body.clone(), &with(FieldValidation::Ignore)).await.unwrap();
    assert!(quiet.warnings.is_empty());
    let told = world.api.create(&request, body.clone(), &with(FieldValidation::Warn)).await.unwrap();
    assert_eq!(told.warnings, ["unknown field \"metadata.what\"", "unknown field \"nope\""]);
    assert!(shown(told).get("nope").is_none());
    let twice = DecodedDocument { faults: vec!["duplicate field \"data.k\"".to_owned()], ..body.into() };
    let told = world.api.create(&request, twice.clone(), &with(FieldValidation::Warn)).await.unwrap();
    assert_eq!(told.warnings[0], "duplicate field \"data.k\"");
    let Err(Error::BadRequest(refused)) = world.api.create(&request, twice, &with(FieldValidation::Strict)).await
    else {
        panic!("strict")
    };
    assert!(
        refused.ends_with(
            "strict decoding error: duplicate field \"data.k\", unknown field \"metadata.what\", unknown field \"nope\""
        ),
        "{refused}"
    );
}

#[tokio::test]
async fn hooks_fill_in_and_refuse() {
    let world = World::new().await;
    let hooks = Hooks {
        default: Some(|object, context| {
            object["data"] = json!({"by": context.user.name.clone(), "dry": context.dry_run.to_string()});
            Ok(())
        }),
        validate: Some(|object, _| {
            let path = crate::meta::FieldPath::new("data.by");
            let wrong = object["data"]["by"] == "" && object["metadata"]["name"] == "refused";
            Ok(wrong
                .then(|| crate::meta::FieldError::new(&path, crate::meta::FieldErrorKind::Forbidden, "no"))
                .into_iter()
                .collect())
        }),
        ..Hooks::default()
    };
    let things = world.things(hooks);
    let made = world.create(&things, "ns", json!({"metadata": {"name": "t"}})).await.unwrap();
    assert_eq!(made["data"], json!({"by": "", "dry": "false"}));
    let refused = world.create(&things, "ns", json!({"metadata": {"name": "refused"}})).await.unwrap_err();
    assert_eq!(causes(&refused), ["data.by: Forbidden: no"]);
}

/// The maximum depth of decoders, on a worker's small stack: no step of the pipeline may overflow it.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn deep_documents_pass_through() {
    let world = Arc::new(World::new().await);
    let anything = crate::schema::fixture::schema(&json!({"x-kubernetes-preserve-unknown-fields": true}));
    let properties = [("data".to_owned(), anything)].into();
    let schema = Schema { kind: Type::Object, properties, ..Schema::default() };
    let kind = Kind::clone(&world.configs.kind).with(|shared, version, _| {
        shared.names = Names::new("Thing", "things");
        version.schema = Arc::new(schema);
    });
    let things = world.api.registry.register([kind]).unwrap();
    let depth = crate::codec::Limits::default().depth - 1;
    let text = format!(r#"{{"metadata":{{"name":"deep"}},"data":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    let body = crate::codec::decode(text.as_bytes(), &crate::codec::Limits::default()).unwrap().document;
    let name = tokio::spawn(async move {
        let made = world.api.create(&at(&things, "ns", ""), body, &WriteOptions::default()).await.unwrap();
        let read = world.api.get(&at(&things, "ns", "deep"), &GetOptions::default()).await.unwrap();
        let (Answer::Object(made), Answer::Object(read)) = (made.answer, read) else { panic!("an object") };
        assert_eq!(made.json(), read.json());
        let update = crate::codec::decode(&read.json(), &crate::codec::Limits::default()).unwrap().document;
        world.api.update(&at(&things, "ns", "deep"), update, &WriteOptions::default()).await.unwrap();
        read.name().to_owned()
    });
    assert_eq!(name.await.unwrap(), "deep");
}
