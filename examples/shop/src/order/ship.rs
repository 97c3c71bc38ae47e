//! POST to `orders/NAME/ship`.

use kindsmith::{
    ApiType, ObjectMeta, Resource, Time,
    handlers::{Parent, Result},
};
use serde::{Deserialize, Serialize};

use super::Order;

/// The annotation that this example sets.
const ANNOTATION: &str = "shop.example.com/ship";

/// The request, and the answer with its status. Nothing of it is stored.
#[derive(Resource, Clone, Debug)]
#[resource(group = "shop.example.com", version = "v1", unstored)]
pub struct OrderShip {
    /// The name and namespace of the order.
    pub metadata: ObjectMeta,
    /// The request.
    pub spec: OrderShipSpec,
    /// The answer.
    pub status: Option<OrderShipStatus>,
}

/// The request to ship an order.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderShipSpec {
    /// The carrier.
    pub carrier: String,
}

/// The answer.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderShipStatus {
    /// The time of the action.
    pub time: Time,
}

/// Changes the order. If another writer was faster, the change is made again to the newer state.
///
/// # Errors
/// Those of the write. `Refusal::conflict("…")` in the change refuses an action that does not fit the state.
pub async fn ship(order: Parent<Order>, mut request: OrderShip) -> Result<OrderShip> {
    let time = Time::now();
    let change = |order: &mut Order| {
        order
            .metadata
            .annotations
            .insert(ANNOTATION.to_owned(), time.to_string());
        Ok(())
    };
    order.change(change).await?;
    request.status = Some(OrderShipStatus { time });
    Ok(request)
}

#[cfg(test)]
mod tests {
    use kindsmith::Server;
    use serde_json::{Value, json};

    use crate::order::tests::example;

    const ORDERS: &str = "/apis/shop.example.com/v1/namespaces/default/orders";

    #[tokio::test]
    async fn ship_changes_an_order() {
        let server = Server::test().configure(crate::serve).start().await;
        let (status, created) = server.call("POST", ORDERS, example()).await;
        assert_eq!(status, 201, "{created}");
        let path = format!("{ORDERS}/example/ship");
        let (status, answer) = server
            .call("POST", &path, json!({"spec": {"carrier": "a carrier"}}))
            .await;
        assert_eq!(status, 201, "{answer}");
        let (_, changed) = server
            .call("GET", &format!("{ORDERS}/example"), Value::Null)
            .await;
        assert_eq!(
            changed["metadata"]["annotations"][super::ANNOTATION],
            answer["status"]["time"]
        );
    }
}
