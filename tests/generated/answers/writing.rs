//! Requests that write objects of a kind.
use kindsmith_tests::Random;
use serde_json::{Value, json};

use super::{
    kinds::Collection,
    pair::{CBOR, PROTOBUF, Pair, Request, YAML},
};

/// In how many places a wrong value, or an unknown field, is tried.
const MOST_PLACES: usize = 5;

/// Objects that are created, and some that are refused.
pub(super) async fn create(pair: &mut Pair, at: &Collection, objects: &[Value]) {
    for (object, content) in objects.iter().zip(["application/json", YAML, "application/json", "application/json"]) {
        let request = Request::new("POST", at.with("fieldValidation=Strict&fieldManager=creator"));
        pair.send(request.typed(content).json(object)).await;
    }
    pair.send(Request::new("POST", &at.path).json(&objects[0])).await;
    let minimal = json!({"metadata": {"name": "minimal"}});
    for mut object in [minimal, json!({"spec": null}), json!({}), json!([]), json!({"metadata": {"name": "Bad"}})] {
        // A type may be missing in objects of kinds in Rust alone.
        if let Value::Object(members) = &mut object {
            members.extend(["apiVersion", "kind"].map(|name| (name.to_owned(), objects[0][name].clone())));
        }
        pair.send(Request::new("POST", &at.path).json(&object)).await;
    }
    let mut strange = objects[0].clone();
    for (name, value) in [("apiVersion", "example.com/v9"), ("kind", "Other")] {
        strange[name] = value.into();
        pair.send(Request::new("POST", &at.path).json(&strange)).await;
        strange[name] = objects[0][name].clone();
    }
    strange["metadata"]["namespace"] = "elsewhere".into();
    pair.send(Request::new("POST", &at.path).json(&strange)).await;
    let twice = format!(
        "{{\"apiVersion\": {}, \"kind\": {}, \"metadata\": {{\"name\": \"a\", \"name\": \"b\"}}}}",
        objects[0]["apiVersion"], objects[0]["kind"]
    );
    for body in ["", "{", "nothing", &twice] {
        pair.send(Request::new("POST", at.with("fieldValidation=Strict")).body(body.to_owned())).await;
    }
    for content in ["text/plain", CBOR, PROTOBUF] {
        pair.send(Request::new("POST", &at.path).typed(content).json(&objects[0])).await;
    }
}

/// The JSON pointers of a value's parts.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
    found.push(at.to_owned());
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| places(value, &format!("{at}/{}", escaped(name)), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| places(value, &format!("{at}/{index}"), found));
        }
        _ => {}
    }
}

/// Wrong values, and unknown fields, in places of an object that are chosen at random.
pub(super) async fn mistakes(pair: &mut Pair, at: &Collection, object: &Value, random: &mut Random) {
    let wrong = [
        json!("x"),
        json!(-1),
        json!(1.5),
        // Int-or-string has 32 bits in Rust, and any number in definitions.
        json!(1e9),
        json!(true),
        json!([]),
        json!([null]),
        json!({}),
        json!({"a": 1}),
        json!(null),
        json!(""),
    ];
    let mut object = object.clone();
    object["metadata"]["name"] = "wrong".into();
    let mut found = Vec::new();
    places(&object, "", &mut found);
    found.retain(|place| !place.is_empty() && !["/apiVersion", "/kind"].contains(&place.as_str()));
    for _ in 0..MOST_PLACES.min(found.len()) {
        let place = found.swap_remove(random.below(found.len()));
        for _ in 0..2 {
            let mut changed = object.clone();
            *changed.pointer_mut(&place).expect("it was found there") = random.pick(&wrong).clone();
            pair.send(Request::new("POST", at.with("dryRun=All&fieldValidation=Strict")).json(&changed)).await;
        }
        let mut changed = object.clone();
        let Some(fields) = changed.pointer_mut(&place).and_then(Value::as_object_mut) else { continue };
        fields.insert("misspelt".into(), json!(1));
        for mode in ["Strict", "Warn", "Ignore"] {
            let path = at.with(&format!("dryRun=All&fieldValidation={mode}"));
            pair.send(Request::new("POST", path).json(&changed)).await;
        }
    }
}

/// Updates and patches of each type.
pub(super) async fn change(pair: &mut Pair, at: &Collection, objects: &[Value]) {
    let path = at.object(&objects[0]);
    let mut other = objects[1].clone();
    other["metadata"]["name"] = objects[0]["metadata"]["name"].clone();
    pair.send(Request::new("PUT", &path).json(&other)).await;
    for version in ["1", "x"] {
        other["metadata"]["resourceVersion"] = version.into();
        pair.send(Request::new("PUT", &path).json(&other)).await;
    }
    pair.send(Request::new("PUT", at.object(&objects[1])).json(&objects[0])).await;
    let [mut served, mut generated] = pair.send(Request::get(&path)).await.map(|answer| answer.json());
    for (name, value) in objects[2].as_object().expect("an object") {
        if name != "metadata" {
            served[name] = value.clone();
            generated[name] = value.clone();
        }
    }
    pair.send_each([served, generated].map(|object| Request::new("PUT", &path).json(&object))).await;
    pair.send(Request::new("PUT", at.named("missing")).json(&other)).await;
    let label = json!({"metadata": {"labels": {"of": "patch"}}});
    let mut whole = objects[3].clone();
    whole
        .as_object_mut()
        .expect("an object")
        .retain(|name, _| !["apiVersion", "kind", "metadata"].contains(&name.as_str()));
    let cleared: serde_json::Map<_, _> =
        whole.as_object().expect("an object").keys().map(|name| (name.clone(), Value::Null)).collect();
    for content in ["application/merge-patch+json", "application/strategic-merge-patch+json"] {
        for patch in [
            &label,
            &whole,
            &json!({"misspelt": 1}),
            &json!({"metadata": {"name": "other"}}),
            &json!([]),
            &cleared.clone().into(),
        ] {
            let path = format!("{path}?fieldManager=patcher&fieldValidation=Strict");
            pair.send(Request::new("PATCH", path).typed(content).json(patch)).await;
        }
    }
    let add = json!([{"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}}]);
    let replace: Vec<_> = whole
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| json!({"op": "add", "path": format!("/{name}"), "value": value}))
        .collect();
    let test = json!([{"op": "test", "path": "/kind", "value": "Other"}]);
    for patch in [add, replace.into(), test, json!([{"op": "remove", "path": "/nothing"}]), json!({})] {
        pair.send(Request::new("PATCH", &path).typed("application/json-patch+json").json(&patch)).await;
    }
    pair.send(Request::new("PATCH", &path).typed("text/plain").json(&label)).await;
}

/// Two appliers of the same object.
pub(super) async fn apply(pair: &mut Pair, at: &Collection, objects: &[Value]) {
    let path = at.named("applied");
    for (manager, object, force) in
        [("one", 0, false), ("one", 0, false), ("two", 1, false), ("two", 1, true), ("one", 2, false), ("one", 3, true)]
    {
        let mut object = objects[object].clone();
        object["metadata"]["name"] = "applied".into();
        let path = format!("{path}?fieldManager={manager}&force={force}");
        pair.send(Request::new("PATCH", path).typed("application/apply-patch+yaml").json(&object)).await;
    }
    let mut empty =
        json!({"apiVersion": objects[0]["apiVersion"], "kind": objects[0]["kind"], "metadata": {"name": "applied"}});
    for (extra, query) in [
        ("metadata", "fieldManager=one"),
        ("metadata", ""),
        ("misspelt", "fieldManager=one"),
        ("spec", "fieldManager=one"),
    ] {
        if extra != "metadata" {
            empty[extra] = json!(1);
        }
        let path = format!("{path}?force=true&{query}");
        pair.send(Request::new("PATCH", path).typed("application/apply-patch+yaml").json(&empty)).await;
    }
}

/// Status and scale, of kinds that have them and of others.
pub(super) async fn subresources(pair: &mut Pair, at: &Collection, objects: &[Value]) {
    let path = at.object(&objects[0]);
    for name in ["status", "scale"] {
        let path = format!("{path}/{name}");
        let answers = pair.send(Request::get(&path)).await;
        pair.send_each(answers.map(|answer| Request::new("PUT", &path).body(answer.body))).await;
        let mut object = objects[1].clone();
        object["metadata"]["name"] = objects[0]["metadata"]["name"].clone();
        pair.send(Request::new("PUT", &path).json(&object)).await;
        for patch in
            [json!({"spec": {"replicas": 3}}), json!({"status": object["status"]}), json!({"spec": {"replicas": "x"}})]
        {
            pair.send(Request::new("PATCH", &path).json(&patch)).await;
        }
        let config = json!({"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": {"name": objects[0]["metadata"]["name"]}, "status": object["status"]});
        let applied = format!("{path}?fieldManager=status&force=true");
        pair.send(Request::new("PATCH", applied).typed("application/apply-patch+yaml").json(&config)).await;
    }
    pair.send(Request::get(format!("{path}/nothing"))).await;
    pair.send(Request::new("POST", &path).json(&objects[0])).await;
}
