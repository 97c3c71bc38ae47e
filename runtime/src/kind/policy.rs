//! What kube-apiserver does differently for custom resources, for the kinds compiled into it, and for single ones of these:
//! each difference is a question with one answer a policy. Whoever needs an answer asks the kind's policy, never what sort
//! of kind it is.
use std::fmt;

use super::{endpoint::Verb, model::Scope};
use crate::{
    codec::Order,
    meta::{FieldError, FieldPath, GroupVersion, go, validate},
    schema::{Document, Schema},
};

/// How a kind is served where kinds differ. The defaults are those of kinds compiled into Kubernetes.
pub trait Policy: fmt::Debug + Send + Sync {
    /// The order in which strict decoding reports what it finds.
    fn fault_order(&self) -> Order {
        Order::AsMet
    }

    /// Bodies are decoded into types: the first value of a wrong type is refused with 400. Otherwise validation reports
    /// all of them, with 422.
    fn decodes_into_types(&self) -> bool {
        true
    }

    /// Optional fields with empty values are left out of what is stored.
    fn omits_empty(&self) -> bool {
        true
    }

    /// Strategic merge patches are taken.
    fn takes_strategic_patches(&self, _schema: &Schema) -> bool {
        true
    }

    /// What is wrong with metadata beyond what holds for all kinds.
    fn metadata_errors(&self, metadata: &Document, path: &FieldPath) -> Vec<FieldError> {
        validate::standard_finalizers(metadata, path)
    }

    /// Objects can be selected by `metadata.namespace`, be it an empty one.
    fn selects_by_namespace(&self, _scope: Scope) -> bool {
        true
    }

    /// The refusal of a field selector by a field that is not selectable, for a kind that declares selectable fields or none.
    fn unknown_field(&self, field: &str, declares_fields: bool) -> String {
        if declares_fields {
            return format!("field label not supported: {field}");
        }
        let field = go::quoted(field);
        format!("{field} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
    }

    /// Each path has a route of its own, which refuses what it does not serve (paths, media types, types of patches) in
    /// words of its own.
    fn has_routes(&self) -> bool {
        true
    }

    /// Items of lists carry apiVersion and kind.
    fn lists_type_meta(&self) -> bool {
        false
    }

    /// Fields of the format `byte` are byte strings in CBOR.
    fn writes_bytes(&self) -> bool {
        true
    }

    /// Tables are printed by code: all of their columns are called text, and an age that is not known is `<unknown>`.
    fn prints_tables(&self) -> bool {
        true
    }

    /// Verbs on the objects themselves, in the order in which discovery lists them.
    fn verbs(&self) -> [Verb; 8] {
        Verb::BY_NAME
    }

    /// Discovery lists the resources of a version by name rather than as they were declared.
    fn lists_by_name(&self) -> bool {
        true
    }

    /// The group's package among those of Kubernetes, such as `core` or `coordination`, by which definitions and messages
    /// are named; `None` where they are named after the whole group.
    fn package<'g>(&self, at: &'g GroupVersion) -> Option<&'g str> {
        at.group.split('.').next().filter(|group| !group.is_empty()).or(Some("core"))
    }

    /// Other objects live in the objects of the kind, as they do in namespaces.
    fn contains_objects(&self) -> bool {
        false
    }

    /// Whether no object may be created any more in one that has this value in a selectable field.
    fn is_closed_by(&self, _field: &[String], _value: &str) -> bool {
        false
    }

    /// The list of finalizers that an object has beside those of its metadata: its deletion waits for them, and they are
    /// taken out through the finalize subresource.
    fn finalizers(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// Why the object of a name may not be deleted; `None` where it may.
    fn refuses_deletion(&self, _name: &str) -> Option<&'static str> {
        None
    }

    /// Collections can be deleted as a whole.
    fn deletes_collections(&self) -> bool {
        true
    }
}

/// The policy of kinds compiled into Kubernetes.
#[derive(Clone, Copy, Debug)]
pub struct Compiled;

impl Policy for Compiled {}

/// The policy of custom resources.
#[derive(Clone, Copy, Debug)]
pub struct Custom;

impl Policy for Custom {
    fn fault_order(&self) -> Order {
        Order::UnknownLast
    }

    fn decodes_into_types(&self) -> bool {
        false
    }

    fn omits_empty(&self) -> bool {
        false
    }

    /// Only where the schema says how: kube-apiserver takes none for custom resources, whose schemas cannot.
    fn takes_strategic_patches(&self, schema: &Schema) -> bool {
        schema.says_how_patches_merge()
    }

    fn metadata_errors(&self, _metadata: &Document, _path: &FieldPath) -> Vec<FieldError> {
        Vec::new()
    }

    fn selects_by_namespace(&self, scope: Scope) -> bool {
        scope == Scope::Namespaced
    }

    fn unknown_field(&self, field: &str, _declares_fields: bool) -> String {
        format!("field label not supported: {field}")
    }

    fn has_routes(&self) -> bool {
        false
    }

    fn lists_type_meta(&self) -> bool {
        true
    }

    fn writes_bytes(&self) -> bool {
        false
    }

    fn prints_tables(&self) -> bool {
        false
    }

    fn verbs(&self) -> [Verb; 8] {
        [
            Verb::Delete,
            Verb::DeleteCollection,
            Verb::Get,
            Verb::List,
            Verb::Patch,
            Verb::Create,
            Verb::Update,
            Verb::Watch,
        ]
    }

    fn lists_by_name(&self) -> bool {
        false
    }

    fn package<'g>(&self, _at: &'g GroupVersion) -> Option<&'g str> {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_packages_of_kubernetes_are_named_by_the_first_label_of_a_group() {
        let package = |policy: &dyn Policy, group: &str| {
            let at = GroupVersion { group: group.to_owned(), version: "v1".to_owned() };
            policy.package(&at).map(str::to_owned)
        };
        assert_eq!(package(&Compiled, "").as_deref(), Some("core"));
        assert_eq!(package(&Compiled, "coordination.k8s.io").as_deref(), Some("coordination"));
        assert_eq!(package(&Custom, "library.example.com"), None);
    }

    #[test]
    fn a_custom_resource_says_in_its_schema_how_strategic_patches_merge() {
        let schema = |from| crate::schema::fixture::schema(&from);
        let plain = json!({"type": "object", "properties": {"list": {"type": "array", "items": {"type": "string"}}}});
        let mut merging = plain.clone();
        merging["properties"]["list"]["x-kubernetes-patch-strategy"] = json!("merge");
        assert!(
            !Custom.takes_strategic_patches(&schema(plain.clone())) && Compiled.takes_strategic_patches(&schema(plain))
        );
        assert!(Custom.takes_strategic_patches(&schema(merging)));
    }
}
