//! Items.

use kindsmith::{ApiType, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

/// An item.
#[derive(Resource, Clone, Debug)]
#[resource(group = "shop.example.com", version = "v1")]
#[resource(column("Title", path = spec.title))]
#[resource(column("Copies", path = spec.copies))]
pub struct Item {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    /// The desired state of the item.
    pub spec: ItemSpec,
}

/// The desired state of an item.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemSpec {
    /// The title.
    pub title: String,
    /// The copies.
    #[api(default = 1)]
    pub copies: i32,
}

#[cfg(test)]
mod tests {
    use kindsmith::Server;
    use serde_json::{Value, json};

    const ITEMS: &str = "/apis/shop.example.com/v1/namespaces/default/items";

    pub(super) fn example() -> Value {
        json!({
            "metadata": {"name": "example"},
            "spec": {"title": "a title", "copies": 1},
        })
    }

    #[tokio::test]
    async fn an_item_is_stored_as_it_was_sent() {
        let server = Server::test().configure(crate::serve).start().await;
        let (status, stored) = server.call("POST", ITEMS, example()).await;
        assert_eq!(status, 201, "{stored}");
        assert_eq!(stored["spec"], example()["spec"]);
    }

    #[tokio::test]
    async fn an_item_without_its_title_is_refused() {
        let server = Server::test().configure(crate::serve).start().await;
        let mut object = example();
        object["spec"] = json!({});
        let (status, refusal) = server.call("POST", ITEMS, object).await;
        assert_eq!(status, 422, "{refusal}");
        let causes = refusal["details"]["causes"].as_array().expect("causes");
        let is_named = causes.iter().any(|cause| cause["field"] == "spec.title");
        assert!(is_named, "{refusal}");
    }
}
