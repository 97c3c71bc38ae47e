//! The types of `meta` that a kind may contain. `meta` is a lower layer and cannot declare them itself.
use std::collections::BTreeMap;

use super::{ApiType, FieldDecl, ListDecl, MergeDecl, Rules, Shape, TypeDecl, std_types::scalars};
use crate::{
    meta::{
        ByteString, Condition, FieldSelectorRequirement, IntOrString, LabelSelector, LabelSelectorRequirement,
        LocalObjectReference, MicroTime, ObjectMeta, ObjectReference, OwnerReference, Quantity, RawJson, Time,
        object::ManagedFieldsEntry,
    },
    schema::{Scalar, model::Type},
};

scalars! {
    Time: String, "date-time", Some(Scalar::Time);
    MicroTime: String, "date-time", Some(Scalar::MicroTime);
    Quantity: String, "quantity", Some(Scalar::Quantity);
    ByteString: String, "byte", Some(Scalar::Bytes);
    IntOrString: IntOrString, "", Some(Scalar::IntOrString);
}

#[diagnostic::do_not_recommend]
impl ApiType for RawJson {
    type Inner = Self;
    const DECLARATION: &'static TypeDecl = &TypeDecl::unnamed(Shape::Any);
    const NESTING: usize = 1;
}

/// A list of scalars with set semantics.
const MERGED_SET: Rules =
    Rules { list: ListDecl::Set, merge: MergeDecl { merge: true, retain_keys: false, key: None }, ..Rules::NONE };
/// A list of objects that is merged by their uid.
const MERGED_BY_UID: Rules = Rules {
    list: ListDecl::Map(&["uid"]),
    merge: MergeDecl { merge: true, retain_keys: false, key: Some("uid") },
    ..Rules::NONE
};

/// A time that Go holds without a pointer: it is written in messages even if it is not set.
const ALWAYS_WRITTEN: Rules = Rules { proto_zero: true, ..Rules::NONE };

/// The rules of metav1.Condition, which are stricter than its Rust type: an incomplete condition is invalid.
const CONDITION_TYPE: Rules = Rules {
    max_length: Some(316),
    pattern: r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
    ..Rules::NONE
};
const CONDITION_STATUS: Rules = Rules { enumeration: &["True", "False", "Unknown"], ..Rules::NONE };
const CONDITION_REASON: Rules = Rules {
    min_length: Some(1),
    max_length: Some(1024),
    pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
    ..Rules::NONE
};
const CONDITION_MESSAGE: Rules = Rules { max_length: Some(32_768), ..Rules::NONE };
const NOT_NEGATIVE: Rules = Rules { minimum: Some(0.0), ..Rules::NONE };

/// The structs of `meta` that are replaced as a whole in every kind.
pub(super) fn is_replaced_whole(ty: &TypeDecl) -> bool {
    let names = ["LabelSelector", "LocalObjectReference", "ObjectReference", "OwnerReference"];
    ty.module == "kindsmith::meta" && names.contains(&ty.name)
}

/// The structs of `meta` whose required texts are empty in Go where they are absent.
pub(super) fn has_empty_texts(ty: &TypeDecl) -> bool {
    let names = ["FieldSelectorRequirement", "LabelSelectorRequirement", "OwnerReference"];
    ty.module == "kindsmith::meta" && names.contains(&ty.name)
}

/// Declares structs: the fields' Rust names, wire names, Protobuf numbers, presence, types, descriptions and further rules.
macro_rules! structs {
    ($($ty:ident $about:literal { $($rust:ident $wire:literal $proto:literal $presence:ident $field:ty, $doc:literal $(, $rules:ident)?;)* })*) => { $(
        #[diagnostic::do_not_recommend]
        impl ApiType for $ty {
            type Inner = Self;
            const DECLARATION: &'static TypeDecl = &TypeDecl {
                name: stringify!($ty),
                module: "kindsmith::meta",
                doc: $about,
                shape: Shape::Struct(&[$(FieldDecl {
                    rust: stringify!($rust),
                    wire: $wire,
                    doc: $doc,
                    ty: <$field as ApiType>::declaration,
                    defaulted: structs!($presence),
                    rules: const { &Rules { proto: $proto, ..structs!(rules $($rules)?) } },
                }),*]),
                proto_zeros: true,
                keywords: &[],
                published: false,
            };
            const NESTING: usize = {
                let deepest = 0;
                $(let deepest = super::deeper(deepest, <$field as ApiType>::NESTING);)*
                deepest + 1
            };
        }
    )* };
    (optional) => { true };
    (required) => { false };
    (rules) => { Rules::NONE };
    (rules $rules:ident) => { $rules };
}

structs! {
    ObjectMeta "Metadata that every object has." {
        name "name" 1 optional String, "The object's name, unique in its namespace.";
        generate_name "generateName" 2 optional String, "A prefix from which the server makes the name where none is given.";
        namespace "namespace" 3 optional String, "The namespace; empty for kinds of the cluster.";
        uid "uid" 5 optional String, "The object's identity over all time; set by the server.";
        resource_version "resourceVersion" 6 optional String, "The revision that wrote this state; opaque to clients.";
        generation "generation" 7 optional i64, "Counts changes of the desired state; set by the server.";
        creation_timestamp "creationTimestamp" 8 optional Option<Time>, "When the object was created; set by the server.", ALWAYS_WRITTEN;
        deletion_timestamp "deletionTimestamp" 9 optional Option<Time>, "When deletion was asked for; set by the server.";
        deletion_grace_period_seconds "deletionGracePeriodSeconds" 10 optional Option<i64>, "Seconds that the object was given to end; set by the server.";
        labels "labels" 11 optional BTreeMap<String, String>, "Labels, by which objects are selected.";
        annotations "annotations" 12 optional BTreeMap<String, String>, "Annotations, which tools keep with the object.";
        owner_references "ownerReferences" 13 optional Vec<OwnerReference>, "The objects that this one depends on.", MERGED_BY_UID;
        finalizers "finalizers" 14 optional Vec<String>, "What must be done before the object may go.", MERGED_SET;
        managed_fields "managedFields" 17 optional Vec<ManagedFieldsEntry>, "Which manager owns which field; kept by the server.";
    }

    OwnerReference "One owner of an object; when its owners are gone, so is the object." {
        kind "kind" 1 required String, "The owner's kind.";
        name "name" 3 required String, "The owner's name.";
        uid "uid" 4 required String, "The owner's uid.";
        api_version "apiVersion" 5 required String, "The owner's group and version.";
        controller "controller" 6 optional Option<bool>, "The owner manages this object; at most one does.";
        block_owner_deletion "blockOwnerDeletion" 7 optional Option<bool>, "A foreground deletion of the owner waits for this object.";
    }

    ManagedFieldsEntry "What one manager owns of an object." {
        manager "manager" 1 optional String, "The manager.";
        operation "operation" 2 optional String, "`Apply` or `Update`.";
        api_version "apiVersion" 3 optional String, "The version in whose terms the fields are named.";
        time "time" 4 optional Option<Time>, "When the manager last changed its fields.";
        fields_type "fieldsType" 6 optional String, "The form of `fieldsV1`; `FieldsV1` is the only one.";
        fields_v1 "fieldsV1" 7 optional Option<RawJson>, "The set of fields, as it stands.";
        subresource "subresource" 8 optional String, "The subresource through which the fields were written.";
    }

    ObjectReference "A reference to an object, or to a part of one." {
        kind "kind" 1 optional String, "The kind.";
        namespace "namespace" 2 optional String, "The namespace.";
        name "name" 3 optional String, "The name.";
        uid "uid" 4 optional String, "The uid.";
        api_version "apiVersion" 5 optional String, "The group and version.";
        resource_version "resourceVersion" 6 optional String, "The resourceVersion that was seen.";
        field_path "fieldPath" 7 optional String, "The part of the object, such as `spec.containers{name}`.";
    }

    LocalObjectReference "A reference to an object of a known kind in the same namespace." {
        name "name" 1 optional String, "The name.";
    }

    LabelSelector "A label selector: all of `matchLabels` and `matchExpressions` must hold." {
        match_labels "matchLabels" 1 optional BTreeMap<String, String>, "Labels with exactly these values.";
        match_expressions "matchExpressions" 2 optional Vec<LabelSelectorRequirement>, "Further requirements.";
    }

    LabelSelectorRequirement "One requirement of a label selector." {
        key "key" 1 required String, "The label's key.";
        operator "operator" 2 required String, "`In`, `NotIn`, `Exists` or `DoesNotExist`.";
        values "values" 3 optional Vec<String>, "The values, for `In` and `NotIn`.";
    }

    FieldSelectorRequirement "A requirement on the value of a field." {
        key "key" 1 required String, "The path of the field.";
        operator "operator" 2 required String, "`In`, `NotIn`, `Exists` or `DoesNotExist`.";
        values "values" 3 optional Vec<String>, "The values, for `In` and `NotIn`.";
    }

    Condition "One aspect of an object's state." {
        kind "type" 1 required String, "Which aspect, CamelCase; unique in the list.", CONDITION_TYPE;
        status "status" 2 required String, "`True`, `False` or `Unknown`.", CONDITION_STATUS;
        observed_generation "observedGeneration" 3 optional Option<i64>, "The generation that the condition was seen at.", NOT_NEGATIVE;
        last_transition_time "lastTransitionTime" 4 required Time, "When `status` last changed.";
        reason "reason" 5 required String, "Why, for machines, CamelCase.", CONDITION_REASON;
        message "message" 6 required String, "Why, for people; may be empty.", CONDITION_MESSAGE;
    }
}
