//! Roles: who may do what.

use std::collections::BTreeSet;

use kindsmith_codegen::{ResourceDeclaration, export::rbac};
use kindsmith_model::codec::{Limits, yaml};
use serde_json::Value;

use crate::{corpus, own_kinds};

fn roles(kinds: &[ResourceDeclaration]) -> Vec<Value> {
    let files = rbac::files(kinds.iter().map(|declaration| &declaration.definition));
    let texts = files.iter().flat_map(|file| file.text.split("---\n").skip(1));
    texts.map(|text| yaml::decode(text.as_bytes(), &Limits { depth: 64, memory: 1 << 20 }).unwrap().document).collect()
}

/// True if a role allows a verb on a resource.
fn can(roles: &[Value], role: &str, verb: &str, resource: &str) -> bool {
    let role = roles.iter().find(|found| found["metadata"]["name"] == role).unwrap_or_else(|| panic!("no role {role}"));
    role["rules"].as_array().unwrap().iter().any(|rule| {
        let has = |field: &str, value: &str| rule[field].as_array().unwrap().iter().any(|found| found == value);
        has("verbs", verb) && has("resources", resource)
    })
}

#[test]
fn each_role_allows_more_than_the_one_before() {
    let roles = roles(&own_kinds());
    let names: Vec<_> = roles.iter().map(|role| role["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "bakery.example.com-view",
            "bakery.example.com-edit",
            "bakery.example.com-admin",
            "marina.example.com-view",
            "marina.example.com-edit",
            "marina.example.com-admin",
            "marina.example.com-cluster-view",
            "marina.example.com-cluster-edit",
            "marina.example.com-cluster-admin",
        ]
    );
    for (verb, resource, allowed) in [
        ("watch", "orders", [true, true, true]),
        ("get", "orders/status", [true, true, true]),
        ("create", "orders", [false, true, true]),
        ("deletecollection", "orders", [false, true, true]),
        ("patch", "orders/status", [false, false, true]),
        ("list", "orders/status", [false, false, false]),
    ] {
        let found =
            ["view", "edit", "admin"].map(|level| can(&roles, &format!("bakery.example.com-{level}"), verb, resource));
        assert_eq!(found, allowed, "{verb} {resource}");
    }
    assert!(!can(&roles, "marina.example.com-admin", "get", "berths"), "a berth is no part of a namespace");
    for role in &roles {
        let name = role["metadata"]["name"].as_str().unwrap();
        let level = name.rsplit('-').next().unwrap();
        let label = format!("rbac.authorization.k8s.io/aggregate-to-{level}");
        assert_eq!(role["metadata"]["labels"].get(&label).is_some(), !name.contains("-cluster-"), "{role}");
    }
}

#[test]
fn connections_and_secrets_are_not_viewed() {
    let kinds = corpus();
    if kinds.is_empty() {
        return;
    }
    let roles = roles(&kinds);
    for (verb, resource, allowed) in [
        ("get", "pods/log", [true, true]),
        ("get", "pods/exec", [false, true]),
        ("create", "pods/eviction", [false, true]),
        ("get", "secrets", [false, true]),
        ("update", "deployments/scale", [false, false]),
    ] {
        assert_eq!(
            ["core-view", "core-edit"].map(|role| can(&roles, role, verb, resource)),
            allowed,
            "{verb} {resource}"
        );
    }
    assert!(can(&roles, "apps-edit", "update", "deployments/scale"));
    let reviews: BTreeSet<_> = ["create", "get"]
        .into_iter()
        .filter(|verb| can(&roles, "authorization.k8s.io-edit", verb, "localsubjectaccessreviews"))
        .collect();
    assert_eq!(reviews, BTreeSet::from(["create"]));
}
