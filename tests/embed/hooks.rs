//! Typed hooks: with state, async, with a client and warnings, and able to refuse with any Status.
use std::{
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use kindsmith::{
    ApiType, App, Context, FieldError, FieldErrorKind, FieldPath, Hooks, ObjectMeta, Resource, Server,
    builtin::ConfigMap,
    handlers::{Refusal, Result},
    meta::Operation,
};
use kindsmith_server::http::Service;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::request::send;

const ORDERS: &str = "/apis/shop.example.com/v1/namespaces/default/orders";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// An order.
#[derive(Resource, Clone, Debug)]
#[resource(group = "shop.example.com", version = "v1", validate = Order::check)]
pub(crate) struct Order {
    pub metadata: ObjectMeta,
    pub spec: OrderSpec,
}

/// What is ordered.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OrderSpec {
    pub item: String,
    pub number: Option<i32>,
    #[api(default = "")]
    pub note: String,
}

impl Order {
    fn check(&self, _: &Context<'_, Self>) -> Vec<FieldError> {
        let path = FieldPath::new("spec").child("note");
        let rude = self.spec.note == "rude";
        rude.then(|| FieldError::new(&path, FieldErrorKind::Forbidden, "be polite")).into_iter().collect()
    }
}

/// The hooks of a shop: they count orders, read the prices in a config map, and keep a journal.
#[derive(Default)]
struct Shop {
    orders: AtomicUsize,
    journal: Arc<Mutex<Vec<String>>>,
}

impl Shop {
    fn note(&self, step: &str, context: &Context<'_, Order>) {
        let entry = format!("{step} {} by {}", context.operation.as_str(), context.user.name);
        self.journal.lock().expect("no hook panics with it").push(entry);
    }
}

impl Hooks<Order> for Shop {
    async fn set_defaults(&self, order: &mut Order, context: &Context<'_, Order>) -> Result<()> {
        self.note("default", context);
        if context.old().is_none() && order.spec.number.is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
            order.spec.number = Some(i32::try_from(self.orders.fetch_add(1, Ordering::SeqCst)).expect("few orders"));
        }
        Ok(())
    }

    async fn validate(&self, order: &Order, context: &Context<'_, Order>) -> Result<Vec<FieldError>> {
        self.note("validate", context);
        if order.spec.note == "panic" {
            tokio::task::yield_now().await;
            panic!("a hook of the user");
        }
        let prices = context.client().of::<ConfigMap>("default").get("prices").await?;
        if prices.data.contains_key(&order.spec.item) {
            return Ok(Vec::new());
        }
        context.warn("see the config map prices");
        let path = FieldPath::new("spec").child("item");
        Ok(vec![FieldError::new(&path, FieldErrorKind::Invalid(order.spec.item.as_str().into()), "has no price")])
    }

    async fn admit(&self, order: &Order, context: &Context<'_, Order>) -> Result<()> {
        self.note("admit", context);
        match (context.operation, order.spec.note.as_str()) {
            (Operation::Delete, "keep") => return Err(Refusal::forbidden("this order is kept")),
            (Operation::Create | Operation::Update, "too many") => {
                let refusal = Refusal::new(429, "TooManyRequests", "come back tomorrow");
                return Err(refusal.cause("ShopIsFull", "there are too many orders"));
            }
            _ => {}
        }
        if context.operation == Operation::Create {
            let mut receipt = ConfigMap { metadata: ObjectMeta::named("receipt"), ..ConfigMap::default() };
            receipt.data.insert("item".into(), order.spec.item.clone());
            let maps = context.client().of::<ConfigMap>("default");
            match maps.create(&receipt).await {
                Err(refusal) if refusal.status().code != 409 => return Err(refusal),
                _ => {}
            }
        }
        if order.spec.item == "old" {
            context.warn("this item is no longer made");
        }
        Ok(())
    }
}

async fn shop() -> (App, Arc<Mutex<Vec<String>>>) {
    let shop = Shop::default();
    let journal = shop.journal.clone();
    let app = Server::builder().kind_with::<Order>(shop).memory().http().build().await.expect("it starts");
    let prices = json!({"metadata": {"name": "prices"}, "data": {"tea": "3", "old": "1"}});
    assert_eq!(send(app.service(), "POST", MAPS, prices).await.code, 201);
    (app, journal)
}

fn order(name: &str, item: &str, note: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"item": item, "note": note}})
}

#[tokio::test]
async fn hooks_keep_state_wait_and_use_a_client() {
    let (app, journal) = shop().await;
    for number in 0..3 {
        let made = send(app.service(), "POST", ORDERS, order(&format!("o{number}"), "tea", "")).await;
        assert_eq!((made.code, &made.body["spec"]["number"]), (201, &json!(number)), "{made:?}");
    }
    let entries = std::mem::take(&mut *journal.lock().expect("no hook panics with it"));
    let of_one = ["default CREATE by ada", "validate CREATE by ada", "admit CREATE by ada"];
    assert_eq!(entries, [of_one, of_one, of_one].concat());
    assert_eq!(send(app.service(), "GET", &format!("{MAPS}/receipt"), Value::Null).await.body["data"]["item"], "tea");

    let refused = send(app.service(), "POST", ORDERS, order("x", "coffee", "")).await;
    let cause = json!([{"reason": "FieldValueInvalid", "message": "Invalid value: \"coffee\": has no price", "field": "spec.item"}]);
    assert_eq!((refused.code, &refused.body["details"]["causes"]), (422, &cause));
    assert_eq!(refused.warnings, ["299 - \"see the config map prices\""], "refusals carry warnings, too");
    let refused = send(app.service(), "POST", ORDERS, order("x", "tea", "rude")).await;
    assert_eq!((refused.code, &refused.body["details"]["causes"][0]["field"]), (422, &json!("spec.note")));

    let at = format!("{ORDERS}/o1");
    let changed = send(app.service(), "PATCH", &at, json!({"spec": {"item": "old"}})).await;
    assert_eq!((changed.code, &changed.body["spec"]["number"]), (200, &json!(1)));
    assert_eq!(changed.warnings, ["299 - \"this item is no longer made\""]);
    app.stop().await;
}

#[tokio::test]
async fn a_hook_refuses_writes_and_deletions_with_its_own_status() {
    let (app, _) = shop().await;
    let refused = send(app.service(), "POST", ORDERS, order("a", "tea", "too many")).await;
    let cause = json!([{"reason": "ShopIsFull", "message": "there are too many orders"}]);
    assert_eq!((refused.code, &refused.body["reason"]), (429, &json!("TooManyRequests")));
    assert_eq!((&refused.body["message"], &refused.body["details"]["causes"]), (&json!("come back tomorrow"), &cause));

    assert_eq!(send(app.service(), "POST", ORDERS, order("kept", "tea", "keep")).await.code, 201);
    let at = format!("{ORDERS}/kept");
    for path in [at.as_str(), ORDERS] {
        let refused = send(app.service(), "DELETE", path, Value::Null).await;
        let message = "orders.shop.example.com \"kept\" is forbidden: this order is kept";
        assert_eq!((refused.code, &refused.body["message"]), (403, &json!(message)), "{path}");
    }
    assert_eq!(send(app.service(), "PATCH", &at, json!({"spec": {"note": ""}})).await.code, 200);
    assert_eq!(send(app.service(), "DELETE", &at, Value::Null).await.code, 200);
    // The price list is missing, so the client's own refusal is the answer.
    assert_eq!(send(app.service(), "DELETE", &format!("{MAPS}/prices"), Value::Null).await.code, 200);
    let refused = send(app.service(), "POST", ORDERS, order("a", "tea", "")).await;
    assert_eq!((refused.code, &refused.body["details"]["name"]), (404, &json!("prices")));
    app.stop().await;
}

#[tokio::test]
async fn a_dry_run_stores_nothing_through_the_client_of_a_hook() {
    let (app, _) = shop().await;
    let dry = format!("{ORDERS}?dryRun=All");
    assert_eq!(send(app.service(), "POST", &dry, order("a", "tea", "")).await.code, 201);
    for path in [format!("{ORDERS}/a"), format!("{MAPS}/receipt")] {
        assert_eq!(send(app.service(), "GET", &path, Value::Null).await.code, 404, "{path}");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_panic_of_a_hook_that_has_waited_answers_with_500() {
    let (app, _) = shop().await;
    for _ in 0..3 {
        assert_eq!(send(app.service(), "POST", ORDERS, order("a", "tea", "panic")).await.code, 500);
    }
    assert_eq!(send(app.service(), "POST", ORDERS, order("a", "tea", "")).await.code, 201);
    app.stop().await;
}

/// Hooks that send a message for each write.
struct Messages;

impl Hooks<Order> for Messages {
    fn has_side_effects(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn hooks_with_side_effects_refuse_a_dry_run() {
    let app = Server::builder().kind_with::<Order>(Messages).memory().http().build().await.expect("it starts");
    let at = format!("{ORDERS}/a");
    assert_eq!(send(app.service(), "POST", ORDERS, order("a", "tea", "")).await.code, 201);
    for (method, path) in [("POST", ORDERS), ("PATCH", &at), ("DELETE", &at), ("DELETE", ORDERS)] {
        let body = if method == "DELETE" { Value::Null } else { order("a", "tea", "new") };
        let refused = send(app.service(), method, &format!("{path}?dryRun=All"), body).await;
        let message = "the hooks of \"orders.shop.example.com\" do not support dry run";
        assert_eq!((refused.code, &refused.body["message"]), (400, &json!(message)), "{method} {path}");
    }
    let kept = send(app.service(), "GET", &at, Value::Null).await;
    assert_eq!((kept.code, &kept.body["spec"]["note"]), (200, &json!("")));
    app.stop().await;
}

/// Hooks that store a large config map by a request to this server before each write.
#[derive(Clone, Default)]
struct Large(Arc<OnceLock<Service>>);

impl Hooks<Order> for Large {
    async fn validate(&self, order: &Order, _: &Context<'_, Order>) -> Result<Vec<FieldError>> {
        let map = json!({"metadata": {"generateName": "m-"}, "data": {"k": order.spec.note}});
        let service = self.0.get().expect("it has started").clone();
        let stored = send(service, "POST", MAPS, map).await;
        if stored.code == 201 { Ok(Vec::new()) } else { Err(Refusal::internal(stored.body.to_string())) }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_writes_whose_hooks_wait_for_large_writes_do_not_block_each_other() {
    let hooks = Large::default();
    let builder = Server::builder().kind_with::<Order>(hooks.clone()).memory().http();
    let app = builder.build().await.expect("it starts");
    assert!(hooks.0.set(app.service()).is_ok());
    let large = "x".repeat(200_000);
    // More than there are slots for large writes on any machine that tests this with few cores.
    let cores = std::thread::available_parallelism().map_or(2, Into::into);
    let writes: Vec<_> = (0..2 * cores)
        .map(|number| {
            let (service, order) = (app.service(), order(&format!("o{number}"), "tea", &large));
            tokio::spawn(async move { send(service, "POST", ORDERS, order).await.code })
        })
        .collect();
    for write in writes {
        let code = tokio::time::timeout(Duration::from_mins(1), write).await.expect("no write waits for ever");
        assert_eq!(code.expect("no panic"), 201);
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_one_object_all_succeed_although_their_hooks_wait() {
    let (app, _) = shop().await;
    assert_eq!(send(app.service(), "POST", ORDERS, order("a", "tea", "")).await.code, 201);
    let writes: Vec<_> = (0..16)
        .map(|number| {
            let (service, label) = (app.service(), json!({"metadata": {"labels": {format!("l{number}"): "yes"}}}));
            let path = format!("{ORDERS}/a");
            tokio::spawn(async move { send(service, "PATCH", &path, label).await.code })
        })
        .collect();
    for write in writes {
        assert_eq!(write.await.expect("no panic"), 200);
    }
    let labels =
        send(app.service(), "GET", &format!("{ORDERS}/a"), Value::Null).await.body["metadata"]["labels"].clone();
    assert_eq!(labels.as_object().map(serde_json::Map::len), Some(16));
    app.stop().await;
}
