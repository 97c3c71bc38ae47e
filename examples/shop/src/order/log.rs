//! GET of `orders/NAME/log`: text.

use kindsmith::{
    ApiType,
    client::WatchEvent,
    handlers::{Parent, Result, Text},
};
use serde::{Deserialize, Serialize};

use super::Order;

/// The options in the query.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderLogOptions {
    /// Send a line for each further change.
    #[api(default = false)]
    pub follow: bool,
}

/// Writes a line for the state of the order and, with `?follow=true`, one for each change.
///
/// # Errors
/// If the order cannot be watched.
pub async fn log(order: Parent<Order>, options: OrderLogOptions) -> Result<Text> {
    let mut events = order.watch().await?;
    Ok(Text::written(|mut out| async move {
        while let Some(WatchEvent::Added(order) | WatchEvent::Modified(order)) =
            events.next().await.transpose()?
        {
            let metadata = &order.metadata;
            out.line(format!(
                "{}: generation {}",
                metadata.name, metadata.generation
            ))
            .await?;
            if !options.follow {
                break;
            }
        }
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use kindsmith::Server;
    use serde_json::{Value, json};

    use crate::order::tests::example;

    const ORDERS: &str = "/apis/shop.example.com/v1/namespaces/default/orders";

    #[tokio::test]
    async fn log_of_an_order_is_text() {
        let server = Server::test().configure(crate::serve).start().await;
        let (status, created) = server.call("POST", ORDERS, example()).await;
        assert_eq!(status, 201, "{created}");
        let path = format!("{ORDERS}/example/log");
        let (status, answer) = server.call("GET", &path, Value::Null).await;
        assert_eq!((status, answer), (200, json!("example: generation 1\n")));
    }
}
