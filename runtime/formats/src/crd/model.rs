//! The resource that a manifest without errors defines.
use std::sync::Arc;

use super::{Fields, check::Schemas, definition::Definition, keywords};
use crate::{
    kind::{
        self,
        convert::{Conversion, Webhook, WebhookService},
        jsonpath::JsonPath,
        model::{Cell, Column, Names, Path, ScalePaths, Scope, Shared, Version},
    },
    schema::Schema,
};

/// The resource in all of its versions.
pub(super) fn resource(definition: &Definition<'_>, schemas: &Schemas) -> kind::Definition {
    let shared = shared(definition);
    let versions = definition.versions.iter().enumerate();
    let versions = versions.map(|(index, from)| version(&shared, *from, &schemas.of(index)).into()).collect();
    let mut stored = definition.versions.iter().filter(|version| version.flag("storage"));
    let storage_version = stored.next().map_or("", |version| version.text("name")).to_owned();
    kind::Definition { shared: shared.into(), storage_version, versions, conversion: conversion(definition) }
}

fn shared(definition: &Definition<'_>) -> Shared {
    let (names, owned) = (definition.names(), |text: &str| text.to_owned());
    let names = Names {
        plural: owned(names.text("plural")),
        singular: definition.singular.clone(),
        kind: owned(names.text("kind")),
        list_kind: definition.list_kind.clone(),
        short_names: names.texts("shortNames").map(owned).collect(),
        categories: names.texts("categories").map(owned).collect(),
    };
    let scope = definition.scope().unwrap_or(Scope::Namespaced);
    Shared { scope, ..Shared::new(definition.spec.text("group"), names) }
}

fn version(shared: &Shared, from: Fields<'_>, schema: &Arc<Schema>) -> Version {
    let (name, kind) = (from.text("name"), &shared.names.kind);
    let deprecated = from.flag("deprecated").then(|| match from.text("deprecationWarning") {
        "" => format!("{}/{name} {kind} is deprecated", shared.group),
        given => given.to_owned(),
    });
    let parts = from.part("subresources");
    let scale = parts.object("scale").map(|scale| ScalePaths {
        replicas: path(scale.text("specReplicasPath")),
        status_replicas: path(scale.text("statusReplicasPath")),
        selector: Some(path(scale.text("labelSelectorPath"))).filter(|path| !path.0.is_empty()),
    });
    Version {
        served: from.flag("served"),
        names: keywords::names(from.part("schema").part("openAPIV3Schema")).map(Arc::new),
        deprecated,
        status: parts.get("status").is_some(),
        generation: true,
        scale,
        columns: columns(from),
        selectable: from.objects("selectableFields").map(|field| path(field.text("jsonPath"))).collect(),
        ..Version::new(name, Schema { name: Some(kind.clone()), ..Schema::clone(schema) })
    }
}

/// The fields of a selectable field's path, which was checked: `.spec.colour`.
fn path(text: &str) -> Path {
    Path(text.split('.').skip(1).map(str::to_owned).collect())
}

/// The columns, up to the first whose path kube-apiserver does not understand, as it shows them. A version without columns
/// shows the age.
fn columns(version: Fields<'_>) -> Vec<Column> {
    if version.items("additionalPrinterColumns").is_empty() {
        return vec![Column::age()];
    }
    version.objects("additionalPrinterColumns").map_while(column).collect()
}

fn column(from: Fields<'_>) -> Option<Column> {
    let text = from.text("jsonPath");
    let found = JsonPath::parse(text).ok()?;
    let description = match from.text("description") {
        "" => Column::usual_description(text.strip_prefix('.').unwrap_or(text)),
        given => given.to_owned(),
    };
    Some(Column {
        name: from.text("name").to_owned(),
        kind: from.text("type").to_owned(),
        format: from.text("format").to_owned(),
        description,
        priority: from.integer("priority").and_then(|priority| priority.try_into().ok()).unwrap_or_default(),
        cell: Cell::of_json_path(found),
    })
}

/// How its objects are converted between the versions.
fn conversion(definition: &Definition<'_>) -> Conversion {
    let conversion = definition.spec.part("conversion");
    if conversion.text("strategy") != "Webhook" {
        return Conversion::None;
    }
    let webhook = conversion.part("webhook");
    let client = webhook.part("clientConfig");
    let text = |from: Fields<'_>, name: &str| from.text(name).to_owned();
    Conversion::Webhook(Arc::new(Webhook {
        url: client.get("url").map(|_| text(client, "url")),
        service: client.object("service").map(|service| WebhookService {
            namespace: text(service, "namespace"),
            name: text(service, "name"),
            path: text(service, "path"),
            port: service.integer("port").and_then(|port| port.try_into().ok()).unwrap_or(443),
        }),
        ca_bundle: text(client, "caBundle"),
        review_versions: webhook.texts("conversionReviewVersions").map(str::to_owned).collect(),
    }))
}
