//! Doubles of sixteen and seventeen digits are stored, changed and shown unchanged in every encoding.
use super::*;
use crate::{
    codec::{self, cbor, yaml},
    schema::{Schema, model::Type},
};

const RATIOS: [&str; 4] = ["4013953607623568.5", "-4013953607623568.5", "0.30000000000000004", "4503599627370495.5"];
const WIDGETS: &str = "/apis/conformance.example.com/v1/namespaces/default/widgets";

async fn rig() -> Rig {
    let widget = Widget::kind();
    let mut schema = Schema::clone(&widget.version.schema);
    let spec = schema.properties.get_mut("spec").unwrap();
    spec.properties.insert("ratio".to_owned(), Schema { kind: Type::Number, ..Schema::default() });
    let widget = widget.with(|_, version, _| version.schema = Arc::new(schema));
    Rig::with(vec![Namespace::kind(), widget]).await
}

/// The text of the ratio in a JSON answer.
fn ratio(json: &str) -> &str {
    let (_, rest) = json.split_once("\"ratio\":").expect(json);
    rest.split([',', '}', '\n']).next().unwrap().trim()
}

async fn send(rig: &Rig, method: &str, path: &str, kind: &str, body: &str) -> String {
    let answer = rig.answer(method, path, &[("content-type", kind)], body).await;
    let code = answer.status();
    let text = text(answer).await;
    assert!(code.is_success(), "{method} {path}: {text}");
    text
}

#[tokio::test]
async fn doubles_survive_from_end_to_end() {
    let rig = rig().await;
    for (at, number) in RATIOS.into_iter().enumerate() {
        let one = format!("{WIDGETS}/w{at}");
        let body = |size: usize| {
            format!(
                r#"{{"apiVersion":"conformance.example.com/v1","kind":"Widget","metadata":{{"name":"w{at}"}},"spec":{{"size":{size},"ratio":{number}}}}}"#
            )
        };
        let made = send(&rig, "POST", WIDGETS, "application/json", &body(1)).await;
        assert_eq!(ratio(&made), number, "created");
        assert_eq!(ratio(&send(&rig, "GET", &one, "", "").await), number, "read");
        let merged = send(&rig, "PATCH", &one, "application/merge-patch+json", r#"{"spec":{"size":2}}"#).await;
        assert_eq!(ratio(&merged), number, "beside what a patch changes");
        let copied = r#"[{"op":"copy","from":"/spec/ratio","path":"/spec/ratio"}]"#;
        assert_eq!(ratio(&send(&rig, "PATCH", &one, "application/json-patch+json", copied).await), number, "copied");
        let patch = format!(r#"{{"spec":{{"ratio":{number}}}}}"#);
        let patched = send(&rig, "PATCH", &one, "application/merge-patch+json", &patch).await;
        assert_eq!((ratio(&patched), patched == merged), (number, true), "no change");
        let config = format!(
            "apiVersion: conformance.example.com/v1\nkind: Widget\nmetadata:\n  name: w{at}\nspec:\n  size: 3\n  ratio: {number}\n"
        );
        let query = "?fieldManager=m&force=true";
        let applied = send(&rig, "PATCH", &format!("{one}{query}"), "application/apply-patch+yaml", &config).await;
        assert_eq!(ratio(&applied), number, "applied");
        for path in [one.as_str(), WIDGETS] {
            let json: Value = serde_json::from_slice(&collect(rig.answer("GET", path, &[], "").await).await).unwrap();
            let limits = codec::Limits::default();
            let in_yaml = collect(rig.answer("GET", path, &[("accept", "application/yaml")], "").await).await;
            assert_eq!(yaml::decode(&in_yaml, &limits).unwrap().document, json, "YAML");
            let in_cbor = collect(rig.answer("GET", path, &[("accept", "application/cbor")], "").await).await;
            assert_eq!(cbor::decode(&in_cbor, &limits).unwrap().document, json, "CBOR");
        }
        let yaml_text = text(rig.answer("GET", &one, &[("accept", "application/yaml")], "").await).await;
        assert!(yaml_text.contains("ratio: "), "{yaml_text}");
    }
}
