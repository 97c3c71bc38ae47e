//! The differences in kube-apiserver's behaviour between custom resources, compiled kinds, and single compiled kinds. Each is a
//! method with one answer per policy. Other code asks the kind's policy instead of checking what sort of kind it is.
use std::fmt;

use super::{endpoint::Verb, model::Scope};
use crate::{
    codec::Order,
    meta::{FieldError, FieldPath, GroupVersion, go, validate},
    schema::{Document, Schema},
};

/// The differences between kinds. The defaults are those of kinds compiled into Kubernetes.
pub trait Policy: fmt::Debug + Send + Sync {
    /// The order in which strict decoding reports faults.
    fn fault_order(&self) -> Order {
        Order::AsMet
    }

    /// True if bodies are decoded into types: the first value of a wrong type is refused with 400. Otherwise validation
    /// reports all of them with 422.
    fn decodes_into_types(&self) -> bool {
        true
    }

    /// True if optional fields with empty values are not stored.
    fn omits_empty(&self) -> bool {
        true
    }

    /// True if raw JSON and the zeros of fields that are no `Option` can be empty values, too.
    fn omits_zeros(&self) -> bool {
        true
    }

    /// True if strategic merge patches are supported.
    fn takes_strategic_patches(&self, _schema: &Schema) -> bool {
        true
    }

    /// Errors of metadata beyond the common ones.
    fn metadata_errors(&self, metadata: &Document, path: &FieldPath) -> Vec<FieldError> {
        validate::standard_finalizers(metadata, path)
    }

    /// True if objects can be selected by `metadata.namespace`, even an empty one.
    fn selects_by_namespace(&self, _scope: Scope) -> bool {
        true
    }

    /// The error for a field selector with an unselectable field, for a kind with or without selectable fields.
    fn unknown_field(&self, field: &str, declares_fields: bool) -> String {
        if declares_fields {
            return format!("field label not supported: {field}");
        }
        let field = go::quoted(field);
        format!("{field} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
    }

    /// True if each path has a route of its own, with its own wording for unsupported paths, media types and types of
    /// patches.
    fn has_routes(&self) -> bool {
        true
    }

    /// True if list items have apiVersion and kind.
    fn lists_type_meta(&self) -> bool {
        false
    }

    /// True if fields with the format `byte` are byte strings in CBOR.
    fn writes_bytes(&self) -> bool {
        true
    }

    /// True if Tables are printed by code: all columns are text, and an unknown age is `<unknown>`.
    fn prints_tables(&self) -> bool {
        true
    }

    /// True if columns of dates show ages instead of times.
    fn shows_ages(&self) -> bool {
        true
    }

    /// The verbs on objects in discovery order.
    fn verbs(&self) -> [Verb; 8] {
        Verb::BY_NAME
    }

    /// True if discovery lists the resources of a version by name instead of in their declared order.
    fn lists_by_name(&self) -> bool {
        true
    }

    /// The group's package in Kubernetes, such as `core` or `coordination`, from which definitions and messages are
    /// named; `None` if they are named after the whole group.
    fn package<'g>(&self, at: &'g GroupVersion) -> Option<&'g str> {
        at.group.split('.').next().filter(|group| !group.is_empty()).or(Some("core"))
    }

    /// True if objects in a namespace can be created only while it exists and does not end.
    fn needs_namespace(&self) -> bool {
        true
    }

    /// True if objects of the kind contain other objects, like namespaces.
    fn contains_objects(&self) -> bool {
        false
    }

    /// True if no objects may be created in one with this value of a selectable field.
    fn is_closed_by(&self, _field: &[String], _value: &str) -> bool {
        false
    }

    /// The path of finalizers in addition to those of metadata: deletion waits for them, and they are removed through
    /// the finalize subresource.
    fn finalizers(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// The reason why the object with a name must not be deleted, if there is one.
    fn refuses_deletion(&self, _name: &str) -> Option<&'static str> {
        None
    }

    /// True if collections can be deleted.
    fn deletes_collections(&self) -> bool {
        true
    }
}

/// The policy of kinds compiled into Kubernetes.
#[derive(Clone, Copy, Debug)]
pub struct Compiled;

impl Policy for Compiled {}

/// The policy of kinds that are compiled into Kubernetes and described here by its documents. Their columns are declared
/// with the types that Kubernetes prints.
#[derive(Clone, Copy, Debug)]
pub struct Described;

impl Policy for Described {
    /// Documents do not say which fields are pointers in Go.
    fn omits_zeros(&self) -> bool {
        false
    }

    fn prints_tables(&self) -> bool {
        false
    }
}

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

    fn omits_zeros(&self) -> bool {
        false
    }

    /// Only if the schema has merge rules: kube-apiserver supports none for custom resources, whose schemas cannot have
    /// them.
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
