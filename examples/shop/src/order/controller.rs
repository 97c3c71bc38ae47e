//! The controller of orders, with kube-rs.

use std::{convert::Infallible, future::ready, sync::Arc};

use futures_util::StreamExt;
use kindsmith::{
    Condition,
    kube::Kube,
    meta::set_condition,
    server::{ControllerContext, Shutdown},
};
use kube::{
    Api, Client, ResourceExt,
    api::PostParams,
    runtime::{
        Controller,
        controller::{Action, Config},
        reflector::ObjectRef,
        watcher,
    },
};

use super::Order;

/// How many orders are reconciled at a time.
const CONCURRENCY: u16 = 32;

/// Reconciles an order: does what its `spec` asks for, and reports in its status. It runs for each order at the start and after
/// each change, its own included, so that it must change nothing where nothing is to be done.
///
/// # Errors
/// If a write is refused. It then runs again after a delay, which grows with each failure; other orders do not wait.
async fn reconcile(order: Arc<Kube<Order>>, client: Arc<Client>) -> Result<Action, kube::Error> {
    if order.metadata.deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let ready = Condition {
        kind: "Ready".to_owned(),
        status: "True".to_owned(),
        observed_generation: order.metadata.generation,
        reason: "Reconciled".to_owned(),
        ..Condition::default()
    };
    let mut changed = (*order).clone();
    set_condition(
        &mut changed.status.get_or_insert_default().conditions,
        ready,
    );
    let api: Api<Kube<Order>> =
        Api::namespaced((*client).clone(), &order.namespace().unwrap_or_default());
    match api
        .replace_status(&order.name_any(), &PostParams::default(), &changed)
        .await
    {
        // It was changed or deleted in the meantime. A change is reconciled again.
        Err(kube::Error::Api(status)) if status.is_conflict() || status.is_not_found() => {
            Ok(Action::await_change())
        }
        written => written.map(|_| Action::await_change()),
    }
}

/// Watches orders and reconciles each, until the server stops.
///
/// # Errors
/// Never. kube's watches begin again by themselves after errors.
pub async fn run(context: ControllerContext, shutdown: Shutdown) -> Result<(), Infallible> {
    let (client, failures) = (context.kube_client(), context.failures());
    let retry = |order: Arc<Kube<Order>>, error: &kube::Error, _| {
        Action::requeue(failures.failed(ObjectRef::from_obj(&*order), error))
    };
    Controller::new(
        Api::<Kube<Order>>::all(client.clone()),
        watcher::Config::default(),
    )
    .with_config(Config::default().concurrency(CONCURRENCY))
    .graceful_shutdown_on(shutdown.requested())
    .run(reconcile, retry, Arc::new(client))
    .for_each(|reconciled| {
        if let Ok((order, _)) = reconciled {
            failures.succeeded(order);
        }
        ready(())
    })
    .await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use kindsmith::{Server, client::WatchEvent, meta::options::ListOptions};

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
            .of::<crate::order::Order>("")
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
