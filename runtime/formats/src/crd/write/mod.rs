//! Writes a resource as a CustomResourceDefinition that kube-apiserver accepts: the inverse of [`define`](super::define). A warning reports each part of the resource that a definition does not have.
use serde_json::{Map, Value, json};

use super::{
    API_VERSION, Metadata,
    check::{APPROVAL, is_protected},
    roles,
};
use crate::{
    kind::{
        Definition,
        convert::{Conversion, Webhook},
        model::{Cell, Column, Names, Path, ScalePaths, Scope, Version},
    },
    schema::Document,
};

mod schema;

pub use schema::validations;

/// A resource as a definition.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Written {
    /// The definition.
    pub document: Document,
    /// Parts of the resource that it does not have.
    pub warnings: Vec<String>,
}

impl Written {
    /// The definition with the labels and annotations of the one that it was read from.
    #[must_use]
    pub fn with_metadata(mut self, metadata: &Metadata) -> Self {
        for (name, entries) in [("labels", &metadata.labels), ("annotations", &metadata.annotations)] {
            for (key, value) in entries {
                self.document["metadata"][name][key] = json!(value);
            }
        }
        self
    }
}

/// Writes a resource as a definition.
///
/// What a definition cannot have is left out with a warning: computed columns, subresources and conversions in code, recursion,
/// and how strategic merge patches merge. A union becomes `oneOf`, and an immutable value a rule in CEL.
///
/// # Errors
/// If objects of the resource are not stored, or if it is in the core group.
pub fn write(definition: &Definition) -> Result<Written, String> {
    let (shared, what) = (&definition.shared, definition.shared.group_kind());
    if !shared.stored {
        return Err(format!("{what} is not stored, and only stored kinds have definitions"));
    }
    if shared.group.is_empty() {
        return Err(format!("{what} is in the core group, in which there are no definitions"));
    }
    let mut writer = Writer { definition, warnings: Vec::new() };
    let (here, elsewhere) = definition.versions.iter().partition::<Vec<_>, _>(|version| version.group.is_none());
    for version in elsewhere {
        let at = version.group_version(shared);
        writer.warnings.push(format!("{what} is served in {at}, too, and a definition has one group"));
    }
    let versions: Vec<Value> = here.into_iter().map(|version| writer.version(version)).collect();
    let mut spec = fields([
        ("group", json!(shared.group)),
        ("names", names(&shared.names)),
        ("scope", json!(if shared.scope == Scope::Cluster { "Cluster" } else { "Namespaced" })),
        ("versions", versions.into()),
    ]);
    if let Conversion::Webhook(webhook) = &definition.conversion {
        spec.insert("conversion".to_owned(), conversion(webhook));
    }
    let mut metadata = json!({"name": shared.group_resource().to_string()});
    if is_protected(&shared.group) {
        metadata["annotations"] = json!({APPROVAL: "unapproved: it is not an API of Kubernetes"});
    }
    for (name, role) in roles::annotations(shared.roles) {
        metadata["annotations"][name] = json!(role);
    }
    let document = json!({
        "apiVersion": API_VERSION,
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": spec,
    });
    Ok(Written { document, warnings: writer.warnings })
}

/// The fields that say something.
fn fields<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    let said = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    fields.into_iter().filter(|(_, value)| said(value)).map(|(name, value)| (name.to_owned(), value)).collect()
}

fn names(names: &Names) -> Value {
    let Names { plural, singular, kind, list_kind, short_names, categories } = names;
    let named = fields([
        ("plural", json!(plural)),
        ("singular", json!(singular)),
        ("kind", json!(kind)),
        ("listKind", json!(list_kind)),
        ("shortNames", json!(short_names)),
        ("categories", json!(categories)),
    ]);
    named.into()
}

fn conversion(webhook: &Webhook) -> Value {
    let service = webhook.service.as_ref().map(|service| {
        let path = Some(&service.path).filter(|path| !path.is_empty());
        json!({"namespace": service.namespace, "name": service.name, "path": path, "port": service.port})
    });
    let client = fields([
        ("url", json!(webhook.url)),
        ("service", service.unwrap_or_default()),
        ("caBundle", json!(webhook.ca_bundle)),
    ]);
    json!({
        "strategy": "Webhook",
        "webhook": {"clientConfig": client, "conversionReviewVersions": webhook.review_versions},
    })
}

/// A path as definitions have it: `.spec.colour`, and with a backslash before a dot in a name.
fn path(path: &Path) -> String {
    path.0.iter().map(|name| format!(".{}", name.replace('.', "\\."))).collect::<Vec<_>>().concat()
}

struct Writer<'d> {
    definition: &'d Definition,
    warnings: Vec<String>,
}

impl Writer<'_> {
    fn version(&mut self, version: &Version) -> Value {
        let shared = &self.definition.shared;
        let standard = format!("{}/{} {} is deprecated", shared.group, version.name, shared.names.kind);
        let warning = version.deprecated.as_ref().filter(|text| **text != standard);
        let subresources = fields([
            ("status", if version.status { json!({}) } else { Value::Null }),
            ("scale", version.scale.as_ref().map_or(Value::Null, scale)),
        ]);
        let selectable: Vec<Value> = version.selectable.iter().map(|field| json!({"jsonPath": path(field)})).collect();
        let mut written = fields([
            ("name", json!(version.name)),
            ("deprecated", json!(version.deprecated.is_some())),
            ("deprecationWarning", json!(warning)),
            ("schema", json!({"openAPIV3Schema": self.schema(version)})),
            ("subresources", if subresources.is_empty() { Value::Null } else { subresources.into() }),
            ("additionalPrinterColumns", self.columns(version).into()),
            ("selectableFields", selectable.into()),
        ]);
        for endpoint in &version.subresources {
            self.lost(version, &format!("the subresource {:?} is answered by this program", endpoint.subresource));
        }
        written.insert("served".to_owned(), json!(version.served));
        written.insert("storage".to_owned(), json!(self.definition.stores(version)));
        written.into()
    }

    /// The schema with type meta and metadata, which every object has.
    fn schema(&mut self, version: &Version) -> Value {
        let (mut written, lost) = schema::write(&version.schema);
        for lost in lost {
            self.lost(version, &lost);
        }
        let properties = written.entry("properties").or_insert_with(|| json!({}));
        for (name, kind) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
            let declared = version.names.as_ref().and_then(|names| names.properties.get(name));
            let mut property = declared.map_or_else(Map::new, |declared| schema::write(declared).0);
            property.insert("type".to_owned(), json!(kind));
            properties[name] = property.into();
        }
        written.into()
    }

    /// The columns; none where there is only the age, which every definition without columns shows.
    fn columns(&mut self, version: &Version) -> Vec<Value> {
        if version.columns == [Column::age()] {
            return Vec::new();
        }
        version.columns.iter().filter_map(|column| self.column(version, column)).collect()
    }

    fn column(&mut self, version: &Version, column: &Column) -> Option<Value> {
        let found = match &column.cell {
            Cell::Path(found) => path(found),
            Cell::JsonPath(found) => found.to_string(),
            Cell::Call(_) | Cell::Computed => {
                self.lost(version, &format!("the column {:?} is computed by this program", column.name));
                return None;
            }
        };
        let standard = Column::usual_description(found.strip_prefix('.').unwrap_or(&found));
        let description = Some(&column.description).filter(|description| **description != standard);
        let mut written = fields([
            ("name", json!(column.name)),
            ("type", json!(column.kind)),
            ("format", json!(column.format)),
            ("description", json!(description)),
            ("jsonPath", json!(found)),
        ]);
        if column.priority != 0 {
            written.insert("priority".to_owned(), json!(column.priority));
        }
        Some(written.into())
    }

    fn lost(&mut self, version: &Version, what: &str) {
        let (kind, version) = (self.definition.shared.group_kind(), &version.name);
        self.warnings.push(format!("{kind} {version}: {what}, and is left out"));
    }
}

fn scale(scale: &ScalePaths) -> Value {
    let written = fields([
        ("specReplicasPath", json!(path(&scale.replicas))),
        ("statusReplicasPath", json!(path(&scale.status_replicas))),
        ("labelSelectorPath", json!(scale.selector.as_ref().map(path))),
    ]);
    written.into()
}
