//! Orders in the version v2. Objects are stored in v1.
//!
//! `#[resource(convert(…))]` on the declaration of v2 says how it differs from v1, such as
//! `renamed(spec.new = spec.old)`, `added(spec.field)` or `removed(spec.field)`. The tests report what it omits.

use kindsmith::{ApiType, Condition, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

use super::Order as Stored;

/// An order.
#[derive(Resource, Clone, Debug)]
#[resource(version = "v2", storage = Stored)]
#[resource(column("Customer", path = spec.customer))]
#[resource(column("Copies", path = spec.copies))]
#[resource(status)]
#[resource(scale(replicas = spec.copies, status = status.copies))]
pub struct Order {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    /// The desired state of the order.
    pub spec: OrderSpec,
    /// The observed state of the order.
    pub status: Option<OrderStatus>,
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

/// The observed state of an order.
#[derive(ApiType, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderStatus {
    /// The copies.
    pub copies: Option<i32>,
    /// The latest observations.
    #[api(list = map(key = kind), merge)]
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

#[cfg(test)]
mod tests {
    use kindsmith::Server;
    use serde_json::{Value, json};

    const ORDERS: &str = "/apis/shop.example.com/v2/namespaces/default/orders";

    pub(super) fn example() -> Value {
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

    #[tokio::test]
    async fn an_order_is_the_same_in_v1_and_v2() {
        const OTHER: &str = "v1";
        let server = Server::test().configure(crate::serve).start().await;
        let (status, created) = server.call("POST", ORDERS, example()).await;
        assert_eq!(status, 201, "{created}");
        let path = format!("/apis/shop.example.com/{OTHER}/namespaces/default/orders/example");
        let (_, other) = server.call("GET", &path, Value::Null).await;
        // A write in the other version loses nothing.
        let (status, other) = server
            .call("PATCH", &path, json!({"spec": other["spec"]}))
            .await;
        assert_eq!(status, 200, "{other}");
        let (_, read) = server
            .call("GET", &format!("{ORDERS}/example"), Value::Null)
            .await;
        assert_eq!(read["spec"], created["spec"]);
    }

    #[tokio::test]
    async fn the_status_of_an_order_has_a_writer_of_its_own() {
        let server = Server::test().configure(crate::serve).start().await;
        let (code, created) = server.call("POST", ORDERS, example()).await;
        assert_eq!(code, 201, "{created}");
        let tested = json!({
            "type": "Tested", "status": "True", "reason": "Test", "message": "",
            "lastTransitionTime": "2030-01-01T08:00:00Z",
        });
        let change = json!({"status": {"copies": 1, "conditions": [tested]}});
        let (code, whole) = server
            .call("PATCH", &format!("{ORDERS}/example"), change.clone())
            .await;
        assert!(
            code == 200 && !whole.to_string().contains("Tested"),
            "{whole}"
        );
        let (code, status) = server
            .call("PATCH", &format!("{ORDERS}/example/status"), change)
            .await;
        assert!(
            code == 200 && status.to_string().contains("Tested"),
            "{status}"
        );
    }

    #[tokio::test]
    async fn an_order_is_scaled() {
        let server = Server::test().configure(crate::serve).start().await;
        let (code, created) = server.call("POST", ORDERS, example()).await;
        assert_eq!(code, 201, "{created}");
        let scale = json!({"spec": {"replicas": 3}});
        let (code, scale) = server
            .call("PATCH", &format!("{ORDERS}/example/scale"), scale)
            .await;
        assert_eq!(
            (code, &scale["spec"]["replicas"]),
            (200, &json!(3)),
            "{scale}"
        );
        let (_, scaled) = server
            .call("GET", &format!("{ORDERS}/example"), Value::Null)
            .await;
        assert_eq!(scaled["spec"]["copies"], 3);
    }
}
