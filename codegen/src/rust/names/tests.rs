//! Tests of names in Rust.
use super::*;

#[test]
fn names_are_split_into_words_as_people_read_them() {
    for (wire, rust) in [
        ("podIP", "pod_ip"),
        ("clusterIPs", "cluster_ips"),
        ("HTTPRoute", "http_route"),
        ("x509Subject", "x509_subject"),
        ("ipFamilies", "ip_families"),
        ("x-kubernetes-map", "x_kubernetes_map"),
        ("$ref", "ref"),
        ("4th", "_4th"),
        ("-", "other"),
        ("größe", "größe"),
        ("日本", "u65e5_u672c"),
        ("e\u{301}tage", "e_tage"),
        ("a²", "a"),
        ("; fn evil() {}", "fn_evil"),
    ] {
        assert_eq!(snake(wire), rust);
    }
    assert_eq!(
        ["TCP", "ReadWriteOnce", "digital signature", "1", "s/mime"].map(pascal),
        ["Tcp", "ReadWriteOnce", "DigitalSignature", "Value1", "SMime"]
    );
}

#[test]
fn keywords_are_raw_identifiers() {
    let idents = ["type", "self", "gen", "name"].map(|name| ident(name).to_string());
    assert_eq!(idents, ["r#type", "self_", "r#gen", "name"]);
}

#[test]
fn names_on_the_wire_are_those_of_serde() {
    let cases = [("pod_ip", Some("podIp")), ("é", None), ("_", None), ("a_é", Some("aé")), ("_4th", Some("4th"))];
    for (rust, wire) in cases {
        assert_eq!(camel(rust).as_deref(), wire, "{rust}");
    }
    assert_eq!((variant("Éa", "camelCase"), variant("AÉ", "snake_case").as_deref()), (None, Some("a_É")));
}

#[test]
fn every_text_has_an_identifier() {
    for text in ["", "_", "4th", "a-b", "v1; fn evil() {}", "\n", "\0", "*/", "²", "\u{345}", "r#type", "a b", "größe"]
    {
        for name in [ident(text).to_string(), module(text), of_kind(text), snake(text), pascal(text)] {
            assert!(is_ident(name.trim_start_matches("r#")), "{text:?} {name:?}");
        }
    }
    let modules = ["mod", "self", "gen", "kindsmith", "v1-10-0"].map(module);
    assert_eq!(modules, ["mod_", "self_", "gen_", "kindsmith_", "v1_10_0"]);
    assert_eq!(["Gear", "My-Kind", "gear", "self", "i32"].map(of_kind), ["Gear", "MyKind", "Gear", "Self_", "I32"]);
}

#[test]
fn items_are_named_in_the_singular() {
    let singulars = ["policies", "matches", "address", "status", "rules", "basis"].map(singular);
    assert_eq!(singulars, ["policy", "match", "address", "status", "rule", "basis"]);
}

#[test]
fn the_rule_that_fits_most_variants_is_taken() {
    let of = |wires: &[&str]| {
        let variants: Vec<_> = wires.iter().map(|wire| (pascal(wire), (*wire).to_owned())).collect();
        variant_rule(&variants)
    };
    assert_eq!(of(&["TCP", "UDP", "SCTP"]), "UPPERCASE");
    assert_eq!(of(&["Always", "Never"]), "");
    assert_eq!(of(&["HTTP", "Other"]), "");
    assert_eq!(of(&["round-robin", "least-request"]), "kebab-case");
}
