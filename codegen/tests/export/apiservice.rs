//! What a cluster needs in front of a program.

use kindsmith_codegen::export::apiservice::{self, Service};
use kindsmith_model::codec::{Limits, yaml};
use serde_json::{Value, json};

use crate::own_kinds;

fn documents(text: &str) -> Vec<Value> {
    let limits = Limits { depth: 64, memory: 1 << 20 };
    text.split("---\n").skip(1).map(|text| yaml::decode(text.as_bytes(), &limits).unwrap().document).collect()
}

#[test]
fn each_version_is_an_api_service_and_the_program_may_ask_the_host() {
    let (kinds, mut service) = (own_kinds(), Service::new("shop", "api"));
    service.ca = Some(b"PEM".to_vec());
    let (files, warnings) = apiservice::files(kinds.iter().map(|declaration| &declaration.definition), &service);
    assert_eq!(warnings, Vec::<String>::new());
    let file = |name: &str| {
        documents(&files.iter().find(|file| file.path == name).unwrap_or_else(|| panic!("no {name}")).text)
    };
    let bakery = file("apiservice_bakery.example.com.yaml");
    let first = &bakery[0];
    let version = first["spec"]["version"].as_str().unwrap();
    assert_eq!(first["metadata"]["name"], format!("{version}.bakery.example.com"));
    assert_eq!(first["spec"]["service"], json!({"namespace": "shop", "name": "api", "port": 443}));
    assert_eq!((&first["spec"]["caBundle"], &first["spec"]["versionPriority"]), (&json!("UEVN"), &json!(10)));
    let access = file("access.yaml");
    let kinds: Vec<_> = access.iter().map(|object| object["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["ServiceAccount", "ClusterRoleBinding", "RoleBinding"]);
    assert_eq!(access[1]["roleRef"]["name"], "system:auth-delegator");
    assert_eq!(access[2]["roleRef"]["name"], "extension-apiserver-authentication-reader");
    assert_eq!(access[2]["metadata"]["namespace"], "kube-system");
    assert_eq!(access[2]["subjects"], json!([{"kind": "ServiceAccount", "name": "api", "namespace": "shop"}]));
    assert_eq!(file("service.yaml")[0]["spec"]["ports"][0]["targetPort"], 8443);
}
