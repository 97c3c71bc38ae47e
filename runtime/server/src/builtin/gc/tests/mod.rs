//! Tests of the collector over a memory store.

mod alive;
mod cases;
mod graph;
mod lasting;
mod property;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::super::tests::Inside;
use crate::{
    meta::{
        Revision,
        options::{DeleteOptions, Propagation},
    },
    schema::Document,
    verbs::DeleteResult,
};

/// Much longer than any step takes.
const LONG: Duration = Duration::from_secs(20);

/// A reference to a config map.
fn owner(object: &Document, blocks: bool) -> Value {
    let (name, uid) = (&object["metadata"]["name"], &object["metadata"]["uid"]);
    json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "blockOwnerDeletion": blocks})
}

/// A new config map in `default` with these owners.
async fn config(inside: &Inside, name: &str, owners: &[Value]) -> Document {
    let body = json!({"metadata": {"name": name, "ownerReferences": owners}});
    inside.create("configmaps", "default", body).await.expect("a config map")
}

fn find(inside: &Inside, name: &str) -> Option<Document> {
    inside.find("configmaps", "default", name)
}

async fn delete(inside: &Inside, name: &str, propagation: Propagation) -> DeleteResult {
    let request = inside.request("configmaps", "default", name);
    let options = DeleteOptions { propagation: Some(propagation), ..DeleteOptions::default() };
    inside.api.delete(&request, &options).await.expect("a deletion")
}

async fn set_owners(inside: &Inside, name: &str, owners: &[Value]) {
    let request = inside.request("configmaps", "default", name);
    inside.merge(&request, json!({"metadata": {"ownerReferences": owners}})).await.expect("other owners");
}

/// Waits until a condition holds, checking it after every change of the store.
async fn until(inside: &Inside, what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        loop {
            let Revision(seen) = inside.api.cache.revision();
            if holds() {
                return;
            }
            inside.api.cache.reached(Revision(seen + 1)).await;
        }
    };
    timeout(LONG, waiting).await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// Waits until exactly these config maps are in `default`.
async fn until_left(inside: &Inside, left: &[&str]) {
    let objects = inside.request("configmaps", "default", "").resource.objects.clone();
    until(inside, &format!("{left:?} are left"), || {
        objects.snapshot().range("default/", None).map(|object| object.name().to_owned()).eq(left.iter().copied())
    })
    .await;
}

/// Waits until the collector has processed everything: it deletes an object created for this purpose, and nothing else
/// changes if there is no other work.
async fn settled(inside: &Inside) {
    for at in 0..2 {
        let name = format!("zz-settled-{at}");
        let missing = json!({"metadata": {"name": "zz-missing", "uid": name}});
        config(inside, &name, &[owner(&missing, false)]).await;
        until(inside, "the collector has looked", || find(inside, &name).is_none()).await;
    }
}
