//! The kind itself, as `apiextensions.k8s.io/v1` declares it.
use std::{mem, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    ApiType, RawJson, Resource, crd,
    kind::{Kind, Policy},
    meta::{FieldError, FieldPath, ObjectMeta, Time},
    schema::{Document, Schema},
};

/// How definitions differ from other kinds compiled into Kubernetes.
#[derive(Clone, Copy, Debug)]
struct Definitions;

impl Policy for Definitions {
    fn metadata_errors(&self, _metadata: &Document, _path: &FieldPath) -> Vec<FieldError> {
        Vec::new()
    }

    fn prints_tables(&self) -> bool {
        false
    }

    fn shows_ages(&self) -> bool {
        false
    }
}

/// CustomResourceDefinition represents a resource that should be exposed on the API server. Its name MUST be in the format
/// <.spec.name>.<.spec.group>.
#[derive(Resource, Clone, Debug)]
#[resource(group = "apiextensions.k8s.io", version = "v1", cluster, status, builtin, names = path_segment)]
#[resource(shortname = "crd", shortname = "crds", category = "api-extensions", policy = Definitions)]
#[resource(column("Created At", path = metadata.creation_timestamp, description = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"))]
pub struct CustomResourceDefinition {
    /// Standard object's metadata.
    #[serde(default)]
    pub metadata: ObjectMeta,
    /// Describes how the user wants the resources to appear.
    pub spec: CustomResourceDefinitionSpec,
    /// Indicates the actual state of the CustomResourceDefinition.
    pub status: Option<CustomResourceDefinitionStatus>,
}

/// CustomResourceDefinitionSpec describes how a user wants their resource to appear.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomResourceDefinitionSpec {
    /// The API group of the defined custom resource. The custom resources are served under `/apis/<group>/...`.
    pub group: String,
    /// The resource and kind names for the custom resource.
    pub names: CustomResourceDefinitionNames,
    /// Whether the defined custom resource is cluster- or namespace-scoped: `Cluster` or `Namespaced`.
    pub scope: String,
    /// All API versions of the defined custom resource.
    pub versions: Vec<CustomResourceDefinitionVersion>,
    /// Conversion settings for the custom resource.
    pub conversion: Option<CustomResourceConversion>,
    /// Must be false: set x-kubernetes-preserve-unknown-fields in the schema instead.
    #[serde(default)]
    pub preserve_unknown_fields: bool,
}

/// CustomResourceDefinitionNames indicates the names to serve this CustomResourceDefinition.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomResourceDefinitionNames {
    /// The plural name of the resource, all lowercase.
    pub plural: String,
    /// The singular name of the resource, all lowercase. Defaults to lowercased `kind`.
    #[serde(default)]
    pub singular: String,
    /// Short names for the resource, exposed in API discovery documents.
    #[serde(default)]
    pub short_names: Vec<String>,
    /// The serialized kind of the resource. It is normally CamelCase and singular.
    pub kind: String,
    /// The serialized kind of the list for this resource. Defaults to `<kind>List`.
    #[serde(default)]
    pub list_kind: String,
    /// Grouped resources this custom resource belongs to, such as `all`.
    #[serde(default)]
    pub categories: Vec<String>,
}

/// CustomResourceDefinitionVersion describes a version for CRD.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomResourceDefinitionVersion {
    /// The version name, such as `v1` or `v2beta1`.
    pub name: String,
    /// Whether this version is served.
    pub served: bool,
    /// Whether this version is used when objects are stored. Exactly one version must be.
    pub storage: bool,
    /// Whether this version is deprecated: responses to requests then carry a warning.
    #[serde(default)]
    pub deprecated: bool,
    /// Overrides the default warning of a deprecated version.
    pub deprecation_warning: Option<String>,
    /// The schema used for validation, pruning and defaulting of this version.
    pub schema: Option<CustomResourceValidation>,
    /// The subresources of this version.
    pub subresources: Option<CustomResourceSubresources>,
    /// Additional columns returned in Table output.
    #[serde(default)]
    pub additional_printer_columns: Vec<CustomResourceColumnDefinition>,
    /// Paths to fields that may be used as field selectors.
    #[serde(default)]
    pub selectable_fields: Vec<SelectableField>,
}

/// CustomResourceValidation is a list of validation methods for CustomResources.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct CustomResourceValidation {
    /// The OpenAPI v3 schema to use for validation and pruning.
    #[serde(rename = "openAPIV3Schema")]
    pub open_api_v3_schema: Option<RawJson>,
}

/// CustomResourceSubresources defines the status and scale subresources for CustomResources.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct CustomResourceSubresources {
    /// The custom resource has a `/status` subresource.
    pub status: Option<CustomResourceSubresourceStatus>,
    /// The custom resource has a `/scale` subresource that returns an `autoscaling/v1` Scale object.
    pub scale: Option<CustomResourceSubresourceScale>,
}

/// CustomResourceSubresourceStatus defines how to serve the status subresource for CustomResources.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct CustomResourceSubresourceStatus {}

/// CustomResourceSubresourceScale defines how to serve the scale subresource for CustomResources.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomResourceSubresourceScale {
    /// The path inside of a custom resource that corresponds to Scale `spec.replicas`.
    pub spec_replicas_path: String,
    /// The path inside of a custom resource that corresponds to Scale `status.replicas`.
    pub status_replicas_path: String,
    /// The path inside of a custom resource that corresponds to Scale `status.selector`.
    pub label_selector_path: Option<String>,
}

/// CustomResourceColumnDefinition specifies a column for server side printing.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomResourceColumnDefinition {
    /// A human readable name for the column.
    pub name: String,
    /// An OpenAPI type definition for this column.
    #[serde(rename = "type")]
    pub kind: String,
    /// An optional OpenAPI type definition for this column, such as `int32`.
    #[serde(default)]
    pub format: String,
    /// A human readable description of this column.
    #[serde(default)]
    pub description: String,
    /// The relative importance of this column compared to others: those above 0 are shown in wide output only.
    #[serde(default)]
    pub priority: i32,
    /// A simple JSON path which is evaluated against each custom resource to produce the value for this column.
    pub json_path: String,
}

/// SelectableField specifies the JSON path of a field that may be used with field selectors.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SelectableField {
    /// A simple JSON path which is evaluated against each custom resource to produce a field selector value.
    pub json_path: String,
}

/// CustomResourceConversion describes how to convert different versions of a CR.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct CustomResourceConversion {
    /// How custom resources are converted between versions: `None` changes only the apiVersion; `Webhook` calls a webhook.
    pub strategy: String,
    /// How to call the conversion webhook.
    pub webhook: Option<WebhookConversion>,
}

/// WebhookConversion describes how to call a conversion webhook.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookConversion {
    /// The instructions for how to call the webhook if strategy is `Webhook`.
    pub client_config: Option<WebhookClientConfig>,
    /// The versions of `ConversionReview` that the webhook understands, in order of preference.
    pub conversion_review_versions: Vec<String>,
}

/// WebhookClientConfig contains the information to make a TLS connection with the webhook.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookClientConfig {
    /// The location of the webhook, in standard URL form (`scheme://host:port/path`).
    pub url: Option<String>,
    /// A reference to the service for this webhook.
    pub service: Option<ServiceReference>,
    /// A PEM encoded CA bundle which will be used to validate the webhook's server certificate.
    #[serde(default)]
    pub ca_bundle: String,
}

/// ServiceReference holds a reference to Service.legacy.k8s.io.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct ServiceReference {
    /// The namespace of the service.
    pub namespace: String,
    /// The name of the service.
    pub name: String,
    /// An optional URL path at which the webhook will be contacted.
    pub path: Option<String>,
    /// An optional service port at which the webhook will be contacted. Defaults to 443.
    pub port: Option<i32>,
}

/// CustomResourceDefinitionStatus indicates the state of the CustomResourceDefinition.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomResourceDefinitionStatus {
    /// The state of individual aspects of a CustomResourceDefinition.
    #[api(list = map(key = kind))]
    #[serde(default)]
    pub conditions: Vec<CustomResourceDefinitionCondition>,
    /// The names that are actually being used to serve discovery. They may be different than the names in spec.
    pub accepted_names: Option<CustomResourceDefinitionNames>,
    /// All versions of custom resources that were ever persisted.
    #[serde(default)]
    pub stored_versions: Vec<String>,
}

/// CustomResourceDefinitionCondition contains details for the current condition of this CustomResourceDefinition.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomResourceDefinitionCondition {
    /// The type of the condition, such as Established, NamesAccepted and Terminating.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status of the condition: True, False or Unknown.
    pub status: String,
    /// The last time the condition transitioned from one status to another.
    pub last_transition_time: Option<Time>,
    /// A unique, one-word, CamelCase reason for the condition's last transition.
    #[serde(default)]
    pub reason: String,
    /// A human-readable message indicating details about last transition.
    #[serde(default)]
    pub message: String,
}

/// The kind of definitions.
pub(crate) fn definition_kind() -> Kind {
    CustomResourceDefinition::kind().with(|_, version, binding| {
        let mut schema = Schema::clone(&version.schema);
        schema.required.clear();
        for names in [&["spec"][..], &["status", "acceptedNames"]] {
            if let Some(node) = node(&mut schema, names) {
                lenient(node);
            }
        }
        schema.definitions = Some(vec![crd::schema_of_schemas()].into());
        let at = ["spec", "versions", "[]", "schema", "openAPIV3Schema"];
        let root = Schema { definition: Some(0), ..Schema::default() };
        let described = node(&mut schema, &at).map(|node| mem::replace(node, root));
        if let (Some(described), Some(node)) = (described, node(&mut schema, &at)) {
            (node.description, node.omit_empty) = (described.description, true);
        }
        for always in [&["status", "conditions"][..], &["status", "storedVersions"]] {
            if let Some(list) = node(&mut schema, always) {
                (list.omit_empty, list.nullable) = (false, true);
            }
        }
        // The subresource is there where its object is, which has no fields.
        if let Some(status) = node(&mut schema, &["spec", "versions", "[]", "subresources", "status"]) {
            status.omit_empty = false;
        }
        version.schema = schema.into();
        version.generation = true;
        version.columns.retain(|column| column.name != "Age");
        binding.hooks = Arc::new(super::hooks::Hooks);
    })
}

/// The node at a path of fields and items (`[]`), to change it.
fn node<'s>(schema: &'s mut Schema, path: &[&str]) -> Option<&'s mut Schema> {
    let Some((first, rest)) = path.split_first() else { return Some(schema) };
    let below = match *first {
        "[]" => Arc::make_mut(schema.items.as_mut()?),
        name => schema.properties.get_mut(name)?,
    };
    node(below, rest)
}

/// Leaves what is required to the reader of definitions, which reports it in kube-apiserver's words.
fn lenient(schema: &mut Schema) {
    schema.required.clear();
    schema.items = schema.items.take().map(|mut items| {
        lenient(Arc::make_mut(&mut items));
        items
    });
    let names: Vec<String> = schema.properties.keys().cloned().collect();
    for name in names {
        if let Some(property) = schema.properties.get_mut(&name) {
            lenient(property);
        }
    }
}
