//! The objects that scenarios read and write, and their preparation.
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hyper::Method;
use tokio::task::JoinSet;

use super::roles;
use crate::{
    Outcome,
    client::{Connection, Failed, Request},
    target::Target,
};

/// Objects to read. Nothing writes them, so that every round lists the same bytes.
pub(crate) const READ: &str = "load";
/// Objects to change, and their number. Of more clients than that, some change the same object at a time.
pub(crate) const WRITTEN: &str = "load-written";
pub(crate) const WRITTEN_OBJECTS: usize = 256;
/// Objects that are created.
pub(crate) const CREATED: &str = "load-created";
/// Objects that watchers watch.
pub(crate) const WATCHED: &str = "load-watched";
/// Objects of the controllers.
pub(crate) const RECONCILED: &str = "load-reconciled";
pub(crate) const NAMESPACES: [&str; 5] = [READ, WRITTEN, CREATED, WATCHED, RECONCILED];

/// Concurrent creations while a server is prepared.
const CLIENTS: usize = 16;
/// How long a server may take to serve a definition.
const SERVED: Duration = Duration::from_secs(30);

/// The path of the ConfigMaps of a namespace.
pub(crate) fn config_maps(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps")
}

/// The name of an object by its number.
pub(crate) fn name(number: usize) -> String {
    format!("cm-{number:06}")
}

/// The plurals of two kinds. Only the second one has rules; otherwise they are the same.
pub(crate) const DEFINED: [&str; 2] = ["plains", "ruleds"];
const GROUP: &str = "load.kindsmith.dev";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// What people write rules about: order, presence, names, lists, maps, formats, changes.
const RULES: [&str; 10] = [
    "self.min <= self.max",
    "self.mode != 'Manual' || has(self.size)",
    "self.image.startsWith('registry.example.com/')",
    "self.image.matches('^[a-z0-9./-]+:[a-z0-9.]+$')",
    "self.ports.all(port, port.port > 0 && port.port < 65536)",
    "self.ports.exists_one(port, port.name == 'http')",
    "self.labels.all(name, name.size() < 64)",
    "size(self.text) <= 2000",
    "!has(self.size) || quantity(self.size).isGreaterThan(quantity('1Ki'))",
    "self.mode == oldSelf.mode",
];

/// The path of the objects of a defined kind.
pub(crate) fn defined(plural: &str) -> String {
    format!("/apis/{GROUP}/v1/namespaces/{CREATED}/{plural}")
}

/// An object of a defined kind that is about 2 KB on the wire.
pub(crate) fn defined_object(plural: &str, name: &str) -> String {
    format!(
        r#"{{"apiVersion":"{GROUP}/v1","kind":"{plural}","metadata":{{"name":"{name}","labels":{{"app":"load"}}}},"spec":{{"min":1,"max":5,"mode":"Auto","size":"10Gi","image":"registry.example.com/team/app:1.2.3","ports":[{{"name":"http","port":80}},{{"name":"https","port":443}},{{"name":"metrics","port":9090}}],"labels":{{"team":"a","tier":"web","zone":"b"}},"text":"{}"}}}}"#,
        "x".repeat(1_400)
    )
}

/// The definition of a kind, with or without rules.
fn definition(plural: &str, rules: &[&str]) -> String {
    let rules: Vec<_> = rules.iter().map(|rule| serde_json::json!({"rule": rule})).collect();
    let text = |most: u32| serde_json::json!({"type": "string", "maxLength": most});
    let port = serde_json::json!({
        "type": "object", "required": ["name", "port"], "properties": {"name": text(15), "port": {"type": "integer"}},
    });
    let spec = serde_json::json!({
        "type": "object",
        "required": ["min", "max", "mode", "image"],
        "properties": {
            "min": {"type": "integer"}, "max": {"type": "integer"}, "mode": text(20), "size": text(20), "image": text(200),
            "ports": {"type": "array", "maxItems": 20, "items": port},
            "labels": {"type": "object", "maxProperties": 20, "additionalProperties": text(63)},
            "text": text(4_000),
        },
        "x-kubernetes-validations": rules,
    });
    let schema = serde_json::json!({"type": "object", "properties": {"spec": spec}});
    serde_json::json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": plural},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
    .to_string()
}

/// Creates the definitions, on servers that have definitions, and waits until they are served.
async fn define(connection: &mut Connection) -> Outcome<()> {
    for (plural, rules) in DEFINED.iter().zip([&[][..], &RULES]) {
        let body = definition(plural, rules);
        match connection.send(&Request::write(Method::POST, DEFINITIONS.into(), "application/json", body)).await {
            Ok(_) | Err(Failed::Refused(409, _)) => {}
            // The server takes no definitions.
            Err(Failed::Refused(404, _)) => return Ok(()),
            Err(failed) => return Err(format!("POST {DEFINITIONS}: {failed}").into()),
        }
        let deadline = Instant::now() + SERVED;
        while let Err(failed) = connection.send(&Request::get(defined(plural))).await {
            if Instant::now() > deadline {
                return Err(format!("{plural} are not served: {failed}").into());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    Ok(())
}

/// A ConfigMap that is about 2 KB on the wire.
pub(crate) fn config_map(name: &str, part: u64, data: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","labels":{{"app":"load","part":"{part}"}}}},"data":{{"n":"{data}","text":"{}"}}}}"#,
        "x".repeat(1_650)
    )
}

/// Creates the namespaces and the objects to read, to change and to watch, as far as they do not exist.
pub(crate) async fn prepare(target: &Arc<Target>, objects: usize, clients: usize) -> Outcome<()> {
    let mut connection = Connection::open(target, false).await?;
    for namespace in NAMESPACES {
        let body = format!(r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{namespace}"}}}}"#);
        create(&mut connection, "/api/v1/namespaces".into(), body).await?;
    }
    define(&mut connection).await?;
    for (namespace, wanted) in [(READ, objects), (WRITTEN, WRITTEN_OBJECTS), (WATCHED, clients)] {
        let there = count(&mut connection, namespace).await?;
        if there > wanted && namespace == READ {
            return Err(format!(
                "{}: the namespace {READ} has {there} ConfigMaps; give --objects {there}, or remove them with `load clean`",
                target.url
            )
            .into());
        }
        if there < wanted {
            fill(target, namespace, wanted).await?;
        }
    }
    Ok(())
}

/// Removes the namespaces and what is in them.
pub(crate) async fn clean(target: &Arc<Target>) -> Outcome<()> {
    let mut connection = Connection::open(target, false).await?;
    for namespace in NAMESPACES {
        let leases = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases");
        let mut paths = vec![config_maps(namespace), leases];
        if namespace == READ {
            paths.extend(roles::paths());
        }
        if namespace == CREATED {
            paths.extend(DEFINED.map(defined));
            paths.extend(DEFINED.map(|plural| format!("{DEFINITIONS}/{plural}.{GROUP}")));
        }
        paths.push(format!("/api/v1/namespaces/{namespace}"));
        for path in paths {
            let request = Request { method: Method::DELETE, ..Request::get(path) };
            match connection.send(&request).await {
                Ok(_) | Err(Failed::Refused(404, _)) => {}
                Err(failed) => return Err(format!("{}: DELETE {}: {failed}", target.url, request.path).into()),
            }
        }
    }
    Ok(())
}

/// Counts the ConfigMaps of a namespace, without `kube-root-ca.crt`, which Kubernetes adds to each namespace.
async fn count(connection: &mut Connection, namespace: &str) -> Outcome<usize> {
    let metadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    // A list by a selector has no remainingItemCount, so all are counted, without their data.
    let path = format!("{}?labelSelector=app%3Dload", config_maps(namespace));
    let request = Request { accept: metadata, ..Request::get(path) };
    connection.count(&request, b"\"uid\":").await.map_err(|failed| format!("GET {}: {failed}", request.path).into())
}

async fn fill(target: &Arc<Target>, namespace: &'static str, objects: usize) -> Outcome<()> {
    let mut tasks = JoinSet::new();
    for client in 0..CLIENTS {
        let target = target.clone();
        tasks.spawn(async move {
            let mut connection = Connection::open(&target, false).await?;
            for number in (client..objects).step_by(CLIENTS) {
                let body = config_map(&name(number), number as u64 % 10, "0");
                create(&mut connection, config_maps(namespace), body).await?;
            }
            Outcome::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

/// Creates an object, unless it exists.
pub(super) async fn create(connection: &mut Connection, path: String, body: String) -> Outcome<()> {
    match connection.send(&Request::write(Method::POST, path.clone(), "application/json", body)).await {
        Ok(_) | Err(Failed::Refused(409, _)) => Ok(()),
        Err(failed) => Err(format!("POST {path}: {failed}").into()),
    }
}
