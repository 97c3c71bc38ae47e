//! The controller of orders.

use kindsmith::{
    Condition,
    client::{Client, WatchEvent},
    handlers::Result,
    meta::{options::ListOptions, set_condition},
    server::Shutdown,
};

use super::Order;

/// Reconciles an order: does what its `spec` asks for, and reports in its status. It runs for each order at the start and after
/// each change, its own included, so that it must change nothing where nothing is to be done.
///
/// # Errors
/// If a write is refused. [`run`] then begins again after a delay.
pub async fn reconcile(client: &Client, order: &Order) -> Result<()> {
    if order.metadata.deletion_timestamp.is_some() {
        return Ok(());
    }
    let ready = Condition {
        kind: "Ready".to_owned(),
        status: "True".to_owned(),
        observed_generation: Some(order.metadata.generation),
        reason: "Reconciled".to_owned(),
        ..Condition::default()
    };
    let report = |order: &mut Order| {
        set_condition(
            &mut order.status.get_or_insert_default().conditions,
            ready.clone(),
        );
        Ok(())
    };
    let orders = client.of::<Order>(&order.metadata.namespace);
    match orders.change_status(&order.metadata.name, report).await {
        // It was deleted in the meantime.
        Err(refusal) if refusal.status().is_not_found() => Ok(()),
        written => written.map(drop),
    }
}

/// Watches orders and reconciles each, until the server stops.
///
/// # Errors
/// If an order cannot be reconciled, or the watch fails. The server starts it again after a delay.
pub async fn run(client: Client, shutdown: Shutdown) -> Result<()> {
    let mut events = client
        .of::<Order>("")
        .watch(&ListOptions::default())
        .await?;
    loop {
        let event = tokio::select! {
            () = shutdown.requested() => return Ok(()),
            event = events.next() => event.transpose()?,
        };
        match event {
            Some(WatchEvent::Added(order) | WatchEvent::Modified(order)) => {
                reconcile(&client, &order).await?
            }
            Some(_) => {}
            None => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use kindsmith::{Server, client::WatchEvent, meta::options::ListOptions};

    use super::Order;
    use crate::order::tests::example;

    #[tokio::test]
    async fn an_order_becomes_ready() {
        let server = Server::test().configure(crate::serve).start().await;
        let (status, created) = server
            .call(
                "POST",
                "/apis/shop.example.com/v1/namespaces/default/orders",
                example(),
            )
            .await;
        assert_eq!(status, 201, "{created}");
        let options = ListOptions {
            timeout_seconds: Some(20),
            ..ListOptions::default()
        };
        let mut events = server
            .client()
            .of::<Order>("")
            .watch(&options)
            .await
            .expect("a watch");
        while let Some(event) = events.next().await {
            if let WatchEvent::Added(order) | WatchEvent::Modified(order) = event.expect("an event")
                && let Some(status) = order.status
                && status
                    .conditions
                    .iter()
                    .any(|condition| condition.kind == "Ready" && condition.status == "True")
            {
                return;
            }
        }
        panic!("it did not become ready in 20 seconds");
    }
}
