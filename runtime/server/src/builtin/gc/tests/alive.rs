//! Kinds that are added, replaced and removed while the collector runs.
use std::sync::Arc;

use serde_json::json;

use super::{
    super::super::{Controllers, tests::Inside},
    config, delete, find, owner, settled, until,
};
use crate::{
    kind::{Kind, binding::NoHooks, model::Names},
    meta::{GroupResource, options::Propagation},
    schema::Document,
};

/// Registers the kind `things`, a new one each time.
fn serve_things(inside: &Inside) {
    let kind = Kind::clone(&inside.request("configmaps", "", "").resource.kind).with(|shared, _, binding| {
        shared.names = Names::new("Thing", "things");
        binding.hooks = Arc::new(NoHooks);
    });
    inside.api.registry.replace([kind], None).expect("a kind");
}

async fn thing(inside: &Inside, name: &str, of: &Document) -> Document {
    let body = json!({"metadata": {"name": name, "ownerReferences": [owner(of, true)]}});
    inside.create("things", "default", body).await.expect("a thing")
}

#[tokio::test]
async fn replaced_kinds_are_still_followed_and_removed_kinds_are_awaited() {
    let inside = Inside::new().await;
    serve_things(&inside);
    let controllers = Controllers::started(&inside.api);
    for round in 0..20 {
        let name = format!("a{round}");
        let a = config(&inside, &name, &[]).await;
        thing(&inside, &name, &a).await;
        // Before or after the collector has noticed the change.
        if round % 2 == 0 {
            settled(&inside).await;
        }
        serve_things(&inside);
        thing(&inside, &format!("more-{name}"), &a).await;
        delete(&inside, &name, Propagation::Foreground).await;
        let gone = |name: &str| inside.find("things", "default", name).is_none();
        until(&inside, "things are deleted with their owner", || gone(&name) && gone(&format!("more-{name}"))).await;
        until(&inside, "the owner is deleted after them", || find(&inside, &name).is_none()).await;
    }
    let b = config(&inside, "b", &[]).await;
    let mut reference = owner(&thing(&inside, "t", &b).await, true);
    reference["kind"] = json!("Thing");
    config(&inside, "of-t", &[reference]).await;
    settled(&inside).await;
    let things = GroupResource { group: String::new(), resource: "things".to_owned() };
    let things = inside.api.registry.resource(&things).expect("things are served");
    assert_eq!(inside.api.remove_resource(&things).await.unwrap(), 1);
    settled(&inside).await;
    // The object is examined again when its owner's kind is served: the collector checks once a second.
    serve_things(&inside);
    until(&inside, "the dependent is deleted when its owner's kind is served again", || {
        find(&inside, "of-t").is_none()
    })
    .await;
    assert!(find(&inside, "b").is_some());
    controllers.stop().await;
}
