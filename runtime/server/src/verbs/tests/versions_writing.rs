//! Writes through a version other than the storage version.
use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    fixture::{World, applier, at, causes, dry_run, merge_patch, names, selecting, shown, value, version},
    versions::{gears, gears_with, stored},
};
use crate::{
    kind::fixture::Hooks,
    meta::{
        FieldError, FieldErrorKind, FieldPath,
        options::{DeleteOptions, ListOptions, PatchOptions},
    },
    registry::ResourceEntry,
    verbs::{DeleteResult, Error, Patch, Request},
};

/// The gears of a world in both versions.
struct Gears {
    world: World,
    v1: Arc<ResourceEntry>,
    beta: Arc<ResourceEntry>,
}

impl Gears {
    async fn new() -> Self {
        let world = World::new().await;
        let [v1, beta] = gears(&world);
        Self { world, v1, beta }
    }

    fn v1(&self) -> Request {
        at(&self.v1, "ns", "g")
    }

    fn beta(&self) -> Request {
        at(&self.beta, "ns", "g")
    }

    /// A new gear, written in the storage version.
    async fn made(&self, metadata: Value, spec: Value) -> Value {
        let mut body = json!({"metadata": metadata, "spec": spec});
        body["metadata"]["name"] = json!("g");
        self.world.create(&self.v1, "ns", body).await.unwrap()
    }

    async fn in_v1(&self) -> Value {
        self.world.get(&self.v1()).await.unwrap()
    }
}

#[tokio::test]
async fn objects_are_stored_in_the_storage_version_and_shown_in_the_other() {
    let gears = Gears::new().await;
    let body = json!({"metadata": {"name": "g"}, "spec": {"color": "red", "metal": "Gold", "finish": {}}});
    let made = gears.world.create(&gears.beta, "ns", body).await.unwrap();
    assert_eq!((&made["apiVersion"], &made["cogs"]), (&json!("example.com/v1beta1"), &json!(10)));
    assert_eq!(made["spec"], json!({"color": "red"}), "what the stored version does not know is not kept");
    assert_eq!(made, gears.world.get(&gears.beta()).await.unwrap());
    let stored = gears.in_v1().await;
    assert_eq!(stored["spec"], json!({"color": "red", "metal": "Zinc", "teeth": 10}));
    assert_eq!((&stored["apiVersion"], stored.get("cogs")), (&json!("example.com/v1"), None));
    assert_eq!((version(&stored), &stored["metadata"]["generation"]), (version(&made), &json!(1)));

    let changed = gears.world.merge(&gears.beta(), json!({"cogs": 20})).await.unwrap();
    assert_eq!((&changed["cogs"], &changed["metadata"]["generation"]), (&json!(20), &json!(2)));
    let mut body = gears.world.get(&gears.beta()).await.unwrap();
    body["cogs"] = json!(21);
    gears.world.update(&gears.beta(), body.clone()).await.unwrap();
    assert!(
        matches!(gears.world.update(&gears.beta(), body).await, Err(Error::Conflict(..))),
        "revisions are the same"
    );
    assert_eq!(gears.in_v1().await["spec"]["teeth"], 21);
    let config = json!({"apiVersion": "example.com/v1beta1", "kind": "Gear", "metadata": {"name": "g"}, "cogs": 21});
    let applied = shown(gears.world.apply(&gears.beta(), "a", config).await.unwrap());
    assert_eq!((&applied["apiVersion"], &applied["cogs"]), (&json!("example.com/v1beta1"), &json!(21)));
}

#[tokio::test]
async fn fields_that_a_version_lacks_are_lost_by_its_writes_and_count_as_a_change() {
    let gears = Gears::new().await;
    let body = json!({"metadata": {"name": "g"}, "cogs": 5});
    let made = gears.world.create(&gears.beta, "ns", body).await.unwrap();
    let same = gears.world.merge(&gears.beta(), json!({})).await.unwrap();
    assert_eq!(version(&same), version(&made), "the stored document is as it was");
    let gilded = gears.world.merge(&gears.v1(), json!({"spec": {"metal": "Gold"}})).await.unwrap();
    let labelled = gears.world.merge(&gears.beta(), json!({})).await.unwrap();
    assert_ne!(version(&labelled), version(&gilded));
    assert_eq!(gears.in_v1().await["spec"], json!({"metal": "Zinc", "teeth": 5}));
}

#[tokio::test]
async fn objects_are_validated_by_the_version_in_which_they_are_written() {
    let gears = Gears::new().await;
    let long = json!({"metadata": {"name": "g"}, "spec": {"color": "greenish-blue"}});
    gears.world.create(&gears.beta, "ns", long).await.unwrap();
    gears.world.merge(&gears.v1(), json!({"metadata": {"labels": {"a": "b"}}})).await.expect("it is as it was");
    let longer = gears.world.merge(&gears.v1(), json!({"spec": {"color": "bluish-green"}})).await;
    assert!(matches!(longer, Err(Error::Invalid(..))));
    let many = gears.world.merge(&gears.beta(), json!({"cogs": 101})).await;
    assert!(matches!(many, Err(Error::Invalid(..))));
}

#[tokio::test]
async fn objects_that_cannot_be_converted_to_the_storage_version_are_refused() {
    let gears = Gears::new().await;
    let body = |cogs| json!({"metadata": {"name": "g"}, "cogs": cogs});
    let refused = gears.world.create(&gears.beta, "ns", body(31)).await.unwrap_err();
    let why = "it has no form in version v1, which is stored: 31 is too many";
    assert!(causes(&refused)[0].ends_with(why), "{:?}", causes(&refused));
    gears.world.create(&gears.beta, "ns", body(30)).await.unwrap();
    let refused = gears.world.merge(&gears.beta(), json!({"cogs": 31})).await.unwrap_err();
    assert!(causes(&refused)[0].ends_with("31 is too many"));
}

#[tokio::test]
async fn nothing_is_stored_that_cannot_be_read_back_in_the_version_in_which_it_is_written() {
    let gears = Gears::new().await;
    let (world, beta) = (&gears.world, gears.beta());
    let body =
        |cogs| json!({"apiVersion": "example.com/v1beta1", "kind": "Gear", "metadata": {"name": "g"}, "cogs": cogs});
    let head = || world.api.cache.revision();
    let why = "as it would be stored, it has no form in version v1beta1: 13 brings bad luck";
    let refused = |result: Result<(), Error>, before| {
        let error = result.expect_err("it is refused");
        assert!(causes(&error)[0].ends_with(why), "{error:?}");
        assert_eq!(head(), before, "nothing is committed");
    };
    let before = head();
    refused(world.create(&gears.beta, "ns", body(13)).await.map(drop), before);
    let generated = json!({"metadata": {"generateName": "g-"}, "cogs": 13});
    refused(world.create(&gears.beta, "ns", generated).await.map(drop), before);
    refused(world.apply(&beta, "a", body(13)).await.map(drop), before);

    let made = gears.made(json!({"finalizers": ["e.com/a"]}), json!({"teeth": 14})).await;
    let before = head();
    let mut whole = world.get(&beta).await.unwrap();
    whole["cogs"] = json!(13);
    refused(world.update(&beta, whole).await.map(drop), before);
    refused(world.merge(&beta, json!({"cogs": 13})).await.map(drop), before);
    refused(world.merge(&beta, json!({"cogs": 13, "metadata": {"finalizers": null}})).await.map(drop), before);
    let replace = Patch::Json(json!([{"op": "replace", "path": "/cogs", "value": 13}]).to_string().into());
    refused(world.api.patch(&beta, replace, &PatchOptions::default()).await.map(drop), before);
    refused(world.apply_with(&beta, body(13), &PatchOptions { force: true, ..applier("a") }).await.map(drop), before);
    let tried = PatchOptions { write: dry_run(), force: false };
    refused(world.api.patch(&beta, merge_patch(&json!({"cogs": 13})), &tried).await.map(drop), before);
    assert_eq!(gears.in_v1().await, made);

    world.delete(&gears.v1()).await.unwrap();
    let (marked, before) = (gears.in_v1().await, head());
    refused(world.merge(&beta, json!({"cogs": 13, "metadata": {"finalizers": null}})).await.map(drop), before);
    assert_eq!(gears.in_v1().await, marked, "nor is the object removed");
}

#[tokio::test]
async fn collections_of_objects_that_cannot_be_converted_are_deleted() {
    let gears = Gears::new().await;
    gears.made(json!({"finalizers": ["e.com/a"]}), json!({"teeth": 13})).await;
    let all = at(&gears.beta, "ns", "");
    let options = (ListOptions::default(), DeleteOptions::default());
    let deleted = gears.world.api.delete_collection(&all, &options.0, &options.1).await.unwrap();
    assert_eq!(deleted.items.len(), 1);
    assert!(gears.in_v1().await["metadata"]["deletionTimestamp"].is_string());
}

#[tokio::test]
async fn hooks_of_both_versions_run() {
    let world = World::new().await;
    let hooks = Hooks {
        default: Some(|gear, _| {
            gear["metadata"]["annotations"] = json!({"teeth": gear["spec"]["teeth"].to_string()});
            Ok(())
        }),
        validate: Some(|gear, context| {
            let path = FieldPath::new("spec").child("teeth");
            let shrunk = context.old.is_some_and(|old| gear["spec"]["teeth"].as_i64() < old["spec"]["teeth"].as_i64());
            let errors = shrunk.then(|| FieldError::new(&path, FieldErrorKind::Forbidden, "teeth do not fall out"));
            Ok(errors.into_iter().collect())
        }),
        generate_name: Some(|gear, base| format!("{base}{}", gear["spec"]["teeth"])),
        ..Hooks::default()
    };
    let [_, beta] = gears_with(&world, stored().with(|_, _, binding| binding.hooks = Arc::new(hooks)));
    let body = json!({"metadata": {"generateName": "g-"}, "cogs": 20});
    let made = world.create(&beta, "ns", body).await.unwrap();
    assert_eq!(
        (&made["metadata"]["name"], &made["metadata"]["annotations"]),
        (&json!("g-20"), &json!({"teeth": "20"}))
    );
    let request = at(&beta, "ns", "g-20");
    assert_eq!(world.merge(&request, json!({"cogs": 21})).await.unwrap()["metadata"]["annotations"]["teeth"], "21");
    let refused = world.merge(&request, json!({"cogs": 20})).await.unwrap_err();
    assert_eq!(causes(&refused), ["spec.teeth: Forbidden: teeth do not fall out"]);
}

#[tokio::test]
async fn an_object_that_cannot_be_converted_to_a_version_is_not_shown_there() {
    let gears = Gears::new().await;
    gears.made(json!({}), json!({"teeth": 13})).await;
    let Err(Error::StoreRead { causes, .. }) = gears.world.get(&gears.beta()).await else { panic!("it has no form") };
    assert_eq!(causes[0].0, "/registry/example.com/gears/ns/g");
    assert!(causes[0].1.ends_with("13 brings bad luck"), "{}", causes[0].1);
    let changed = gears.world.merge(&gears.beta(), json!({"cogs": 14})).await;
    assert!(matches!(changed, Err(Error::StoreRead { .. })));
}

#[tokio::test]
async fn finalizers_are_removed_without_a_conversion() {
    let gears = Gears::new().await;
    gears.made(json!({"finalizers": ["e.com/a", "e.com/b"]}), json!({"teeth": 13, "metal": "Gold"})).await;
    let release = |left: Value| json!({"metadata": {"finalizers": left}});
    let beta = gears.beta();
    for more in [json!({"cogs": 3, "metadata": {"finalizers": null}}), release(json!(["e.com/c"])), json!({})] {
        assert!(matches!(gears.world.merge(&beta, more).await, Err(Error::StoreRead { .. })));
    }
    let left = gears.world.merge(&beta, release(json!(["e.com/b"]))).await.unwrap();
    assert_eq!(
        (&left["apiVersion"], &left["metadata"]["finalizers"]),
        (&json!("example.com/v1beta1"), &json!(["e.com/b"]))
    );
    assert_eq!(left.get("spec"), None, "metadata is what can be shown");
    assert_eq!(gears.in_v1().await["spec"], json!({"teeth": 13, "metal": "Gold"}), "nothing else has changed");
    let DeleteResult::Marked(marked) = gears.world.delete(&beta).await.unwrap() else { panic!("a finalizer holds it") };
    assert!(value(&marked)["metadata"]["deletionTimestamp"].is_string());
    gears.world.merge(&beta, release(Value::Null)).await.unwrap();
    assert!(matches!(gears.world.get(&gears.v1()).await, Err(Error::NotFound(..))), "nothing holds it any more");
}

#[tokio::test]
async fn finalizers_are_removed_by_an_update_that_cannot_be_converted_back() {
    let gears = Gears::new().await;
    gears.made(json!({"finalizers": ["e.com/a"]}), json!({"teeth": 31, "metal": "Gold"})).await;
    let mut body = gears.world.get(&gears.beta()).await.unwrap();
    assert_eq!(body["cogs"], 31);
    body["metadata"].as_object_mut().unwrap().remove("finalizers");
    let mut more = body.clone();
    more["spec"]["color"] = json!("red");
    assert!(matches!(gears.world.update(&gears.beta(), more).await, Err(Error::Invalid(..))));
    let released = gears.world.update(&gears.beta(), body).await.unwrap();
    assert_eq!((&released["cogs"], released["metadata"].get("finalizers")), (&json!(31), None));
    assert_eq!(gears.in_v1().await["spec"], json!({"teeth": 31, "metal": "Gold"}));
}

#[tokio::test]
async fn objects_that_cannot_be_converted_can_be_deleted() {
    let gears = Gears::new().await;
    gears.made(json!({}), json!({"teeth": 13})).await;
    let tried = DeleteOptions { dry_run: true, ..DeleteOptions::default() };
    assert!(matches!(gears.world.api.delete(&gears.beta(), &tried).await, Ok(DeleteResult::Gone { .. })));
    let DeleteResult::Gone { object, uid } = gears.world.delete(&gears.beta()).await.unwrap() else {
        panic!("nothing holds it")
    };
    assert_eq!((object.name(), &value(&object)["metadata"]["uid"]), ("g", &json!(uid)));
    assert!(matches!(gears.world.get(&gears.v1()).await, Err(Error::NotFound(..))));
}

#[tokio::test]
async fn the_mark_of_a_deletion_is_written_through_the_version_and_a_dry_run_writes_nothing() {
    let gears = Gears::new().await;
    let made = gears.made(json!({"finalizers": ["e.com/a"]}), json!({"teeth": 5, "metal": "Gold"})).await;
    let labels = merge_patch(&json!({"metadata": {"labels": {"a": "b"}}}));
    let options = PatchOptions { write: dry_run(), force: false };
    let tried = shown(gears.world.api.patch(&gears.beta(), labels, &options).await.unwrap());
    assert_eq!((&tried["cogs"], &tried["metadata"]["labels"]["a"]), (&json!(5), &json!("b")));
    assert_eq!(gears.in_v1().await, made);
    let DeleteResult::Marked(marked) = gears.world.delete(&gears.beta()).await.unwrap() else {
        panic!("a finalizer holds it")
    };
    assert_eq!(value(&marked)["cogs"], 5);
    assert_eq!(gears.in_v1().await["spec"], json!({"teeth": 5, "metal": "Zinc"}));
}

#[tokio::test]
async fn each_version_selects_by_its_own_fields() {
    let gears = Gears::new().await;
    for (name, teeth, color) in [("a", 5, "red"), ("b", 5, "blue"), ("c", 6, "red")] {
        let body = json!({"metadata": {"name": name}, "spec": {"teeth": teeth, "color": color}});
        gears.world.create(&gears.v1, "ns", body).await.unwrap();
    }
    let selected = async |resource: &Arc<ResourceEntry>, fields: &str| {
        let list = gears.world.api.list(&at(resource, "ns", ""), &selecting("", fields)).await;
        list.map(|list| names(&list)).map_err(|error| matches!(error, Error::BadRequest(_)))
    };
    assert_eq!(selected(&gears.beta, "cogs=5,spec.color=red").await, Ok(vec!["a".to_owned()]));
    assert_eq!(selected(&gears.beta, "cogs!=5").await, Ok(vec!["c".to_owned()]));
    assert_eq!(selected(&gears.v1, "spec.metal=Zinc,spec.color=blue").await, Ok(vec!["b".to_owned()]));
    assert_eq!(selected(&gears.v1, "cogs=5").await, Err(true));
    assert_eq!(selected(&gears.beta, "spec.metal=Zinc").await, Err(true));
}

#[tokio::test]
async fn an_apply_that_changes_nothing_in_its_version_may_change_what_is_stored() {
    let gears = Gears::new().await;
    let config = |version: &str, rest: Value| {
        let mut config = json!({"apiVersion": version, "kind": "Gear", "metadata": {"name": "g"}});
        config.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        config
    };
    let apply = async |request: &Request, config: Value| {
        shown(gears.world.apply_with(request, config, &applier("a")).await.unwrap())
    };
    let beta = config("example.com/v1beta1", json!({"spec": {"color": "red"}}));
    let first = apply(&gears.beta(), beta.clone()).await;
    assert_eq!(version(&apply(&gears.beta(), beta.clone()).await), version(&first));
    gears.world.merge(&gears.v1(), json!({"spec": {"metal": "Gold"}})).await.unwrap();
    apply(&gears.beta(), beta).await;
    assert_eq!(gears.in_v1().await["spec"]["metal"], "Zinc");
}
