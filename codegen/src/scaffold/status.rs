//! The subresources `status` and `scale`: lines in the declaration of a kind, and their tests.

use super::{
    declarations::{KindVersion, VersionedKind},
    edit::{InTests, SourceFile},
    edits::Edits,
    field::Field,
    names, status_type,
    structure::OF_FIELDS,
};

/// Adds a status with these fields to each version of a kind.
///
/// # Errors
/// A version that has a status already.
pub(crate) fn add(edits: &mut Edits<'_>, versioned_kind: &VersionedKind, fields: &[Field]) -> Result<(), String> {
    for version in versioned_kind.versions() {
        edits.edit(&version.file, |source| add_to(source, version, fields))?;
    }
    Ok(())
}

fn add_to(source: &mut SourceFile<'_>, version: &KindVersion, fields: &[Field]) -> Result<(), String> {
    let name = &version.name;
    source.check_free_argument(name, "status")?;
    let item = source.structure(name)?;
    if item.fields.iter().any(|field| field.ident.as_ref().is_some_and(|field| field == "status")) {
        let what =
            format!("`{name}` has a field `status` already; write `status` in its `#[resource(…)]` to serve it apart");
        return Err(source.error(&item.ident.span().byte_range(), &what));
    }
    source.add_argument(name, "status")?;
    source.add_field(name, &status_type::field(name))?;
    source.add_items(&status_type::declaration(name, fields))?;
    source.import("kindsmith", "Condition")?;
    for ty in OF_FIELDS.into_iter().filter(|ty| fields.iter().any(|field| field.ty.contains(ty))) {
        source.import("kindsmith", ty)?;
    }
    if fields.iter().any(|field| field.ty.contains("BTreeMap<")) {
        source.import("std::collections", "BTreeMap")?;
    }
    if source.example()?.is_some() {
        let names = source.in_tests(&names::constant(name), &version.objects())?;
        source.add_test(&test_of(version, &names, fields))?;
    }
    Ok(())
}

/// A test of the status subresource.
fn test_of(kind: &KindVersion, names: &InTests, fields: &[Field]) -> String {
    let one = names::one_in_test(&kind.name);
    let InTests { server, json, objects, object, .. } = names;
    let fields: String = fields.iter().map(|field| field.member() + ", ").collect();
    let status_path = object.replace("/example\"", "/example/status\"");
    format!(
        r#"    #[tokio::test]
    async fn the_status_of_{one}_has_a_writer_of_its_own() {{
        let server = {server}::test().configure(crate::serve).start().await;
        let (code, created) = server.call("POST", {objects}, example()).await;
        assert_eq!(code, 201, "{{created}}");
        let tested = {json}!({{
            "type": "Tested", "status": "True", "reason": "Test", "message": "",
            "lastTransitionTime": "2030-01-01T08:00:00Z",
        }});
        let change = {json}!({{"status": {{{fields}"conditions": [tested]}}}});
        let (code, whole) = server.call("PATCH", {object}, change.clone()).await;
        assert!(code == 200 && !whole.to_string().contains("Tested"), "{{whole}}");
        let (code, status) = server.call("PATCH", {status_path}, change).await;
        assert!(code == 200 && status.to_string().contains("Tested"), "{{status}}");
    }}
"#
    )
}

/// A test of the scale subresource, over this field on the wire.
pub(crate) fn scale_test(kind: &KindVersion, names: &InTests, replicas: &[String]) -> String {
    let one = names::one_in_test(&kind.name);
    let InTests { server, json, value, objects, object } = names;
    let scale_path = object.replace("/example\"", "/example/scale\"");
    let field = replicas.iter().map(|name| format!("[{name:?}]")).collect::<Vec<_>>().concat();
    format!(
        r#"    #[tokio::test]
    async fn {one}_is_scaled() {{
        let server = {server}::test().configure(crate::serve).start().await;
        let (code, created) = server.call("POST", {objects}, example()).await;
        assert_eq!(code, 201, "{{created}}");
        let scale = {json}!({{"spec": {{"replicas": 3}}}});
        let (code, scale) = server.call("PATCH", {scale_path}, scale).await;
        assert_eq!((code, &scale["spec"]["replicas"]), (200, &{json}!(3)), "{{scale}}");
        let (_, scaled) = server.call("GET", {object}, {value}::Null).await;
        assert_eq!(scaled{field}, 3);
    }}
"#
    )
}
