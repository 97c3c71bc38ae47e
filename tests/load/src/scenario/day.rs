//! A controller's day: the requests that a controller and its user make for one object, from its creation to its deletion.
use std::sync::Arc;

use hyper::Method;
use serde_json::{Value, json};

use super::{
    Position,
    objects::{RECONCILED, config_maps},
    requests::APPLY,
};
use crate::{
    client::{Connection, Failed, Lines, Request},
    target::Target,
};

/// A controller renews its Lease once in this number of objects.
const RENEWAL: u64 = 20;

/// A controller's watch of its own objects.
pub(super) struct Watch(Lines);

impl Watch {
    async fn open(target: &Arc<Target>, controller: &str) -> Result<Self, Failed> {
        let connection = Connection::open(target, false).await.map_err(|e| Failed::Broken(e.to_string()))?;
        let path = format!("{}?watch=1&labelSelector=controller%3D{controller}", config_maps(RECONCILED));
        Ok(Self(connection.watch(path).await?))
    }

    /// The next event of this type about this object. Adds up the sizes of all events.
    async fn until(&mut self, name: &str, kind: &str, bytes: &mut u64) -> Result<Value, Failed> {
        loop {
            let line = self.0.next().await?.ok_or_else(|| Failed::Broken("the server ended a watch".into()))?;
            *bytes += line.len() as u64;
            let event: Value = serde_json::from_slice(&line)
                .map_err(|e| Failed::Broken(format!("an event of a watch is not JSON: {e}")))?;
            if event["type"] == "ERROR" {
                let code = event["object"]["code"].as_u64().and_then(|code| u16::try_from(code).ok());
                return Err(Failed::Refused(code.unwrap_or(500), event["object"]["message"].to_string()));
            }
            if event["object"]["metadata"]["name"] == name && event["type"] == kind {
                return Ok(event["object"].clone());
            }
        }
    }
}

/// Creates an object; as its controller receives the event, applies an owned object and marks the first as observed;
/// as its user receives that event, deletes both.
pub(super) async fn reconcile(
    connection: &mut Connection,
    watch: &mut Option<Watch>,
    position: &Position<'_>,
) -> Result<u64, Failed> {
    let result = day(connection, watch, position).await;
    if result.is_err() {
        // The next operation begins with a new watch.
        *watch = None;
    }
    result
}

async fn day(connection: &mut Connection, watch: &mut Option<Watch>, position: &Position<'_>) -> Result<u64, Failed> {
    let controller = format!("{}-{}", position.run, position.worker);
    let watch = match watch {
        Some(open) => open,
        None => watch.insert(Watch::open(connection.target(), &controller).await?),
    };
    let mut bytes = 0;
    let (all, json) = (config_maps(RECONCILED), "application/json");
    let (input, output) =
        (format!("in-{controller}-{}", position.number), format!("out-{controller}-{}", position.number));
    let (input_path, output_path) = (format!("{all}/{input}"), format!("{all}/{output}"));
    let (api_version, kind) = ("v1", "ConfigMap");

    let metadata = json!({"name": input, "labels": {"controller": controller}});
    let object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "data": {"wanted": "yes"}});
    bytes += send(connection, Method::POST, &all, json, &object).await?;
    let created = watch.until(&input, "ADDED", &mut bytes).await?;

    let owner = json!({"apiVersion": api_version, "kind": kind, "name": input, "uid": created["metadata"]["uid"]});
    let metadata = json!({"name": output, "ownerReferences": [owner]});
    let owned = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "data": {"made": "yes"}});
    let applied = format!("{output_path}?fieldManager=load&force=true");
    bytes += send(connection, Method::PATCH, &applied, APPLY, &owned).await?;
    let observed = json!({"metadata": {"annotations": {"load/observed": created["metadata"]["resourceVersion"]}}});
    bytes += send(connection, Method::PATCH, &input_path, "application/merge-patch+json", &observed).await?;
    watch.until(&input, "MODIFIED", &mut bytes).await?;

    bytes += send(connection, Method::DELETE, &output_path, json, &Value::Null).await?;
    bytes += send(connection, Method::DELETE, &input_path, json, &Value::Null).await?;
    watch.until(&input, "DELETED", &mut bytes).await?;
    if position.number.is_multiple_of(RENEWAL) {
        let path = format!("/apis/coordination.k8s.io/v1/namespaces/{RECONCILED}/leases/{controller}");
        let spec = json!({"holderIdentity": controller, "leaseTransitions": position.number});
        let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": controller}, "spec": spec});
        bytes +=
            send(connection, Method::PATCH, &format!("{path}?fieldManager=load&force=true"), APPLY, &lease).await?;
    }
    Ok(bytes)
}

/// Sends a write; returns the size of the answer. No body for null.
async fn send(
    connection: &mut Connection,
    method: Method,
    path: &str,
    content_type: &'static str,
    body: &Value,
) -> Result<u64, Failed> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    Ok(connection.send(&Request::write(method, path.to_owned(), content_type, body)).await?.length)
}
