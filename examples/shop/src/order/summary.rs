//! GET of `orders/NAME/summary`.

use kindsmith::{
    ApiType, ObjectMeta, Resource,
    handlers::{Parent, Result},
};
use serde::{Deserialize, Serialize};

use super::Order;

/// What is computed from the order. Nothing of it is stored.
#[derive(Resource, Clone, Debug)]
#[resource(group = "shop.example.com", version = "v1", unstored)]
pub struct OrderSummary {
    /// The name and namespace of the order.
    pub metadata: ObjectMeta,
    /// The answer.
    pub status: Option<OrderSummaryStatus>,
}

/// The answer.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderSummaryStatus {
    /// The generation of the desired state.
    pub generation: i64,
    /// The number of labels.
    pub labels: i64,
}

/// Computes the answer from the order.
///
/// # Errors
/// None here; a `Refusal` is answered with its Status.
pub async fn summary(order: Parent<Order>) -> Result<OrderSummary> {
    let labels = i64::try_from(order.metadata.labels.len()).unwrap_or(i64::MAX);
    let status = OrderSummaryStatus {
        generation: order.metadata.generation,
        labels,
    };
    Ok(OrderSummary {
        metadata: order.identity(),
        status: Some(status),
    })
}

#[cfg(test)]
mod tests {
    use kindsmith::Server;
    use serde_json::{Value, json};

    use crate::order::tests::example;

    const ORDERS: &str = "/apis/shop.example.com/v1/namespaces/default/orders";

    #[tokio::test]
    async fn summary_of_an_order_is_computed() {
        let server = Server::test().configure(crate::serve).start().await;
        let (status, created) = server.call("POST", ORDERS, example()).await;
        assert_eq!(status, 201, "{created}");
        let path = format!("{ORDERS}/example/summary");
        let (status, answer) = server.call("GET", &path, Value::Null).await;
        assert_eq!(
            (status, &answer["status"]),
            (200, &json!({"generation": 1, "labels": 0}))
        );
    }
}
