//! The files to which all packages refer: those of the API machinery, and the types of `meta` with messages there.
use std::sync::LazyLock;

use kindsmith_proto::names_same;

use super::{File, render::scalar};
use crate::{
    meta::{
        Condition, FieldSelectorRequirement, LabelSelector, LabelSelectorRequirement, LocalObjectReference,
        ManagedFieldsEntry, ObjectMeta, ObjectReference, OwnerReference,
    },
    schema::{ApiType, At, Schema, declare::TypeDecl},
};

/// A predefined package and its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Home {
    pub name: &'static str,
    pub path: &'static str,
}

/// Metadata, times, answers, options.
pub(super) const META: Home =
    Home { name: "k8s.io.apimachinery.pkg.apis.meta.v1", path: "k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto" };
/// References to objects.
const CORE: Home = Home { name: "k8s.io.api.core.v1", path: "k8s.io/api/core/v1/generated.proto" };
/// Quantities.
pub(super) const RESOURCE: Home =
    Home { name: "k8s.io.apimachinery.pkg.api.resource", path: "k8s.io/apimachinery/pkg/api/resource/generated.proto" };
/// The envelope, and raw JSON.
pub(super) const RUNTIME: Home =
    Home { name: "k8s.io.apimachinery.pkg.runtime", path: "k8s.io/apimachinery/pkg/runtime/generated.proto" };
/// Numbers or text.
pub(super) const INTSTR: Home =
    Home { name: "k8s.io.apimachinery.pkg.util.intstr", path: "k8s.io/apimachinery/pkg/util/intstr/generated.proto" };

/// The files that do not depend on kinds.
pub(super) fn files() -> impl Iterator<Item = File> {
    let fixed = [
        (META, include_str!("meta_v1.proto")),
        (RESOURCE, include_str!("resource.proto")),
        (RUNTIME, include_str!("runtime.proto")),
        (INTSTR, include_str!("intstr.proto")),
    ];
    fixed.into_iter().map(|(home, text)| File { path: home.path.to_owned(), text: text.to_owned() })
}

/// Types of `meta`, and the packages of their messages.
static TYPES: LazyLock<Vec<(Home, Schema)>> = LazyLock::new(|| {
    let types: [(Home, &'static TypeDecl); 9] = [
        (META, ObjectMeta::DECLARATION),
        (META, OwnerReference::DECLARATION),
        (META, ManagedFieldsEntry::DECLARATION),
        (META, LabelSelector::DECLARATION),
        (META, LabelSelectorRequirement::DECLARATION),
        (META, FieldSelectorRequirement::DECLARATION),
        (META, Condition::DECLARATION),
        (CORE, ObjectReference::DECLARATION),
        (CORE, LocalObjectReference::DECLARATION),
    ];
    types.map(|(home, ty)| (home, ty.schema(true, true).expect("the types of meta are part of this crate"))).into()
});

/// The messages of `core/v1` that other packages refer to.
pub(super) fn core() -> impl Iterator<Item = &'static Schema> {
    TYPES.iter().filter(|(home, _)| *home == CORE).map(|(_, schema)| schema)
}

/// Types of `meta` that manifests and documents describe in their place, without a name.
const UNNAMED: [&str; 3] = ["Condition", "LabelSelector", "ObjectReference"];

/// The package of the message of a type of `meta`. A user's type with the same name and fields is the same message, and so is a
/// struct without name and numbers that has the fields of one that is often described in place.
pub(super) fn place_of(at: At<'_>) -> Option<(Home, &'static str)> {
    let is_same = |known: At<'_>| {
        let mut pairs = known.properties().zip(at.properties());
        let is_unnamed = at.name.is_none() && known.name.as_deref().is_some_and(|name| UNNAMED.contains(&name));
        let is_same_field = |known: At<'_>, field: At<'_>| {
            known.protobuf == field.protobuf
                || is_unnamed && field.protobuf.is_none() && scalar(known) == scalar(field) && known.kind == field.kind
        };
        (known.name == at.name || is_unnamed)
            && known.properties().len() == at.properties().len()
            && pairs.all(|((one, known), (other, field))| one == other && is_same_field(known, field))
    };
    let (home, known) = TYPES.iter().find(|(_, known)| is_same(At::of(known)))?;
    Some((*home, known.name.as_deref()?))
}

/// The schema of a type of `meta` by the full name of its message.
pub(crate) fn type_of(message: &str) -> Option<&'static Schema> {
    let is_it = |(home, schema): &&(Home, Schema)| {
        let name = schema.name.as_deref().unwrap_or_default();
        names_same(&format!("{}.{name}", home.name), message) && message.len() > name.len()
    };
    TYPES.iter().find(is_it).map(|(_, schema)| schema)
}
