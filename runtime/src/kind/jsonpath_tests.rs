//! What paths find.
use serde_json::json;

use super::*;

fn found(path: &str) -> Document {
    let document = json!({
        "metadata": {"name": "web", "labels": {"app.example.com/name": "x", "a'b": "y"}},
        "spec": {"ports": [{"name": "http", "port": 80}, {"name": "https", "port": 443, "tls": true}]},
        "status": {"conditions": [
            {"type": "Ready", "status": "True"}, {"type": "Idle", "status": "False"}, {"type": "a==b", "status": "?"},
        ]},
    });
    JsonPath::parse(path)
        .unwrap_or_else(|error| panic!("{path}: {error}"))
        .find(&document)
        .into_iter()
        .cloned()
        .collect()
}

#[test]
fn a_path_finds_what_kubectl_finds() {
    for (path, values) in [
        (".metadata.name", json!(["web"])),
        ("{.metadata.name}", json!(["web"])),
        ("$.metadata['name']", json!(["web"])),
        (r".metadata.labels.app\.example\.com/name", json!(["x"])),
        (".metadata.labels['app.example.com/name']", json!(["x"])),
        (r#".metadata.labels["a'b"]"#, json!(["y"])),
        (".spec.ports[0].name", json!(["http"])),
        (".spec.ports[-1].port", json!([443])),
        (".spec.ports[5].port", json!([])),
        (".spec.ports[*].port", json!([80, 443])),
        (".spec.ports.*.port", json!([80, 443])),
        (".spec.ports[0:1].port", json!([80])),
        (".spec.ports[:].port", json!([80, 443])),
        (".spec.ports[::2].port", json!([80])),
        (".spec.ports[0,1].port", json!([80, 443])),
        (".spec.ports[0]['name','port']", json!(["http", 80])),
        ("..port", json!([80, 443])),
        (r#".status.conditions[?(@.type=="Ready")].status"#, json!(["True"])),
        (".status.conditions[?(@.type == 'a==b')].status", json!(["?"])),
        (r#".status.conditions[?(@.type!="Ready")].status"#, json!(["False", "?"])),
        (".spec.ports[?(@.tls)].name", json!(["https"])),
        (".spec.ports[?(@.tls==true)].name", json!(["https"])),
        (".spec.ports[?(@.port>=100)].name", json!(["https"])),
        (".spec.ports[?(@.port<100)].name", json!(["http"])),
        (".spec.ports[?(@.name>5)].name", json!([])),
        (".spec.nothing.at.all", json!([])),
        (".metadata.name[0]", json!([])),
    ] {
        assert_eq!(found(path), values, "{path}");
    }
    assert_eq!(found("..*")[0]["name"], "web");
}

#[test]
fn what_is_no_path_is_refused() {
    for path in [".spec[size", ".a[?(@.b]", ".a[x]", ".a[1:2:0]", ".a[?(@.b=~'c')]", ".a b", ".a[", "....", ".a]"] {
        assert!(JsonPath::parse(path).is_err(), "{path}");
    }
    let deep = ".a[?(@".repeat(100) + &")]".repeat(100);
    assert!(JsonPath::parse(&deep).is_err());
}

#[test]
fn a_path_of_fields_has_names() {
    assert_eq!(JsonPath::parse(".spec['a.b'].c").unwrap().names().unwrap(), ["spec", "a.b", "c"]);
    assert_eq!(JsonPath::parse(".spec.a[0]").unwrap().names(), None);
}
