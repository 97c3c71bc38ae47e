//! Requests without a socket: through the service, and through the typed client.

use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Bytes};
use kindsmith::{App, ObjectMeta, Server, auth::User, builtin::ConfigMap};
use serde_json::Value;
use tower::{Service, ServiceExt};

use super::app;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn answer(app: &App, request: Request<Full<Bytes>>) -> (u16, Value) {
    let answer: Response<_> = app.service().oneshot(request).await.unwrap_or_else(|never| match never {});
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.expect("a whole answer").to_bytes();
    (status, serde_json::from_slice(&body).expect("JSON"))
}

fn get(path: &str) -> hyper::http::request::Builder {
    Request::get(path)
}

fn post(token: &str, body: &Value) -> Request<Full<Bytes>> {
    let request = Request::post(MAPS).header("content-type", "application/json");
    request.header("authorization", format!("Bearer {token}")).body(body.to_string().into()).expect("a request")
}

#[tokio::test]
async fn the_service_and_the_client_show_the_same_objects_without_a_socket() {
    let app = app().await;
    let token = app.admin_token().expect("the server made an admin").to_owned();
    let sent = serde_json::json!({"metadata": {"name": "a"}, "data": {"from": "the service"}});
    let (status, made) = answer(&app, post(&token, &sent)).await;
    assert_eq!((status, &made["data"]["from"]), (201, &"the service".into()));

    let maps = app.client().of::<ConfigMap>("default");
    assert_eq!(maps.get("a").await.expect("it is there").data["from"], "the service");
    let mut map = ConfigMap { metadata: ObjectMeta::named("b"), ..ConfigMap::default() };
    map.data.insert("from".into(), "the client".into());
    maps.create(&map).await.expect("it is new");

    let request = get(MAPS).header("authorization", format!("Bearer {token}")).body(Full::default());
    let (status, list) = answer(&app, request.expect("a request")).await;
    let names: Vec<&Value> = list["items"].as_array().expect("items").iter().map(|i| &i["metadata"]["name"]).collect();
    assert_eq!((status, names), (200, vec![&"a".into(), &"b".into()]));
    app.stop().await;
}

#[tokio::test]
async fn a_request_is_authenticated_and_authorized_without_a_socket_too() {
    let app = app().await;
    let request = |user: Option<User>, token: Option<&str>| {
        let mut request = get("/api/v1/namespaces");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if let Some(user) = user {
            // As a layer does that has authenticated the user by itself.
            request = request.extension(Arc::new(user));
        }
        request.body(Full::default()).expect("a request")
    };
    let admin = app.admin_token();
    for (user, token, status) in [
        (None, admin, 200),
        (None, None, 403),
        (None, Some("wrong"), 401),
        (Some(User::new("alice", &[])), None, 403),
        (Some(User::new("alice", &[])), admin, 403),
        (Some(User::new("root", &[User::MASTERS])), None, 200),
    ] {
        let (answered, body) = answer(&app, request(user.clone(), token)).await;
        assert_eq!(answered, status, "{user:?}: {body}");
        if user.is_some_and(|user| user.name == "alice") {
            let message = body["message"].as_str().expect("a message");
            assert!(message.contains("User \"alice\" cannot list resource \"namespaces\""), "{message}");
        }
    }
}

#[tokio::test]
async fn a_stopped_app_writes_nothing_and_leaves_its_directory_to_the_next() {
    let folder = kindsmith_tests::Folder::new("embed");
    let build = || Server::builder().data_dir(folder.path().join("data")).build();
    let first = build().await.expect("it starts");
    let (token, mut service) = (first.admin_token().expect("an admin").to_owned(), first.service());
    first.stop().await;
    let sent = serde_json::json!({"metadata": {"name": "late"}});
    let refused = service.call(post(&token, &sent)).await.unwrap_or_else(|never| match never {});
    assert_eq!(refused.status(), 503);
    let error = build().await.err().expect("the service still reads there").to_string();
    assert!(error.contains("in use"), "{error}");
    drop((service, refused));

    let second = build().await.expect("the directory is free");
    assert_eq!(second.admin_token(), Some(token.as_str()));
    assert!(second.client().of::<ConfigMap>("default").get("late").await.is_err());
}
