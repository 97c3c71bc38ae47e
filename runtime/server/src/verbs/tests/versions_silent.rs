//! Owners of fields in a version whose webhook does not answer.
use std::sync::Arc;

use serde_json::json;

use super::{
    fixture::World,
    versions::{gears_of, older, stored},
};
use crate::{
    kind::{Convert, convert::Webhook},
    schema::Document,
};

/// kube-apiserver, too, gives up the record of owners rather than the write.
#[tokio::test]
async fn a_creation_whose_owners_wrote_in_a_version_of_a_silent_webhook_has_no_owners() {
    struct Silent(Arc<Webhook>);

    impl Convert for Silent {
        fn write(&self, _: Document) -> Result<Document, String> {
            Err("context deadline exceeded".to_owned())
        }

        fn read(&self, _: Document) -> Result<Document, String> {
            Err("context deadline exceeded".to_owned())
        }

        fn webhook(&self) -> Option<&Arc<Webhook>> {
            Some(&self.0)
        }
    }

    let world = World::new().await;
    let silent: Arc<dyn Convert> = Arc::new(Silent(Arc::default()));
    let older = older().with(|_, version, binding| {
        version.selectable.clear();
        binding.conversion = Some(silent);
    });
    let [v1, _] = gears_of(&world, stored(), older);
    let entry = |version: &str| {
        json!({"manager": "m", "operation": "Update", "apiVersion": version,
        "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:color": {}}}})
    };
    let gear = |name: &str, version: &str| {
        json!({"apiVersion": "example.com/v1", "kind": "Gear",
        "metadata": {"name": name, "managedFields": [entry(version)]}, "spec": {"color": "red"}})
    };
    let made = world.create(&v1, "ns", gear("a", "example.com/v1beta1")).await.unwrap();
    assert_eq!(made["metadata"].get("managedFields"), None);
    let made = world.create(&v1, "ns", gear("b", "example.com/v1")).await.unwrap();
    assert!(made["metadata"]["managedFields"].is_array(), "that of its own version needs no webhook");
}
