//! Rules that programs keep in objects: a change on one server counts on all within a second.
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use super::*;
use crate::{
    auth::{self, Authorize, Decision, Soon},
    client::WatchEvent,
    handlers::Refusal,
    meta::{Operation, options::ListOptions},
    schema::Document,
    verbs::admission::{Admission, Attributes},
};

/// Denies everything to the users that the config map `denied` names. Each server follows it.
#[derive(Clone, Default)]
struct Denied(Arc<Mutex<BTreeMap<String, String>>>);

impl Authorize for Denied {
    fn authorize<'a>(&'a self, attributes: &'a auth::Attributes<'a>) -> Soon<'a, Decision> {
        let denied = self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&attributes.user.name);
        Soon::now(if denied { Decision::Deny("denied".to_owned()) } else { Decision::ALLOW })
    }
}

impl Denied {
    async fn follow(self, app: &App) {
        let mut watch = app.client().of::<ConfigMap>("default").watch(&ListOptions::default()).await.unwrap();
        tokio::spawn(async move {
            while let Some(Ok(event)) = watch.next().await {
                if let WatchEvent::Added(map) | WatchEvent::Modified(map) = event
                    && map.metadata.name == "denied"
                {
                    *self.0.lock().unwrap_or_else(PoisonError::into_inner) = map.data;
                }
            }
        });
    }
}

/// Keeps what the config map `kept` names.
struct Kept;

impl Admission for Kept {
    fn handles(&self, operation: Operation) -> bool {
        operation == Operation::Delete
    }

    async fn validate(&self, attributes: &Attributes<'_>, _: &Document) -> crate::handlers::Result<()> {
        match attributes.client().of::<ConfigMap>(attributes.namespace).get("kept").await {
            Ok(map) if map.data.contains_key(attributes.name) => Err(Refusal::forbidden("it is kept")),
            _ => Ok(()),
        }
    }
}

async fn server(several: &Several) -> App {
    let (denied, store) = (Denied::default(), several.server(Lag::For(Duration::from_millis(100))));
    let builder = Server::builder().store(store).http().authorizer(denied.clone()).admission(Kept);
    let app = builder.build().await.unwrap();
    denied.follow(&app).await;
    app
}

async fn code(app: &App, name: &str, method: &str, path: &str) -> u16 {
    let user = User { name: name.to_owned(), ..User::default() };
    http::call(&app.service(), Caller::User(&user), method, path, &Value::Null).await.code
}

fn map(name: &str, data: &[&str]) -> ConfigMap {
    let data = data.iter().map(|&key| (key.to_owned(), String::new())).collect();
    ConfigMap { metadata: ObjectMeta::named(name), data, ..ConfigMap::default() }
}

#[tokio::test]
async fn a_change_of_authorization_on_one_server_reaches_all_within_a_second() {
    const MAPS: &str = "/api/v1/namespaces/default/configmaps";
    let several = Several::new();
    let apps = [server(&several).await, server(&several).await, server(&several).await];
    let maps = apps[0].client().of::<ConfigMap>("default");
    let mut rule = maps.create(&map("denied", &[])).await.unwrap();
    for (denied, allowed) in [("bob", "ann"), ("ann", "bob")] {
        let changed = Instant::now();
        rule.data = BTreeMap::from([(denied.to_owned(), String::new())]);
        rule = maps.replace("denied", &rule).await.unwrap();
        for app in &apps {
            until("all deny it", || async { code(app, denied, "GET", MAPS).await == 403 }).await;
            assert_eq!(code(app, allowed, "GET", MAPS).await, 200);
        }
        assert!(changed.elapsed() < Duration::from_secs(1), "{:?}", changed.elapsed());
    }
    for app in apps {
        app.stop().await;
    }
}

#[tokio::test]
async fn a_change_of_admission_on_one_server_counts_on_all_at_once() {
    let several = Several::new();
    let (first, second) = (server(&several).await, server(&several).await);
    let (of_first, of_second) = (first.client().of::<ConfigMap>("default"), second.client().of::<ConfigMap>("default"));
    for name in ["a", "b"] {
        of_first.create(&map(name, &[])).await.unwrap();
    }
    of_first.create(&map("kept", &["a"])).await.unwrap();
    let path = |name: &str| format!("/api/v1/namespaces/default/configmaps/{name}");
    assert_eq!(code(&second, "ann", "DELETE", &path("a")).await, 403, "the rule is acknowledged");
    assert_eq!(code(&second, "ann", "DELETE", &path("b")).await, 200);
    let mut kept = of_second.get("kept").await.unwrap();
    kept.data.clear();
    of_second.replace("kept", &kept).await.unwrap();
    assert_eq!(code(&first, "ann", "DELETE", &path("a")).await, 200);
    first.stop().await;
    second.stop().await;
}
