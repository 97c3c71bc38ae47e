//! Ratcheting of validate hooks: an update may keep a value that they refuse if it does not change it.
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::fixture::{World, at, below, causes, kind};
use crate::{
    auth::User,
    kind::{
        Kind,
        hook::{self, Context},
        policy::Custom,
    },
    meta::{FieldError, FieldErrorKind, FieldPath},
    registry::ResourceEntry,
    storage::Memory,
    verbs::{Error, Request},
};

/// The type of the later hooks: requires `spec`, and an owner in it must be text.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Box {
    spec: Spec,
}

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Spec {
    color: String,
    owner: Option<String>,
    ports: Vec<Port>,
    args: Vec<String>,
    left: Option<i64>,
    right: Option<i64>,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Port {
    name: String,
    number: i64,
}

/// The rules of the hook: no colors Mauve and Pink, low ports, short arguments, left only with right, and only admins
/// may change the color.
fn check(found: &Box, context: &Context<'_, Box>) -> Vec<FieldError> {
    let spec = FieldPath::new("spec");
    let mut errors = Vec::new();
    if ["Mauve", "Pink"].contains(&found.spec.color.as_str()) {
        errors.push(FieldError::new(&spec.child("color"), FieldErrorKind::Forbidden, "not this color"));
    }
    for (index, port) in found.spec.ports.iter().enumerate().filter(|(_, port)| port.number > 9) {
        let path = spec.child("ports").index(index).child("number");
        errors.push(FieldError::new(&path, FieldErrorKind::Invalid(port.number.into()), "too high"));
    }
    for (index, arg) in found.spec.args.iter().enumerate().filter(|(_, arg)| arg.len() > 3) {
        let path = spec.child("args").index(index);
        errors.push(FieldError::new(&path, FieldErrorKind::Invalid(arg.as_str().into()), "too long"));
    }
    if found.spec.left.is_some() != found.spec.right.is_some() {
        errors.push(FieldError::new(&spec, FieldErrorKind::Forbidden, "left and right go together"));
    }
    match &context.old {
        Some(Ok(old)) if old.spec.color != found.spec.color && context.user.name == "eve" => {
            errors.push(FieldError::new(&spec.child("color"), FieldErrorKind::Forbidden, "not by eve"));
        }
        Some(Err(why)) if context.user.name == "eve" => {
            errors.push(FieldError::new(&spec, FieldErrorKind::Forbidden, format!("not by eve: {why}")));
        }
        _ => {}
    }
    errors
}

fn boxes(hooks: hook::Functions<Box>) -> Kind {
    let from = json!({"type": "object", "properties": {
        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
            "color": {"type": "string"}, "left": {"type": "integer"}, "right": {"type": "integer"},
            "owner": {"x-kubernetes-preserve-unknown-fields": true},
            "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"}, "number": {"type": "integer"}}}},
            "args": {"type": "array", "items": {"type": "string"}},
        }},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    }});
    kind("example.com", "Box", "boxes", &from).with(|_, version, binding| {
        binding.policy = &Custom;
        version.status = true;
        binding.hooks = hook::on_documents(hooks);
    })
}

struct Later {
    world: World,
    boxes: Arc<ResourceEntry>,
}

impl Later {
    /// Objects stored before there were hooks, and the hooks.
    async fn new(specs: &[(&str, Value)]) -> Self {
        let store = Arc::new(Memory::new());
        let first = World::over(store.clone()).await;
        let boxes_then = first.api.registry.register([boxes(hook::Functions::NONE)]).unwrap();
        for (name, spec) in specs {
            let body = json!({"metadata": {"name": name, "finalizers": ["example.com/hold"]}, "spec": spec});
            first.create(&boxes_then, "ns", body).await.unwrap();
        }
        let world = World::over(store).await;
        let hooks = hook::Functions::<Box> {
            default: Some(|found, _| {
                found.spec.owner.get_or_insert("nobody".to_owned());
            }),
            validate: Some(check),
            ..hook::Functions::NONE
        };
        let boxes = world.api.registry.register([boxes(hooks)]).unwrap();
        Self { world, boxes }
    }

    async fn merge(&self, name: &str, patch: Value) -> Result<Value, Error> {
        self.world.merge(&at(&self.boxes, "ns", name), patch).await
    }

    async fn merge_as(&self, user: &str, name: &str, patch: Value) -> Result<Value, Error> {
        let user = Arc::new(User { name: user.to_owned(), ..User::default() });
        self.world.merge(&Request { user, ..at(&self.boxes, "ns", name) }, patch).await
    }
}

#[tokio::test]
async fn unchanged_values_that_a_hook_refuses_may_stay() {
    let port = |name: &str, number: i64| json!({"name": name, "number": number});
    let later = Later::new(&[
        ("color", json!({"color": "Mauve"})),
        ("ports", json!({"ports": [port("a", 8), port("b", 808)]})),
        ("args", json!({"args": ["ok", "longer"]})),
        ("left", json!({"left": 1})),
    ])
    .await;
    let refused: &[&str] = &[];
    for (name, spec, told) in [
        ("color", json!({"args": ["ok"]}), refused),
        ("color", json!({"color": "Pink"}), &["spec.color: Forbidden: not this color"]),
        ("color", json!({"color": "Red"}), &[]),
        ("color", json!({"color": "Mauve"}), &["spec.color: Forbidden: not this color"]),
        ("ports", json!({"ports": [port("b", 808), port("c", 1), port("a", 8)]}), &[]),
        ("ports", json!({"ports": [port("z", 808)]}), &["spec.ports[0].number: Invalid value: 808: too high"]),
        ("ports", json!({"ports": [port("b", 809)]}), &["spec.ports[0].number: Invalid value: 809: too high"]),
        (
            "ports",
            json!({"ports": [port("a", 88), port("b", 808)]}),
            &["spec.ports[0].number: Invalid value: 88: too high"],
        ),
        ("args", json!({"color": "Red"}), &[]),
        ("args", json!({"args": ["no", "longer"]}), &[r#"spec.args[1]: Invalid value: "longer": too long"#]),
        ("left", json!({"color": "Red"}), &["spec: Forbidden: left and right go together"]),
        ("left", json!({"right": 1, "color": "Red"}), &[]),
    ] {
        match later.merge(name, json!({"spec": spec})).await {
            Ok(_) => assert_eq!(told, refused, "{name} {spec}"),
            Err(error) => assert_eq!(causes(&error), told, "{name} {spec}"),
        }
    }
}

#[tokio::test]
async fn metadata_and_status_can_be_written_despite_errors_of_hooks() {
    let specs = [
        ("refused", json!({"color": "Mauve", "left": 1})),
        ("undecodable", json!({"owner": 7})),
        ("undecodable-too", json!({"owner": {"name": "o"}, "color": "Red"})),
    ];
    let later = Later::new(&specs).await;
    for (name, spec) in &specs {
        let labelled = later.merge(name, json!({"metadata": {"labels": {"a": "b"}}})).await.unwrap();
        assert_eq!(labelled["spec"], *spec, "no default is filled into an object that the hooks refuse");
        let status = below(at(&later.boxes, "ns", name), "status");
        let written = later.world.merge(&status, json!({"status": {"phase": "Ready"}})).await.unwrap();
        assert_eq!((&written["spec"], &written["status"]["phase"]), (spec, &json!("Ready")), "{name}");
        later.world.delete(&at(&later.boxes, "ns", name)).await.unwrap();
        later.merge(name, json!({"metadata": {"finalizers": null}})).await.unwrap();
        assert!(matches!(later.world.get(&at(&later.boxes, "ns", name)).await, Err(Error::NotFound(..))), "{name}");
    }
}

#[tokio::test]
async fn hooks_see_an_old_object_that_their_type_does_not_decode() {
    let later = Later::new(&[("a", json!({"owner": 7, "color": "Red"}))]).await;
    let refused = later.merge("a", json!({"spec": {"color": "Green"}})).await.unwrap_err();
    assert!(causes(&refused)[0].contains("the kind's hooks cannot decode the object: invalid type"), "{refused:?}");
    let refused = later.merge_as("eve", "a", json!({"spec": {"owner": "o"}})).await.unwrap_err();
    assert!(causes(&refused)[0].starts_with("spec: Forbidden: not by eve: invalid type"), "{refused:?}");
    let refused = later.merge("a", json!({"spec": {"owner": "o", "color": "Pink"}})).await.unwrap_err();
    assert_eq!(causes(&refused), ["spec.color: Forbidden: not this color"], "nothing is known of the old one");
    let mended = later.merge("a", json!({"spec": {"owner": null}})).await.unwrap();
    assert_eq!(mended["spec"], json!({"color": "Red"}), "defaults wait for an old object that tells what changes");
    let after = later.merge("a", json!({"spec": {"color": "Green"}})).await.unwrap();
    assert_eq!(after["spec"], json!({"color": "Green", "owner": "nobody"}));
    let refused = later.merge_as("eve", "a", json!({"spec": {"color": "Red"}})).await.unwrap_err();
    assert_eq!(causes(&refused), ["spec.color: Forbidden: not by eve"], "what is said of the change always counts");
}
