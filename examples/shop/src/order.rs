//! Orders.

use kindsmith::{ApiType, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

/// An order.
#[derive(Resource, Clone, Debug)]
#[resource(group = "shop.example.com", version = "v1", shortname = "ord")]
#[resource(column("Customer", path = spec.customer))]
#[resource(column("Copies", path = spec.copies))]
pub struct Order {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    /// The desired state of the order.
    pub spec: OrderSpec,
}

/// The desired state of an order.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderSpec {
    /// The customer.
    pub customer: String,
    /// The copies.
    #[api(default = 1, minimum = 0)]
    pub copies: i32,
    /// The tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The note.
    pub note: Option<String>,
}

#[cfg(test)]
mod tests {
    use kindsmith::Server;
    use serde_json::{Value, json};

    const ORDERS: &str = "/apis/shop.example.com/v1/namespaces/default/orders";

    fn example() -> Value {
        json!({
            "metadata": {"name": "example"},
            "spec": {
                "customer": "a customer",
                "copies": 1,
                "tags": ["text"],
                "note": "text",
            },
        })
    }

    #[tokio::test]
    async fn an_order_is_stored_as_it_was_sent() {
        let server = Server::test().configure(crate::serve).start().await;
        let (status, stored) = server.call("POST", ORDERS, example()).await;
        assert_eq!(status, 201, "{stored}");
        assert_eq!(stored["spec"], example()["spec"]);
    }

    #[tokio::test]
    async fn an_order_without_its_customer_is_refused() {
        let server = Server::test().configure(crate::serve).start().await;
        let mut object = example();
        object["spec"] = json!({});
        let (status, refusal) = server.call("POST", ORDERS, object).await;
        assert_eq!(status, 422, "{refusal}");
        let causes = refusal["details"]["causes"].as_array().expect("causes");
        let is_named = causes.iter().any(|cause| cause["field"] == "spec.customer");
        assert!(is_named, "{refusal}");
    }
}
