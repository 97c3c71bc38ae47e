//! All requests for a kind.
use kindsmith::{
    kind::{Kind, model::Scope},
    schema::{Schema, Type},
    testing,
};
use kindsmith_tests::Random;
use serde_json::{Value, json};

use super::{
    pair::{Pair, Request},
    reading, writing,
};

/// The collection of the objects of a kind.
pub(super) struct Collection {
    pub path: String,
}

impl Collection {
    fn of(kind: &Kind) -> Self {
        let version = &kind.group_version;
        let root = if version.group.is_empty() { format!("/api/{version}") } else { format!("/apis/{version}") };
        let scope = if kind.shared.scope == Scope::Namespaced { "/namespaces/default" } else { "" };
        Self { path: format!("{root}{scope}/{}", kind.names().plural) }
    }

    /// The path with a query.
    pub(super) fn with(&self, query: &str) -> String {
        format!("{}?{query}", self.path)
    }

    /// The path of an object with a name.
    pub(super) fn named(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }

    /// The path of an object.
    pub(super) fn object(&self, object: &Value) -> String {
        self.named(object["metadata"]["name"].as_str().expect("a name"))
    }
}

/// Removes what is inside of types that contain themselves, which in generated types is raw JSON, and is not validated, and numbers of
/// an int-or-string that do not have 32 bits.
fn cut(schema: &Schema, value: &mut Value) {
    let is_cut = |schema: &Schema| schema.definition.is_some();
    let is_wide = |schema: &Schema, value: &Value| {
        schema.kind == Type::IntOrString
            && value.is_number()
            && value.as_i64().is_none_or(|it| i32::try_from(it).is_err())
    };
    match value {
        Value::Object(fields) => fields.retain(|name, value| {
            let below = schema.properties.get(name).or(schema.additional.as_deref());
            below.is_none_or(|below| {
                cut(below, value);
                !is_cut(below)
                    && !is_wide(below, value)
                    && !below.items.as_deref().is_some_and(is_cut)
                    && !below.additional.as_deref().is_some_and(is_cut)
            })
        }),
        Value::Array(items) => {
            if let Some(below) = schema.items.as_deref() {
                for item in items.iter_mut() {
                    cut(below, item);
                }
                items.retain(|item| !is_wide(below, item));
            }
        }
        _ => {}
    }
}

/// The seed of the objects.
const SEED: u64 = 11;

/// Sends all requests for a kind in one of its versions.
pub(super) async fn ask(pair: &mut Pair, kind: &Kind, random: &mut Random) {
    let at = Collection::of(kind);
    let mut objects: Vec<Value> = testing::documents(kind, SEED).take(4).collect();
    for object in &mut objects {
        cut(&kind.version.schema, object);
    }
    if !kind.shared.stored {
        for object in &objects {
            pair.send(Request::new("POST", &at.path).json(object)).await;
        }
        pair.send(Request::get(&at.path)).await;
        return;
    }
    let [empty, _] = pair.send(Request::get(&at.path)).await;
    let since = empty.json()["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
    writing::create(pair, &at, &objects).await;
    writing::mistakes(pair, &at, &objects[0], random).await;
    let mut labelled = objects[2].clone();
    labelled["metadata"]["name"] = "labelled".into();
    labelled["metadata"]["labels"] = json!({"of": "patch"});
    pair.send(Request::new("POST", &at.path).json(&labelled)).await;
    reading::read(pair, &at, kind, &objects).await;
    writing::change(pair, &at, &objects).await;
    writing::apply(pair, &at, &objects).await;
    writing::subresources(pair, &at, &objects).await;
    reading::put_back(pair, &at, &objects).await;
    reading::remove(pair, &at, &objects, &since).await;
}
