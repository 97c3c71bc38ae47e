//! Definitions with rules of all sorts, and what kube-apiserver says of them and of their objects: a table in `ruled.yaml`.
//!
//! A definition gives the schema of `spec`, of the whole object (`schema`), or of `spec` in each version (`versions`, the first is stored). It is
//! `refused` with some errors, or has `warnings`, and its `steps` write the object `o`, each with the errors and warnings that it has, and the
//! `code` and the `message` of other errors.
//! `repeat` in a created spec makes lists of so many numbers. `KIND` in errors is the kind. In the errors of definitions `~` stands for the path of the spec's schema, and `‹…›` for a rule as kube-apiserver prints it.
use kindsmith::{Server, server::TestServer};
use kindsmith_model::codec::{Limits, yaml};
use kindsmith_tests::Client;
use serde_json::{Map, Value, json};

use super::applied::{DEFINITIONS, has, until};

const TABLE: &str = include_str!("ruled.yaml");
const SPEC: &str = "spec.validation.openAPIV3Schema.properties[spec]";

async fn serve() -> (TestServer, Client) {
    let server = Server::test().configure(kindsmith::server::Builder::definitions).start().await;
    let client = Client::new(server.url(), server.token());
    (server, client)
}

/// The definition of a case.
fn definition(case: &Value, plural: &str) -> Value {
    let version = |(name, spec): (&String, &Value)| {
        let schema = if case["schema"].is_null() {
            json!({"type": "object", "properties": {"spec": spec}})
        } else {
            case["schema"].clone()
        };
        let mut version =
            json!({"name": name, "served": true, "storage": false, "schema": {"openAPIV3Schema": schema}});
        if !case["subresources"].is_null() {
            version["subresources"] = case["subresources"].clone();
        }
        version
    };
    let one = Map::from_iter([("v1".to_owned(), case["spec"].clone())]);
    let mut versions: Vec<Value> = case["versions"].as_object().unwrap_or(&one).iter().map(version).collect();
    versions[0]["storage"] = json!(true);
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": format!("{plural}.rules.example.com")},
        "spec": {"group": "rules.example.com", "scope": "Namespaced", "names": {"plural": plural, "kind": plural.to_uppercase()}, "versions": versions},
    })
}

/// The errors of an answer, in their order.
fn errors(answer: &Value) -> Vec<String> {
    let causes = answer["details"]["causes"].as_array().into_iter().flatten();
    let text = |cause: &Value, name: &str| cause[name].as_str().unwrap_or_default().to_owned();
    causes.map(|cause| format!("{}: {}", text(cause, "field"), text(cause, "message"))).collect()
}

/// The texts of a list in the table, with what its marks stand for.
fn expected(list: &Value) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten().map(|text| text.as_str().expect("a text").replace('~', SPEC));
    let printed = |text: String| match text.split_once('‹').zip(text.split_once('›')) {
        Some(((before, _), (rule, after))) => {
            let rule = rule.rsplit('‹').next().unwrap_or_default();
            let (rule, message) = rule.split_once(" / ").unwrap_or((rule, ""));
            let escaped = |text: &str| {
                Value::from(text).to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
            };
            let (rule, message) = (escaped(rule), escaped(message));
            format!(
                "{before}{{\"Rule\":{rule},\"Message\":\"\",\"MessageExpression\":{message},\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}}{after}"
            )
        }
        None => text,
    };
    texts.map(printed).collect()
}

/// One definition of the table with its objects.
struct Case<'c> {
    client: &'c mut Client,
    plural: String,
}

impl Case<'_> {
    /// Does what a step says.
    async fn write(&mut self, step: &Value) -> kindsmith_tests::Answer {
        let version = step["version"].as_str().unwrap_or("v1");
        let all = format!("/apis/rules.example.com/{version}/namespaces/default/{}", self.plural);
        let (one, query) =
            (format!("{all}/o"), step["query"].as_str().map(|query| format!("?{query}")).unwrap_or_default());
        let api_version = format!("rules.example.com/{version}");
        let object = |spec: &Value| {
            let mut spec = spec.clone();
            if let Some(Value::Object(lists)) = spec.as_object_mut().and_then(|fields| fields.remove("repeat")) {
                for (name, count) in lists {
                    spec[name] = (0..count.as_u64().expect("a count")).collect();
                }
            }
            let metadata = step.get("metadata").cloned().unwrap_or_else(|| json!({"name": "o"}));
            let mut object = json!({"apiVersion": api_version, "kind": self.plural.to_uppercase(), "metadata": metadata, "spec": spec});
            if !step["with_status"].is_null() {
                object["status"] = step["with_status"].clone();
            }
            object
        };
        let merge = "application/merge-patch+json";
        let (name, value) = step
            .as_object()
            .expect("a step")
            .iter()
            .find(|(name, _)| OPERATIONS.contains(&name.as_str()))
            .expect("an operation");
        let client = &mut *self.client;
        let answer = match name.as_str() {
            "create" => client.json("POST", &format!("{all}{query}"), &object(value)).await,
            "update" => {
                let mut current = client.get(&one).await.expect("an answer").json();
                current["spec"] = value.clone();
                client.json("PUT", &format!("{one}{query}"), &current).await
            }
            "merge" => client.typed("PATCH", &format!("{one}{query}"), merge, value).await,
            "patch" => client.typed("PATCH", &format!("{one}{query}"), "application/json-patch+json", value).await,
            "strategic" => {
                client.typed("PATCH", &format!("{one}{query}"), "application/strategic-merge-patch+json", value).await
            }
            "apply" => {
                let path = format!("{one}?fieldManager=t&force=true{}", query.replace('?', "&"));
                client.typed("PATCH", &path, "application/apply-patch+yaml", &object(value)).await
            }
            "status" => client.typed("PATCH", &format!("{one}/status{query}"), merge, &json!({"status": value})).await,
            _ => {
                client
                    .typed("PATCH", &format!("{one}/scale{query}"), merge, &json!({"spec": {"replicas": value}}))
                    .await
            }
        };
        answer.expect("an answer")
    }

    /// Replaces the definition, and waits until it is served, which its new description shows.
    async fn redefine(&mut self, case: &Value) -> kindsmith_tests::Answer {
        let path = format!("{DEFINITIONS}/{}.rules.example.com", self.plural);
        let mut current = self.client.get(&path).await.expect("an answer").json();
        current["spec"]["versions"] = definition(case, &self.plural)["spec"]["versions"].clone();
        let versions = current["spec"]["versions"].as_array_mut().expect("versions");
        for version in versions {
            version["schema"]["openAPIV3Schema"]["description"] = json!(format!("{} again", self.plural));
        }
        let answer = self.client.json("PUT", &path, &current).await.expect("an answer");
        if answer.status == 200 {
            let served = "/openapi/v3/apis/rules.example.com/v1";
            until(self.client, served, |_, document| document.to_string().contains(&format!("{} again", self.plural)))
                .await;
        }
        answer
    }
}

/// What steps do.
const OPERATIONS: [&str; 8] = ["create", "update", "merge", "patch", "strategic", "apply", "status", "scale"];

/// The texts of the warnings of an answer.
fn warnings(answer: &kindsmith_tests::Answer) -> Vec<String> {
    let all = answer.headers.get_all("warning").iter();
    let text = |value: &str| {
        let quoted = value.strip_prefix("299 - \"").and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        quoted.replace("\\\"", "\"").replace("\\\\", "\\")
    };
    all.map(|value| text(value.to_str().expect("a text"))).collect()
}

#[tokio::test]
async fn rules_of_all_sorts_are_those_of_kubernetes() {
    let mut table =
        yaml::decode(TABLE.as_bytes(), &Limits::default()).unwrap_or_else(|error| panic!("{error}")).document;
    let Value::Array(cases) = table["cases"].take() else { panic!("cases") };
    let (_server, mut client) = serve().await;
    let mut wrong = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let (name, plural) = (case["name"].as_str().expect("a name"), format!("c{number}"));
        let kind = plural.to_uppercase();
        let mut differ = |step: &str, found: Vec<String>, expected: Vec<String>| {
            let found: Vec<String> = found.iter().map(|text| text.replace(&kind, "KIND")).collect();
            if found != expected {
                wrong.push(format!("{name}: {step}\n  found    {found:#?}\n  expected {expected:#?}"));
            }
        };
        let definition = definition(case, &plural);
        if !case["refused"].is_null() {
            let answer =
                client.json("POST", &format!("{DEFINITIONS}?dryRun=All"), &definition).await.expect("an answer");
            differ("the definition", errors(&answer.json()), expected(&case["refused"]));
            continue;
        }
        let answer = client.json("POST", DEFINITIONS, &definition).await.expect("an answer");
        differ("the definition", errors(&answer.json()), Vec::new());
        differ("the definition", warnings(&answer), expected(&case["warnings"]));
        if answer.status != 201 {
            continue;
        }
        let path = format!("{DEFINITIONS}/{plural}.rules.example.com");
        until(&mut client, &path, |_, definition| has(definition, "Established", "True")).await;
        let mut case_of = Case { client: &mut client, plural };
        for step in case["steps"].as_array().expect("steps") {
            let answer = if step["redefine"].is_null() {
                case_of.write(step).await
            } else {
                case_of.redefine(&step["redefine"]).await
            };
            let shown: String = step.to_string().chars().take(300).collect();
            differ(&shown, errors(&answer.json()), expected(&step["errors"]));
            differ(&shown, warnings(&answer), expected(&step["warnings"]));
            if !step["message"].is_null() {
                differ(&shown, vec![answer.json()["message"].to_string()], vec![step["message"].to_string()]);
            }
            let code = step["code"].as_u64().unwrap_or(if step["errors"].is_null() { 200 } else { 422 });
            let status = if answer.status == 201 { 200 } else { u64::from(answer.status) };
            differ(&shown, vec![status.to_string()], vec![code.to_string()]);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(cases.len(), 69);
}
