//! Tests of the versions of definitions.
use std::sync::Arc;

use serde_json::json;

use crate::{
    crd,
    kind::{Custom, Kind, Unchanged, Versions, convert::Answers},
    schema::Meter,
};

#[test]
fn a_deprecated_version_names_the_newest_served_one_that_is_not() {
    let warning = |others: &[(&str, bool, bool)], text: Option<&str>| {
        let version = |name: &str, served: bool, deprecated: bool| {
            json!({"name": name, "served": served, "storage": false, "deprecated": deprecated,
                "schema": {"openAPIV3Schema": {"type": "object"}}})
        };
        let mut versions = vec![version("v1beta2", true, true)];
        versions[0]["storage"] = true.into();
        if let Some(text) = text {
            versions[0]["deprecationWarning"] = text.into();
        }
        versions.extend(others.iter().map(|(name, served, deprecated)| version(name, *served, *deprecated)));
        let spec = json!({"group": "g.io", "scope": "Cluster", "names": {"plural": "bolts", "kind": "Bolt"}, "versions": versions});
        let defined = crd::define(&json!({"metadata": {"name": "bolts.g.io"}, "spec": spec})).unwrap().definition;
        let versions = Versions::new(defined.kinds(&Custom)).unwrap();
        versions.deprecation(versions.stored()).unwrap()
    };
    let plain = "g.io/v1beta2 Bolt is deprecated";
    assert_eq!(warning(&[], None), plain);
    let named = |version: &str| format!("{plain}; use g.io/{version} Bolt");
    assert_eq!(warning(&[("v1", true, false), ("v2", true, false), ("v1beta3", true, false)], None), named("v2"));
    assert_eq!(warning(&[("v2", false, false), ("v1", true, true), ("v1beta3", true, false)], None), named("v1beta3"));
    assert_eq!(warning(&[("v1beta1", true, false), ("v1alpha1", true, false)], None), plain, "older ones");
    assert_eq!(warning(&[("v1", true, false)], Some("use nuts")), "use nuts");
}

#[test]
fn what_a_definition_stored_in_another_version_keeps_that_versions_defaults() {
    let definition = |storage: &str| {
        let version = |name: &str, field: &str| {
            let spec =
                json!({"type": "object", "default": {}, "properties": {field: {"type": "string", "default": name}}});
            let schema = json!({"type": "object", "properties": {"spec": spec}});
            json!({"name": name, "served": true, "storage": name == storage, "schema": {"openAPIV3Schema": schema}})
        };
        let versions = [version("v1", "old"), version("v2", "new")];
        let names = json!({"plural": "bolts", "kind": "Bolt"});
        let spec = json!({"group": "g.io", "scope": "Cluster", "names": names, "versions": versions});
        crd::define(&json!({"metadata": {"name": "bolts.g.io"}, "spec": spec})).unwrap().definition
    };
    let versions = Versions::new(definition("v2").kinds(&Custom)).unwrap();
    let old = versions.find("g.io/v1").unwrap();
    let renewed = |kind: &Kind| {
        kind.renew_to(versions.stored(), json!({"metadata": {}}), Some(&Meter::default()), &Answers::none()).unwrap()
    };
    assert_eq!(renewed(old), json!({"metadata": {}, "spec": {}}), "v1's default, which v2 does not declare");
    let written = old
        .convert_to(
            versions.stored(),
            json!({"metadata": {}, "spec": {"old": "v1"}}),
            &Meter::default(),
            &Answers::none(),
        )
        .unwrap();
    assert_eq!(written["spec"], json!({"new": "v2"}), "a write gets the defaults of the storage version");
    let typed = Kind::clone(old).with(|_, _, binding| binding.conversion = Some(Arc::new(Unchanged { fills: true })));
    assert_eq!(renewed(&typed)["spec"], json!({"new": "v2"}), "a type in Rust needs them");
}
