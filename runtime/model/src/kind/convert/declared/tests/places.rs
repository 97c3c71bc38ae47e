//! The places of errors of the storage version, as another version has them.
use serde_json::json;

use super::super::*;
use crate::{kind::model::Path, meta::GroupVersion, schema::fixture};

#[test]
fn places_of_the_storage_version_are_named_as_this_version_has_them() {
    let text = json!({"type": "string"});
    let schema = |spec| fixture::schema(&json!({"type": "object", "properties": {"spec": spec}}));
    let object = |fields| json!({"type": "object", "properties": fields});
    let rights = |owner: &str| object(json!({owner: text, "years": text}));
    let stored =
        schema(object(json!({"author": text, "rights": rights("owner"), "copies": object(json!({"a": text}))})));
    let here = schema(object(json!({"writer": text, "terms": rights("holder")})));
    let name = |version: &str| GroupVersion { group: "example.com".to_owned(), version: version.to_owned() };
    let renamed = |here: &str, stored: &str| Change::Renamed(Path::from(here), Path::from(stored));
    let changes = [
        renamed("spec.writer", "spec.author"),
        renamed("spec.terms", "spec.rights"),
        renamed("spec.terms.holder", "spec.rights.owner"),
        Change::Added(Path::from("spec.copies")),
    ];
    let names = [name("v1beta1"), name("v1")];
    let [here, stored] = [(&names[0], &here), (&names[1], &stored)].map(|(name, schema)| Version { name, schema });
    let conversion = DeclaredConversion::new(here, stored, &changes).unwrap();
    for (stored, here) in [
        ("spec.author", Some("spec.writer")),
        ("spec.rights", Some("spec.terms")),
        ("spec.rights.years", Some("spec.terms.years")),
        ("spec.rights.owner", Some("spec.terms.holder")),
        ("spec.copies.a", Some("metadata.annotations[example.com/v1.spec.copies]")),
        ("spec.authors", None),
        ("metadata.name", None),
        ("", None),
    ] {
        assert_eq!(conversion.place_of_stored(stored).as_deref(), here, "{stored}");
    }
}
