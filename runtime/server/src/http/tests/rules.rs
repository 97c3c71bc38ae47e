//! Rules in CEL, on every way by which an object is written.
use super::*;
use crate::schema::Rule;

const WIDGETS: &str = "/apis/conformance.example.com/v1/namespaces/default/widgets";

/// Widgets with rules about the object, a struct, a number that only grows, and the status.
async fn ruled() -> Rig {
    let kind = Widget::kind().with(|_, version, _| {
        let rule = |rule: &str, message: &str, field_path: &str| {
            let [rule, message, field_path] = [rule, message, field_path].map(str::to_owned);
            Rule { rule, message, field_path, ..Rule::default() }
        };
        let schema = version.schema.as_ref().clone().with(|schema| {
            schema.rules.push(rule("size(self.metadata.name) <= 5", "names are short", ""));
            let spec = schema.properties.get_mut("spec").unwrap();
            spec.rules.push(rule("self.replicas <= self.size", "too many replicas", ".replicas"));
            spec.properties.get_mut("size").unwrap().rules.push(rule("self >= oldSelf", "may not shrink", ""));
            let status = schema.properties.get_mut("status").unwrap();
            status.rules.push(rule("!has(self.phase) || self.phase != 'Bad'", "bad phase", ""));
        });
        version.schema = schema.into();
    });
    Rig::with(vec![Namespace::kind(), kind]).await
}

fn widget(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "conformance.example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec})
}

#[tokio::test]
async fn every_write_of_an_object_meets_its_rules() {
    let rig = ruled().await;
    let json = [("content-type", "application/json")];
    let patch = [("content-type", "application/json-patch+json")];
    let merge = [("content-type", "application/merge-patch+json")];
    let apply = [("content-type", "application/apply-patch+yaml")];
    let (one, applied) = (format!("{WIDGETS}/a"), format!("{WIDGETS}/a?fieldManager=t"));
    let status = format!("{one}/status");
    let good = widget("a", &json!({"size": 5, "replicas": 2}));
    let many = widget("a", &json!({"size": 5, "replicas": 9}));
    let (replicas, shrunk) =
        ("spec.replicas: Invalid value: too many replicas", "spec.size: Invalid value: 4: may not shrink");
    let long = widget("abcdef", &json!({"size": 5, "replicas": 9}));
    let both = format!("[<nil>: Invalid value: names are short, {replicas}]");
    let unchecked = "[spec.color: Unsupported value: \"Pink\": supported values: \"Red\", \"Green\", \"Blue\", <nil>: Invalid value: null: some \
                     validation rules were not checked because the object was invalid; correct the existing errors to complete validation]";
    for (method, path, headers, body, code, expected) in [
        ("POST", WIDGETS, &json, &many, 422, replicas),
        ("POST", WIDGETS, &json, &long, 422, &*both),
        ("POST", WIDGETS, &json, &widget("b", &json!({"size": 1, "replicas": 9, "color": "Pink"})), 422, unchecked),
        ("POST", &format!("{WIDGETS}?dryRun=All"), &json, &many, 422, replicas),
        ("POST", WIDGETS, &json, &good, 201, ""),
        ("PATCH", &one, &patch, &json!([{"op": "replace", "path": "/spec/replicas", "value": 9}]), 422, replicas),
        ("PATCH", &one, &merge, &json!({"spec": {"replicas": 9}}), 422, replicas),
        ("PATCH", &one, &merge, &json!({"spec": {"size": 4}}), 422, shrunk),
        ("PATCH", &one, &merge, &json!({"spec": {"size": 6}}), 200, ""),
        ("PATCH", &applied, &apply, &widget("a", &json!({"size": 6, "replicas": 9})), 409, ""),
        (
            "PATCH",
            &format!("{applied}&force=true"),
            &apply,
            &widget("a", &json!({"size": 6, "replicas": 9})),
            422,
            replicas,
        ),
        ("PATCH", &applied, &apply, &widget("a", &json!({"size": 6})), 200, ""),
        ("PATCH", &applied, &apply, &widget("a", &json!({"size": 6})), 200, ""),
        ("PATCH", &format!("{one}/scale"), &merge, &json!({"spec": {"replicas": 9}}), 422, replicas),
        ("PATCH", &format!("{one}/scale"), &merge, &json!({"spec": {"replicas": 3}}), 200, ""),
        ("PATCH", &status, &merge, &json!({"status": {"phase": "Bad"}}), 422, "status: Invalid value: bad phase"),
        ("PATCH", &status, &merge, &json!({"status": {"phase": "Good"}}), 200, ""),
    ] {
        let answer = rig.answer(method, path, headers, &body.to_string()).await;
        assert!(warnings::read(answer.headers()).is_empty(), "{method} {path} {body}");
        let found = answer.status().as_u16();
        let status: Value = serde_json::from_slice(&collect(answer).await).unwrap();
        assert_eq!(found, code, "{method} {path} {body}: {status}");
        if !expected.is_empty() {
            let message = status["message"].as_str().unwrap();
            assert!(message.ends_with(&format!("is invalid: {expected}")), "{message}");
        }
    }
}
