//! Managers that wrote in different versions of a kind.
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::{Fixture, RENAMED, VERSION, World, at, conflict, fixture};
use crate::{
    patch::apply::{ApplyError, scale},
    schema::Document,
};

const V1: &str = "versions.example.com/v1";
const BETA: &str = "versions.example.com/v1beta1";

/// Sprockets as in the conformance kit: nothing is converted, and undeclared fields are dropped.
static SPROCKETS: LazyLock<Fixture> = LazyLock::new(|| {
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    let with_default = |value: i64| json!({"type": "integer", "default": value});
    let parts = |count: i64| {
        json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {"name": text, "count": with_default(count)}}})
    };
    let version = |teeth: i64, count: i64, beside: &str| {
        fixture::schema(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "size": number, "teeth": with_default(teeth), "note": text, "replicas": with_default(1),
            "parts": parts(count), beside: text}}}}))
    };
    let versions = vec![(V1, version(12, 1, "material")), (BETA, version(10, 2, "finish"))];
    Fixture { kind: "Sprocket", versions, convert: |object, _| Ok(object) }
});

/// Things whose later version splits a URL into host and port, and has no note.
static LINKS: LazyLock<Fixture> = LazyLock::new(|| {
    let text = json!({"type": "string"});
    let version = |fields: &[&str]| {
        let fields: serde_json::Map<String, Value> =
            fields.iter().map(|name| ((*name).to_owned(), text.clone())).collect();
        fixture::schema(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}))
    };
    let convert = |mut link: Document, to: &str| {
        let spec = link["spec"].as_object_mut().ok_or("a link has a spec")?;
        let member = |spec: &mut serde_json::Map<String, Value>, name: &str| {
            spec.remove(name).and_then(|value| value.as_str().map(str::to_owned))
        };
        if to == LATER {
            if let Some(url) = member(spec, "url") {
                let (host, port) = url.split_once(':').unwrap_or((&url, ""));
                spec.insert("host".to_owned(), host.into());
                if !port.is_empty() {
                    spec.insert("port".to_owned(), port.into());
                }
            }
        } else if let Some(host) = member(spec, "host") {
            let url = member(spec, "port").map_or(host.clone(), |port| format!("{host}:{port}"));
            spec.insert("url".to_owned(), url.into());
        } else if spec.contains_key("port") {
            return Err("a port without a host".to_owned());
        }
        Ok(link)
    };
    let versions = vec![(FIRST, version(&["url", "note", "name"])), (LATER, version(&["host", "port", "name"]))];
    Fixture { kind: "Link", versions, convert }
});

const FIRST: &str = "links.example.com/v1";
const LATER: &str = "links.example.com/v2";

impl World {
    fn version(&mut self, version: &'static str) -> &mut Self {
        self.version = version;
        self
    }

    /// The owners and their versions, in short.
    fn owners(&self) -> Vec<(&str, &str, &Value)> {
        let mut owners = Vec::new();
        for entry in self.entries() {
            let member = |name: &str| entry[name].as_str().unwrap_or_default();
            owners.push((member("manager"), member("apiVersion"), &entry["fieldsV1"]["f:spec"]));
        }
        owners
    }
}

fn part(name: &str) -> Value {
    json!({format!("k:{{\"name\":\"{name}\"}}"): {".": {}, "f:count": {}, "f:name": {}}})
}

#[test]
fn sprockets_behave_as_in_kube_apiserver() {
    let mut world = World::of(&SPROCKETS);
    let hub = json!([{"name": "hub", "count": 4}]);
    world.version(V1).apply("one", &json!({"size": 5, "teeth": 20, "parts": hub})).expect("it is new");
    world.version(BETA).apply("two", &json!({"note": "two", "parts": [{"name": "rim", "count": 5}]})).expect("free");
    let of_one = json!({"f:parts": part("hub"), "f:size": {}, "f:teeth": {}});
    assert_eq!(world.owners(), [("one", V1, &of_one), ("two", BETA, &json!({"f:note": {}, "f:parts": part("rim")}))]);

    let of_two = json!({"note": "two", "teeth": 21});
    let message = "Apply failed with 1 conflict: conflict with \"one\": .spec.teeth";
    assert_eq!(conflict(world.apply("two", &of_two)), message);
    world.force("two", &of_two);
    let of_one = json!({"f:parts": part("hub"), "f:size": {}});
    let owned_by_two = json!({"f:note": {}, "f:teeth": {}});
    assert_eq!(world.owners(), [("one", V1, &of_one), ("two", BETA, &owned_by_two)]);
    assert_eq!(*world.spec(), json!({"note": "two", "parts": hub, "replicas": 1, "size": 5, "teeth": 21}));

    world.version(V1);
    let message = "Apply failed with 1 conflict: conflict with \"two\": .spec.note";
    assert_eq!(conflict(world.apply("one", &json!({"size": 5, "note": "mine", "parts": hub}))), message);

    let with = |world: &World, replicas: i64| {
        let mut spec = world.read().expect("an object")["spec"].clone();
        spec["replicas"] = json!(replicas);
        spec
    };
    let three = with(world.version(BETA), 3);
    world.put("three", &three);
    let replicas = json!({"f:replicas": {}});
    assert_eq!(world.owners(), [("one", V1, &of_one), ("two", BETA, &owned_by_two), ("three", BETA, &replicas)]);
    let four = with(world.version(V1), 4);
    world.put("three", &four);
    assert_eq!(world.owners(), [("one", V1, &of_one), ("two", BETA, &owned_by_two), ("three", V1, &replicas)]);
    let message = "Apply failed with 1 conflict: conflict with \"three\" using versions.example.com/v1: .spec.replicas";
    assert_eq!(conflict(world.apply("one", &json!({"size": 5, "replicas": 9, "parts": hub}))), message);

    let time = world.time("two").clone();
    world.apply("two", &of_two).expect("its own");
    assert_eq!((world.owners()[1].1, world.time("two")), (V1, &time), "the same in another version is no other time");
    world.version(BETA).apply("one", &json!({"size": 5})).expect("its own");
    assert_eq!(
        world.owners(),
        [("two", V1, &owned_by_two), ("one", BETA, &json!({"f:size": {}})), ("three", V1, &replicas)]
    );
    assert_eq!(*world.spec(), json!({"note": "two", "replicas": 4, "size": 5, "teeth": 21}), "parts are gone");

    let mut other = world.object(&json!({"size": 5}));
    other["apiVersion"] = V1.into();
    let error = world.apply_object("one", &other, false).expect_err("another version");
    assert_eq!(error, ApplyError::BadRequest(format!("invalid object type: {V1}, Kind=Sprocket")));
    let error = world.apply("one", &json!({"size": 5, "material": "Steel"})).expect_err("no such field");
    assert_eq!(
        error.to_string(),
        format!(
            "failed to create typed patch object (ns/t; {BETA}, Kind=Sprocket): .spec.material: field not declared in schema"
        )
    );
    // kube-apiserver fails here, because it does not prune fields that another manager's version lacks.
    world.version(V1).apply("two", &json!({"material": "Steel", "note": "two", "teeth": 21})).expect("free");
    assert_eq!(world.owned("two"), &json!({"f:material": {}, "f:note": {}, "f:teeth": {}}));
}

#[test]
fn fields_that_the_previous_version_lacks_are_kept() {
    let mut world = World::of(&SPROCKETS);
    world.version(BETA).apply("one", &json!({"size": 5, "note": "n"})).expect("it is new");
    world.version(V1).apply("two", &json!({"material": "Steel"})).expect("free");
    world.apply("one", &json!({"size": 5, "material": "Steel"})).expect("the same value");
    assert_eq!(*world.spec(), json!({"material": "Steel", "replicas": 1, "size": 5, "teeth": 10}), "the note is gone");
    world.apply("one", &json!({"size": 5})).expect("its own");
    assert_eq!(world.spec()["material"], "Steel", "the other still applies it");
}

#[test]
fn a_default_comes_back_as_the_version_of_the_write_has_it() {
    let mut world = World::of(&SPROCKETS);
    world.version(BETA).apply("one", &json!({"size": 5, "teeth": 30})).expect("it is new");
    world.version(V1).apply("one", &json!({"size": 5})).expect("its own");
    assert_eq!(world.spec()["teeth"], 12);
}

#[test]
fn items_that_others_own_in_their_version_stay() {
    let mut world = World::of(&SPROCKETS);
    let both = json!({"parts": [{"name": "hub", "count": 4}, {"name": "rim", "count": 5}]});
    world.version(V1).apply("one", &both).expect("it is new");
    world.version(BETA).apply("two", &json!({"parts": [{"name": "rim"}], "note": "n"})).expect("the same part");
    for (version, default) in [(V1, 1), (BETA, 2)] {
        let mut world = World { live: world.live.clone(), ..World::of(&SPROCKETS) };
        world.version(version).apply("one", &json!({"size": 1})).expect("its own");
        assert_eq!(
            world.read().expect("an object")["spec"]["parts"],
            json!([{"name": "rim", "count": default}]),
            "{version}"
        );
    }
}

#[test]
fn entries_of_versions_that_are_gone_are_dropped() {
    let mut world = World::of(&SPROCKETS);
    world.apply("one", &json!({"size": 5, "note": "n"})).expect("it is new");
    world.apply("two", &json!({"teeth": 5})).expect("free");
    let gone = |world: &mut World| {
        world.live.as_mut().expect("an object")["metadata"]["managedFields"][0]["apiVersion"] =
            json!("versions.example.com/v1alpha1");
    };
    gone(&mut world);
    let before = world.live.clone();
    assert!(!world.is_noop("two", &world.object(&json!({"teeth": 5}))), "an entry goes");
    world.apply("two", &json!({"teeth": 5})).expect("its own");
    assert_eq!(world.owners(), [("two", V1, &json!({"f:teeth": {}}))]);
    world.live.clone_from(&before);
    world.put("three", &json!({"size": 6, "note": "n", "teeth": 5, "replicas": 1}));
    assert_eq!(world.owners(), [("two", V1, &json!({"f:teeth": {}})), ("three", V1, &json!({"f:size": {}}))]);
    world.live = before;
    world.apply("one", &json!({"size": 7})).expect("unowned");
    assert_eq!(world.spec()["note"], "n", "no entry shows that it was applied");
}

#[test]
fn an_object_may_be_created_with_entries_of_other_versions() {
    let mut world = World::of(&LINKS);
    world.version(FIRST).apply("one", &json!({"url": "a:1"})).expect("it is new");
    let restored = world.live.take().expect("an object");
    let mut restored = World { live: Some(restored), ..World::of(&LINKS) }.version(LATER).read().expect("an object");
    restored["spec"]["name"] = json!("n");
    world.version(LATER).put_object("restorer", restored);
    let all = json!({".": {}, "f:host": {}, "f:name": {}, "f:port": {}});
    assert_eq!(world.owners(), [("restorer", LATER, &all)], "what is set anew is the writer's");
}

#[test]
fn values_computed_from_several_fields_are_owned_through_each() {
    let mut world = World::of(&LINKS);
    world.version(FIRST).apply("one", &json!({"url": "a:1"})).expect("it is new");
    world.version(LATER);
    let message = "Apply failed with 1 conflict: conflict with \"one\": .spec.url";
    assert_eq!(conflict(world.apply("two", &json!({"port": "2"}))), message);
    world.apply("two", &json!({"port": "1"})).expect("the same value");
    world.force("two", &json!({"port": "2"}));
    assert_eq!(*world.spec(), json!({"url": "a:2"}));
    assert_eq!(world.owners(), [("two", LATER, &json!({"f:port": {}}))]);
    world.version(FIRST);
    let message = "Apply failed with 1 conflict: conflict with \"two\": .spec.port";
    assert_eq!(conflict(world.apply("one", &json!({"url": "a:3"}))), message);
}

#[test]
fn removal_in_another_version_may_leave_another_value() {
    let mut world = World::of(&LINKS);
    world.version(LATER).apply("one", &json!({"host": "a", "port": "1", "name": "n"})).expect("it is new");
    world.apply("three", &json!({"host": "a"})).expect("the same value");
    world.version(FIRST).apply("two", &json!({"note": "kept"})).expect("free");
    world.apply("one", &json!({"name": "n"})).expect("its own");
    assert_eq!(*world.spec(), json!({"url": "a", "name": "n", "note": "kept"}));
}

#[test]
fn what_an_object_cannot_be_converted_without_stays() {
    let mut world = World::of(&LINKS);
    world.version(LATER).apply("one", &json!({"host": "a", "port": "1", "name": "n"})).expect("it is new");
    world.apply("two", &json!({"port": "1"})).expect("the same value");
    world.version(FIRST).apply("one", &json!({"note": "m"})).expect("a port is not left without its host");
    assert_eq!(*world.spec(), json!({"url": "a:1", "note": "m"}), "the name is gone");
    assert_eq!(world.owners()[1..], [("one", FIRST, &json!({"f:note": {}}))]);
}

#[test]
fn an_object_that_has_no_form_in_the_version_of_a_manager_is_refused() {
    let mut world = World::of(&LINKS);
    world.version(FIRST).apply("one", &json!({"name": "n"})).expect("it is new");
    let before = world.live.clone();
    let error = world.version(LATER).apply("two", &json!({"port": "1"})).expect_err("no host");
    assert_eq!(error, ApplyError::Unconvertible("failed to convert new object: a port without a host".to_owned()));
    assert_eq!(world.live, before);
}

#[test]
fn metadata_is_owned_across_versions() {
    let with = |world: &World, labels: Value, annotations: Value, size: i64| {
        let mut object = world.object(&json!({"size": size}));
        object["metadata"]["labels"] = labels;
        object["metadata"]["annotations"] = annotations;
        object
    };
    let mut world = World::of(&SPROCKETS);
    world.version(BETA);
    let config = with(&world, json!({"l": "1", "m": "1"}), json!({"a": "1"}), 5);
    world.apply_object("one", &config, false).expect("it is new");
    world.apply_object("two", &with(&world, json!({"m": "1"}), json!({}), 5), false).expect("the same value");
    let made = World { live: world.live, ..World::of(&SPROCKETS) };
    for (labels, annotations, kept) in [
        (json!({"l": "1", "m": "1"}), json!({"a": "1"}), json!([{"l": "1", "m": "1"}, {"a": "1"}])),
        (json!({"l": "2"}), json!({"b": "1"}), json!([{"l": "2", "m": "1"}, {"b": "1"}])),
        (json!({}), json!({"a": "1"}), json!([{"m": "1"}, {"a": "1"}])),
    ] {
        let mut world = World { live: made.live.clone(), ..World::of(&SPROCKETS) };
        world.version(V1);
        let config = with(&world, labels, annotations, 5);
        world.apply_object("one", &config, false).expect("its own");
        let metadata = &world.live.as_ref().expect("an object")["metadata"];
        assert_eq!(json!([metadata["labels"], metadata["annotations"]]), kept);
        assert_eq!((&metadata["name"], &metadata["namespace"]), (&json!("t"), &json!("ns")));
        let entry = world.entries().iter().find(|entry| entry["manager"] == "one").expect("an entry");
        assert_eq!(entry["apiVersion"], V1);
    }
}

/// Carts, of whose versions only the later one tells items apart.
static CARTS: LazyLock<Fixture> = LazyLock::new(|| {
    let version = |list: &Value| {
        let item = json!({"type": "object", "properties": {"name": {"type": "string"}, "count": {"type": "integer"}}});
        let mut items = json!({"type": "array", "items": item});
        items.as_object_mut().expect("a schema").extend(list.as_object().expect("keywords").clone());
        fixture::schema(
            &json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"items": items}}}}),
        )
    };
    let keyed = json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]});
    Fixture {
        kind: "Cart",
        versions: vec![(FIRST, version(&json!({}))), (LATER, version(&keyed))],
        convert: |cart, _| Ok(cart),
    }
});

#[test]
fn items_without_identity_in_the_version_of_another_manager_are_nobodys_there() {
    let mut world = World::of(&CARTS);
    world.version(LATER).apply("one", &json!({"items": [{"name": "a"}, {"name": "b"}]})).expect("it is new");
    world.version(FIRST);
    let items = json!({"items": [{"name": "a"}, {"count": 1}, {"name": "a"}]});
    assert!(conflict(world.apply("two", &items)).ends_with(".spec.items[name=\"a\"]"));
    world.force("two", &items);
    assert_eq!(*world.spec(), items);
    assert_eq!(world.owners(), [("two", FIRST, &json!({"f:items": {}}))]);
}

#[test]
fn names_may_differ_between_versions() {
    let mut world = World::default();
    world
        .version(VERSION)
        .apply("one", &json!({"a": "1", "list": [{"name": "p", "note": "n", "port": 1}]}))
        .expect("new");
    world.version(RENAMED);
    let message = "Apply failed with 2 conflicts: conflicts with \"one\":\n- .spec.a\n- .spec.list[name=\"p\"].note";
    let other = json!({"alpha": "2", "entries": [{"name": "p", "remark": "m"}]});
    assert_eq!(conflict(world.apply("two", &other)), message);
    world.force("two", &other);
    let of_one = json!({"f:list": {"k:{\"name\":\"p\"}": {".": {}, "f:name": {}, "f:port": {}}}});
    assert_eq!(*world.owned("one"), of_one);
    world.apply("two", &json!({"alpha": "2"})).expect("its own");
    assert_eq!(world.spec()["list"], json!([{"name": "p", "port": 1, "protocol": "TCP"}]));
    world.version(VERSION).apply("two", &json!({})).expect("its own");
    assert_eq!(world.spec().get("a"), None);
}

#[test]
fn replicas_have_a_path_in_each_version() {
    let (first, later) = (["spec".to_owned(), "b".to_owned()], ["spec".to_owned(), "size".to_owned()]);
    let replicas = |version: &str| match version {
        VERSION => Some(&first[..]),
        RENAMED => Some(&later[..]),
        _ => None,
    };
    let entry = |manager: &str, version: &str, field: &str, second: usize| {
        json!({"manager": manager, "operation": "Update", "apiVersion": version, "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {field: {}}}, "time": at(second)})
    };
    let parent = json!([
        entry("a", VERSION, "f:b", 1),
        entry("b", RENAMED, "f:size", 2),
        entry("c", RENAMED, "f:b", 3),
        entry("d", "example.com/v0", "f:b", 4),
    ]);
    let scaled = scale::to_scale(&parent, replicas);
    assert_eq!(
        scaled,
        json!([entry("a", "autoscaling/v1", "f:replicas", 1), entry("b", "autoscaling/v1", "f:replicas", 2)])
    );
    for version in [VERSION, RENAMED] {
        assert_eq!(scale::to_parent(&parent, &scaled, version, replicas), parent, "nothing happened");
    }
    let taken = json!([entry("b", "autoscaling/v1", "f:replicas", 9)]);
    assert_eq!(
        scale::to_parent(&parent, &taken, VERSION, replicas),
        json!([parent[2], parent[3], entry("b", VERSION, "f:b", 9)]),
        "who writes in one version does not own it in another any more"
    );
}
