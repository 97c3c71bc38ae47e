//! The objects that scenarios read and write, and their preparation.
use std::sync::Arc;

use hyper::Method;
use tokio::task::JoinSet;

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

/// The path of the ConfigMaps of a namespace.
pub(crate) fn config_maps(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps")
}

/// The name of an object by its number.
pub(crate) fn name(number: usize) -> String {
    format!("cm-{number:06}")
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
        for path in [config_maps(namespace), leases, format!("/api/v1/namespaces/{namespace}")] {
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
async fn create(connection: &mut Connection, path: String, body: String) -> Outcome<()> {
    match connection.send(&Request::write(Method::POST, path.clone(), "application/json", body)).await {
        Ok(_) | Err(Failed::Refused(409, _)) => Ok(()),
        Err(failed) => Err(format!("POST {path}: {failed}").into()),
    }
}
