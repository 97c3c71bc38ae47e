//! Messages without a kind: the API's answers other than objects, and the options of deletions. Their fields are those
//! of kube-apiserver's `meta/v1`, `autoscaling/v1` and so on.
use std::sync::LazyLock;

use super::layout::{Field, METADATA_NUMBER, Message, RETIRED, Value, WRAPPED};
use crate::schema::{METADATA, Schema, model::Type};

/// Fields by name.
type Fields<const N: usize> = [(&'static str, Schema); N];

fn field(number: u32, kind: Type) -> Schema {
    Schema { kind, protobuf: Some(number), ..Schema::default() }
}

/// A field that is written even if it is empty.
fn always(schema: Schema) -> Schema {
    Schema { zero_is_absent: true, ..schema }
}

fn text(number: u32) -> Schema {
    always(field(number, Type::String))
}

fn integer(number: u32) -> Schema {
    always(Schema { format: Some("int32".to_owned()), ..field(number, Type::Integer) })
}

fn optional_long(number: u32) -> Schema {
    Schema { format: Some("int64".to_owned()), ..field(number, Type::Integer) }
}

fn structure<const N: usize>(name: &str, fields: Fields<N>) -> Schema {
    let properties = fields.map(|(name, schema)| (name.to_owned(), schema)).into();
    Schema { kind: Type::Object, name: Some(name.to_owned()), properties, ..Schema::default() }
}

fn nested(number: u32, schema: Schema) -> Schema {
    Schema { protobuf: Some(number), ..schema }
}

fn list(number: u32, items: Schema) -> Schema {
    Schema { items: Some(items.into()), ..field(number, Type::Array) }
}

/// A list that documents have even if it is empty.
fn required<const N: usize>(schema: Schema, names: [&str; N]) -> Schema {
    Schema { required: names.map(str::to_owned).into(), ..schema }
}

fn texts(number: u32) -> Schema {
    list(number, Schema { kind: Type::String, ..Schema::default() })
}

fn retired(number: u32) -> Schema {
    Schema { format: Some(RETIRED.to_owned()), ..text(number) }
}

fn message(schema: &Schema) -> Message {
    Message::of(schema).expect("the fields of messages that are declared here are numbered")
}

fn object_meta() -> Schema {
    let mut schema = METADATA.clone();
    schema.properties.insert("selfLink".to_owned(), retired(4));
    schema
}

fn list_meta() -> Schema {
    structure(
        "ListMeta",
        [
            ("selfLink", retired(1)),
            ("resourceVersion", text(2)),
            ("continue", text(3)),
            ("remainingItemCount", optional_long(4)),
        ],
    )
}

fn status() -> Schema {
    let cause = structure("StatusCause", [("reason", text(1)), ("message", text(2)), ("field", text(3))]);
    let details = structure(
        "StatusDetails",
        [
            ("name", text(1)),
            ("group", text(2)),
            ("kind", text(3)),
            ("causes", list(4, cause)),
            ("retryAfterSeconds", integer(5)),
            ("uid", text(6)),
        ],
    );
    let status = structure(
        "Status",
        [
            ("metadata", always(nested(1, list_meta()))),
            ("status", text(2)),
            ("message", text(3)),
            ("reason", text(4)),
            ("details", nested(5, details)),
            ("code", integer(6)),
        ],
    );
    required(status, ["metadata"])
}

fn scale() -> Schema {
    let spec = structure("ScaleSpec", [("replicas", integer(1))]);
    let status = required(structure("ScaleStatus", [("replicas", integer(1)), ("selector", text(2))]), ["replicas"]);
    let scale = structure("Scale", [("spec", always(nested(2, spec))), ("status", always(nested(3, status)))]);
    required(scale, ["spec", "status"])
}

fn api_resource_list() -> Schema {
    let verbs = Schema { format: Some(WRAPPED.to_owned()), ..texts(4) };
    let resource = structure(
        "APIResource",
        [
            ("name", text(1)),
            ("namespaced", always(field(2, Type::Boolean))),
            ("kind", text(3)),
            ("verbs", verbs),
            ("shortNames", texts(5)),
            ("singularName", text(6)),
            ("categories", texts(7)),
            ("group", text(8)),
            ("version", text(9)),
            ("storageVersionHash", text(10)),
        ],
    );
    let resource = required(resource, ["name", "namespaced", "kind", "verbs", "singularName"]);
    let resources = structure("APIResourceList", [("groupVersion", text(1)), ("resources", list(2, resource))]);
    required(resources, ["groupVersion", "resources"])
}

fn server_addresses(number: u32) -> Schema {
    let fields = [("clientCIDR", text(1)), ("serverAddress", text(2))];
    list(number, required(structure("ServerAddressByClientCIDR", fields), ["clientCIDR", "serverAddress"]))
}

fn api_group() -> Schema {
    let version = || {
        let fields = [("groupVersion", text(1)), ("version", text(2))];
        required(structure("GroupVersionForDiscovery", fields), ["groupVersion", "version"])
    };
    let group = structure(
        "APIGroup",
        [
            ("name", text(1)),
            ("versions", list(2, version())),
            ("preferredVersion", always(nested(3, version()))),
            ("serverAddressByClientCIDRs", server_addresses(4)),
        ],
    );
    required(group, ["name", "versions"])
}

fn api_group_list() -> Schema {
    required(structure("APIGroupList", [("groups", list(1, api_group()))]), ["groups"])
}

fn api_versions() -> Schema {
    let fields = [("versions", texts(1)), ("serverAddressByClientCIDRs", server_addresses(2))];
    required(structure("APIVersions", fields), ["versions", "serverAddressByClientCIDRs"])
}

fn delete_options() -> Schema {
    let optional = |number| field(number, Type::String);
    let preconditions = structure("Preconditions", [("uid", optional(1)), ("resourceVersion", optional(2))]);
    structure(
        "DeleteOptions",
        [
            ("gracePeriodSeconds", optional_long(1)),
            ("preconditions", nested(2, preconditions)),
            ("orphanDependents", field(3, Type::Boolean)),
            ("propagationPolicy", optional(4)),
            ("dryRun", texts(5)),
            ("ignoreStoreReadErrorWithClusterBreakingPotential", field(6, Type::Boolean)),
        ],
    )
}

/// `metadata` of an object, as a field of it.
pub(super) fn metadata() -> Field {
    Field {
        number: METADATA_NUMBER,
        name: "metadata".to_owned(),
        value: Value::Message(std::sync::Arc::new(message(&object_meta()))),
        zero_is_absent: true,
        required: true,
    }
}

/// `metadata` of a list.
pub static LIST_META: LazyLock<Message> = LazyLock::new(|| message(&list_meta()));
/// `Status`.
pub static STATUS: LazyLock<Message> = LazyLock::new(|| message(&status()));
/// `DeleteOptions`.
pub static DELETE_OPTIONS: LazyLock<Message> = LazyLock::new(|| message(&delete_options()));
/// `PartialObjectMetadata`: only the metadata of an object.
pub static PARTIAL_OBJECT_METADATA: LazyLock<Message> = LazyLock::new(|| Message::flat(vec![metadata()]));
/// `Scale` of `autoscaling/v1`.
pub static SCALE: LazyLock<Message> =
    LazyLock::new(|| Message::of_object(&scale()).expect("the fields of Scale are numbered"));
/// `APIResourceList`.
pub static API_RESOURCE_LIST: LazyLock<Message> = LazyLock::new(|| message(&api_resource_list()));
/// `APIGroup`.
pub static API_GROUP: LazyLock<Message> = LazyLock::new(|| message(&api_group()));
/// `APIGroupList`.
pub static API_GROUP_LIST: LazyLock<Message> = LazyLock::new(|| message(&api_group_list()));
/// `APIVersions`.
pub static API_VERSIONS: LazyLock<Message> = LazyLock::new(|| message(&api_versions()));
