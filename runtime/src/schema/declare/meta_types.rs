//! The types of `meta` that a kind may hold. `meta` lies below this layer and declares nothing itself.
use super::{ApiType, FieldDecl, Rules, Shape, TypeDecl};
use crate::{
    meta::{ObjectMeta, OwnerReference},
    schema::model::Type,
};

const TIME: &TypeDecl = &TypeDecl::unnamed(Shape::Scalar(Type::String, "date-time"));
fn time() -> &'static TypeDecl {
    TIME
}

/// A field that may be absent.
const fn optional(rust: &'static str, wire: &'static str, ty: super::TypeRef) -> FieldDecl {
    FieldDecl { rust, wire, doc: "", ty, defaulted: true, rules: &Rules::NONE }
}

/// A field that must be there.
const fn required(rust: &'static str, wire: &'static str, ty: super::TypeRef) -> FieldDecl {
    FieldDecl { rust, wire, doc: "", ty, defaulted: false, rules: &Rules::NONE }
}

impl ApiType for OwnerReference {
    type Inner = Self;
    const DECLARATION: &'static TypeDecl = &TypeDecl {
        name: "OwnerReference",
        module: "kindsmith::meta",
        doc: "One owner of an object.",
        shape: Shape::Struct(&[
            required("api_version", "apiVersion", String::declaration),
            optional("block_owner_deletion", "blockOwnerDeletion", bool::declaration),
            optional("controller", "controller", bool::declaration),
            required("kind", "kind", String::declaration),
            required("name", "name", String::declaration),
            required("uid", "uid", String::declaration),
        ]),
    };
}

impl ApiType for ObjectMeta {
    type Inner = Self;
    const DECLARATION: &'static TypeDecl = &TypeDecl {
        name: "ObjectMeta",
        module: "kindsmith::meta",
        doc: "Metadata that every object has.",
        shape: Shape::Struct(&[
            optional("annotations", "annotations", <std::collections::BTreeMap<String, String>>::declaration),
            optional("creation_timestamp", "creationTimestamp", time),
            optional("deletion_grace_period_seconds", "deletionGracePeriodSeconds", i64::declaration),
            optional("deletion_timestamp", "deletionTimestamp", time),
            optional("finalizers", "finalizers", Vec::<String>::declaration),
            optional("generate_name", "generateName", String::declaration),
            optional("generation", "generation", i64::declaration),
            optional("labels", "labels", <std::collections::BTreeMap<String, String>>::declaration),
            optional("name", "name", String::declaration),
            optional("namespace", "namespace", String::declaration),
            optional("owner_references", "ownerReferences", Vec::<OwnerReference>::declaration),
            optional("resource_version", "resourceVersion", String::declaration),
            optional("uid", "uid", String::declaration),
        ]),
    };
}
