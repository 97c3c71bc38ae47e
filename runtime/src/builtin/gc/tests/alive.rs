//! Kinds that come, are replaced and go while the collector runs.
use serde_json::json;

use super::{
    super::super::{Controllers, tests::Inside},
    config, delete, find, owner, settled, until,
};
use crate::{
    kind::{Kind, model::Hooks},
    meta::{GroupResource, options::Propagation},
    schema::Document,
};

/// Serves things, anew each time.
fn serve_things(inside: &Inside) {
    let kind = Kind {
        kind: "Thing".to_owned(),
        list_kind: "ThingList".to_owned(),
        plural: "things".to_owned(),
        singular: "thing".to_owned(),
        short_names: Vec::new(),
        hooks: Hooks::default(),
        ..Kind::clone(&inside.request("configmaps", "", "").served.kind)
    };
    inside.api.registry.replace([kind], None).expect("a kind");
}

async fn thing(inside: &Inside, name: &str, of: &Document) -> Document {
    let body = json!({"metadata": {"name": name, "ownerReferences": [owner(of, true)]}});
    inside.create("things", "default", body).await.expect("a thing")
}

#[tokio::test]
async fn kinds_that_are_replaced_are_followed_on_and_those_that_are_removed_are_awaited() {
    let inside = Inside::new().await;
    serve_things(&inside);
    let controllers = Controllers::start(inside.api.clone());
    for round in 0..20 {
        let name = format!("a{round}");
        let a = config(&inside, &name, &[]).await;
        thing(&inside, &name, &a).await;
        // Before the collector has looked, or after.
        if round % 2 == 0 {
            settled(&inside).await;
        }
        serve_things(&inside);
        thing(&inside, &format!("more-{name}"), &a).await;
        delete(&inside, &name, Propagation::Foreground).await;
        let gone = |name: &str| inside.find("things", "default", name).is_none();
        until(&inside, "things go with their owner", || gone(&name) && gone(&format!("more-{name}"))).await;
        until(&inside, "the owner goes after them", || find(&inside, &name).is_none()).await;
    }
    let b = config(&inside, "b", &[]).await;
    let mut reference = owner(&thing(&inside, "t", &b).await, true);
    reference["kind"] = json!("Thing");
    config(&inside, "of-t", &[reference]).await;
    settled(&inside).await;
    let things = GroupResource { group: String::new(), resource: "things".to_owned() };
    assert_eq!(inside.api.remove_resource(&things).await.unwrap(), 1);
    settled(&inside).await;
    // It is looked at again when its owner's kind is there: the collector looks once a second.
    serve_things(&inside);
    until(&inside, "what a thing owned goes when things are known again", || find(&inside, "of-t").is_none()).await;
    assert!(find(&inside, "b").is_some());
    controllers.stop().await;
}
