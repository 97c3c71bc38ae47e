//! Tests of the bakery, served inside the test on a free port with a memory store.

use kindsmith::{Server, server::TestServer};
use serde_json::{Value, json};

const ORDERS: &str = "/apis/bakery.example.com/v1/namespaces/default/orders";

async fn bakery() -> TestServer {
    Server::test().configure(from_crd::serve).start().await
}

fn order(items: &Value) -> Value {
    json!({
        "apiVersion": "bakery.example.com/v1", "kind": "Order",
        "metadata": {"name": "breakfast"}, "spec": {"customer": "Ishmael", "items": items},
    })
}

#[tokio::test]
async fn an_order_is_checked_and_filled_as_the_manifest_says() {
    let bakery = bakery().await;
    let (status, created) = bakery.call("POST", ORDERS, order(&json!([{"name": "rye"}]))).await;
    assert_eq!(status, 201, "{created}");
    assert_eq!(created["spec"], json!({"customer": "Ishmael", "items": [{"name": "rye", "count": 1}]}));
    let (status, refused) = bakery.call("POST", ORDERS, order(&json!([]))).await;
    assert_eq!((status, &refused["details"]["causes"][0]["field"]), (422, &json!("spec.items")));
    let (_, found) = bakery.call("GET", &format!("{ORDERS}?fieldSelector=spec.customer%3DIshmael"), Value::Null).await;
    assert_eq!(found["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn an_order_that_does_not_fit_into_the_oven_is_refused_by_the_hook() {
    let bakery = bakery().await;
    let large = order(&json!([{"name": "rye", "count": 60}, {"name": "baguette", "count": 41}]));
    let (status, refused) = bakery.call("POST", ORDERS, large).await;
    assert_eq!(status, 422);
    let message = &refused["details"]["causes"][0]["message"];
    assert_eq!(message, "Invalid value: 101: an order has at most 100 breads");
}

#[tokio::test]
async fn fields_that_the_type_of_the_hook_does_not_have_are_kept() {
    let bakery = bakery().await;
    let mut order = order(&json!([{"name": "rye", "count": 99}]));
    order["spec"]["pickup"] = json!("2030-01-01T08:00:00Z");
    let (_, created) = bakery.call("POST", ORDERS, order).await;
    assert_eq!(created["spec"]["pickup"], "2030-01-01T08:00:00Z");
}

#[tokio::test]
async fn a_hook_for_a_kind_that_nothing_defines_keeps_the_server_from_starting() {
    let oven = from_crd::Oven { room: 1 };
    let server = Server::builder().memory().hooks::<from_crd::Order>("bakery.example.com/v1", "Order", oven);
    let Err(error) = server.build().await else { panic!("it starts") };
    assert!(error.to_string().contains("no kind Order in bakery.example.com/v1"), "{error}");
}
