//! The types of `meta` that a kind may contain. `meta` is a lower layer and cannot declare them itself.
use std::collections::BTreeMap;

use super::{ApiType, FieldDecl, ListDecl, MergeDecl, Rules, Shape, TypeDecl, std_types::scalars};
use crate::{
    meta::{
        ByteString, Condition, FieldSelectorRequirement, FieldsV1, IntOrString, LabelSelector,
        LabelSelectorRequirement, LocalObjectReference, MicroTime, ObjectMeta, ObjectReference, OwnerReference,
        Quantity, RawJson, Time, object::ManagedFieldsEntry,
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

/// Types of any JSON.
macro_rules! any_json {
    ($($ty:ident)*) => { $(
        #[diagnostic::do_not_recommend]
        impl ApiType for $ty {
            type Inner = Self;
            const DECLARATION: &'static TypeDecl = &TypeDecl::unnamed(Shape::Any);
            const NESTING: usize = 1;
        }
    )* };
}

any_json! { RawJson FieldsV1 }

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
        name "name" 1 optional String, "Name of the object. Unique within a namespace, or within the cluster for cluster-scoped kinds. Required on creation unless `generateName` is set. It cannot be changed. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
        generate_name "generateName" 2 optional String, "Prefix from which the server generates a name if `name` is empty, usually by adding random characters.";
        namespace "namespace" 3 optional String, "Namespace of the object. Empty for cluster-scoped objects. It cannot be changed. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces";
        uid "uid" 5 optional String, "Unique identifier of the object over time and space. An object that is created again under the same name has another one. Set by the server. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#uids";
        resource_version "resourceVersion" 6 optional String, "Version of the stored state of the object. Clients send it back unchanged to detect changes by others, and watch from it. Opaque. Set by the server.";
        generation "generation" 7 optional i64, "Sequence number of the desired state, which increases with each change of it. Set by the server.";
        creation_timestamp "creationTimestamp" 8 optional Option<Time>, "Time at which the object was created. Set by the server.", ALWAYS_WRITTEN;
        deletion_timestamp "deletionTimestamp" 9 optional Option<Time>, "Time after which the object is removed, once its list of finalizers is empty. Set by the server when the deletion is requested; it cannot be unset.";
        deletion_grace_period_seconds "deletionGracePeriodSeconds" 10 optional Option<i64>, "Number of seconds that the object has to terminate after its deletion was requested. It can only be shortened. Set by the server.";
        labels "labels" 11 optional BTreeMap<String, String>, "Labels: keys and values by which objects are organized and selected. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels";
        annotations "annotations" 12 optional BTreeMap<String, String>, "Annotations: keys and values that tools and users store with the object. They cannot be used in selectors. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations";
        owner_references "ownerReferences" 13 optional Vec<OwnerReference>, "Owners of the object. It is deleted after all of them are gone.", MERGED_BY_UID;
        finalizers "finalizers" 14 optional Vec<String>, "Names of the tasks that must finish before the object is removed. Whoever is responsible for a task removes its name. Once the deletion was requested, names can only be removed.", MERGED_SET;
        managed_fields "managedFields" 17 optional Vec<ManagedFieldsEntry>, "Which field manager owns which fields. Maintained by the server.";
    }

    OwnerReference "A reference to an owner of the object, which is in the same namespace or cluster-scoped. An object is deleted after all its owners are gone." {
        kind "kind" 1 required String, "Kind of the owner.";
        name "name" 3 required String, "Name of the owner.";
        uid "uid" 4 required String, "UID of the owner.";
        api_version "apiVersion" 5 required String, "Group and version of the owner.";
        controller "controller" 6 optional Option<bool>, "True if the owner is the controller that manages this object. At most one owner is.";
        block_owner_deletion "blockOwnerDeletion" 7 optional Option<bool>, "If true, a foreground deletion of the owner waits until this object is gone. False by default.";
    }

    ManagedFieldsEntry "The fields of an object that one field manager owns." {
        manager "manager" 1 optional String, "Name of the field manager, usually that of a tool or a controller.";
        operation "operation" 2 optional String, "Operation by which the manager owns the fields: `Apply` for server-side apply, `Update` for all other writes.";
        api_version "apiVersion" 3 optional String, "Group and version of the object that the set of fields refers to.";
        time "time" 4 optional Option<Time>, "Time at which the manager last changed its fields.";
        fields_type "fieldsType" 6 optional String, "Format of the set of fields. The only value is `FieldsV1`.";
        fields_v1 "fieldsV1" 7 optional Option<FieldsV1>, "The set of fields.";
        subresource "subresource" 8 optional String, "Subresource through which the fields were written, such as `status`. Empty for writes of the object itself.";
    }

    ObjectReference "A reference to an object, or to a part of one." {
        kind "kind" 1 optional String, "Kind of the object.";
        namespace "namespace" 2 optional String, "Namespace of the object.";
        name "name" 3 optional String, "Name of the object.";
        uid "uid" 4 optional String, "UID of the object.";
        api_version "apiVersion" 5 optional String, "Group and version of the object.";
        resource_version "resourceVersion" 6 optional String, "Version of the state of the object that is meant.";
        field_path "fieldPath" 7 optional String, "Path of the part of the object that is meant, such as `spec.containers{name}`. Empty for the whole object.";
    }

    LocalObjectReference "A reference to an object of a known kind in the same namespace." {
        name "name" 1 optional String, "Name of the object.";
    }

    LabelSelector "A label selector. Objects must meet all requirements of `matchLabels` and `matchExpressions`; an empty selector selects all objects." {
        match_labels "matchLabels" 1 optional BTreeMap<String, String>, "Labels that objects must have, with exactly these values.";
        match_expressions "matchExpressions" 2 optional Vec<LabelSelectorRequirement>, "Further requirements on labels.";
    }

    LabelSelectorRequirement "A requirement on a label." {
        key "key" 1 required String, "Key of the label.";
        operator "operator" 2 required String, "Operator: `In`, `NotIn`, `Exists` or `DoesNotExist`.";
        values "values" 3 optional Vec<String>, "Values for `In` and `NotIn`; empty for the other operators.";
    }

    FieldSelectorRequirement "A requirement on the value of a field." {
        key "key" 1 required String, "Path of the field.";
        operator "operator" 2 required String, "Operator: `In`, `NotIn`, `Exists` or `DoesNotExist`.";
        values "values" 3 optional Vec<String>, "Values for `In` and `NotIn`; empty for the other operators.";
    }

    Condition "An aspect of the state of an object." {
        kind "type" 1 required String, "Name of the aspect in CamelCase, such as `Ready`. Unique in the list.", CONDITION_TYPE;
        status "status" 2 required String, "State of the aspect: `True`, `False` or `Unknown`.", CONDITION_STATUS;
        observed_generation "observedGeneration" 3 optional Option<i64>, "Generation of the object for which the condition was determined.", NOT_NEGATIVE;
        last_transition_time "lastTransitionTime" 4 required Time, "Time at which `status` last changed.";
        reason "reason" 5 required String, "Reason of the last change for programs, in CamelCase.", CONDITION_REASON;
        message "message" 6 required String, "Description of the last change for people. It may be empty.", CONDITION_MESSAGE;
    }
}
