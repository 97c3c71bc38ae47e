//! The service below a prefix of someone's axum application: with layers, a listener and a shutdown that are not ours.

use std::time::Duration;

use axum::{Router, extract::Request, middleware, response::Response, routing::get};
use kindsmith::App;
use kindsmith_tests::Client;
use serde_json::json;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle, time::timeout};

use super::app;

const PATIENCE: Duration = Duration::from_secs(20);

/// A layer of the application's.
async fn mark(request: Request, next: middleware::Next) -> Response {
    let path = request.uri().path().to_owned();
    let mut answer = next.run(request).await;
    answer.headers_mut().insert("x-application", path.parse().expect("a path is a header"));
    answer
}

/// An application that has the API below `/k8s`, beside a page of its own.
struct Application {
    url: String,
    token: String,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Application {
    async fn serve(app: App) -> Self {
        let token = app.admin_token().expect("an admin").to_owned();
        let router = Router::new()
            .route("/", get(|| async { "a page" }))
            .nest_service("/k8s", app.service())
            .layer(middleware::from_fn(mark));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (stop, stopped) = oneshot::channel();
        let stopping = async {
            let _ = stopped.await;
            app.stop().await;
        };
        let serving = tokio::spawn(axum::serve(listener, router).with_graceful_shutdown(stopping).into_future());
        Self { url, token, stop, serving }
    }

    fn client(&self) -> Client {
        Client::new(&self.url, &self.token)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_application_has_the_api_below_a_prefix_under_its_own_layers() {
    let application = Application::serve(app().await).await;
    let mut client = application.client();
    assert_eq!(client.get("/").await.expect("a page").body, "a page");
    for path in ["/k8s/", "/k8s/api", "/k8s/apis", "/k8s/readyz", "/k8s/openapi/v3", "/k8s/version"] {
        let answer = client.get(path).await.expect("an answer");
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.headers["x-application"], path);
    }
    let maps = "/k8s/api/v1/namespaces/default/configmaps";
    let map = json!({"metadata": {"name": "a"}, "data": {"k": "v"}});
    assert_eq!(client.json("POST", maps, &map).await.expect("an answer").status, 201);
    let found = client.get(&format!("{maps}/a")).await.expect("an answer");
    assert_eq!((found.status, &found.json()["data"]), (200, &json!({"k": "v"})));
    assert_eq!(client.get("/api/v1/namespaces").await.expect("an answer").status, 404, "nothing of it is elsewhere");
    let anonymous = Client::new(&application.url, "").get(maps).await.expect("an answer");
    assert_eq!(anonymous.status, 403, "the server's own authenticators are asked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_documents_of_openapi_are_found_below_the_prefix_as_kubectl_looks_for_them() {
    let application = Application::serve(app().await).await;
    let mut client = application.client();
    let index = client.get("/k8s/openapi/v3").await.expect("an answer").json();
    let document = index["paths"]["api/v1"]["serverRelativeURL"].as_str().expect("a document of the core group");
    // client-go puts the prefix of its server's URL before a URL that does not begin with it.
    assert!(document.starts_with("/openapi/v3/api/v1?hash="), "{document}");
    assert_eq!(client.get(&format!("/k8s{document}")).await.expect("an answer").status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shutdown_of_the_application_ends_watches_after_whole_events_and_then_itself() {
    let application = Application::serve(app().await).await;
    let mut client = application.client();
    let maps = "/k8s/api/v1/namespaces/default/configmaps";
    let mut events = client.watch(&format!("{maps}?watch=true")).await.expect("a watch");
    let map = json!({"metadata": {"name": "a"}});
    assert_eq!(client.json("POST", maps, &map).await.expect("an answer").status, 201);
    let event = events.next().await.expect("an event").expect("no end");
    assert_eq!(event["object"]["metadata"]["name"], "a");
    application.stop.send(()).expect("it listens");
    let end = timeout(PATIENCE, events.next()).await.expect("the watch ends").expect("nothing is cut off");
    assert_eq!(end, None);
    drop((client, events));
    timeout(PATIENCE, application.serving).await.expect("it ends").expect("no panic").expect("no error");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_runs_on_a_listener_and_until_a_future_that_the_program_brings() {
    let app = app().await;
    let mut service = app.service();
    let token = app.admin_token().expect("an admin").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(app.run(listener, async { drop(stopped.await) }));
    let mut client = Client::new(&url, &token);
    assert_eq!(client.get("/readyz").await.expect("an answer").status, 200);
    let mut events = client.watch("/api/v1/namespaces?watch=true").await.expect("a watch");
    stop.send(()).expect("it runs");
    while timeout(PATIENCE, events.next()).await.expect("the watch ends").expect("nothing is cut off").is_some() {}
    timeout(PATIENCE, running).await.expect("it ends").expect("no panic").expect("no error");
    assert!(client.get("/readyz").await.is_err(), "the port is closed");
    let request = hyper::Request::get("/readyz").body(axum::body::Body::empty()).expect("a request");
    let answer = tower::Service::call(&mut service, request).await.unwrap_or_else(|never| match never {});
    assert_eq!(answer.status(), 500, "a stopped server is not ready");
}
