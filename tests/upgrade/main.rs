//! Data directories of earlier programs are opened: every object, revision and past change is as it was.
//!
//! `format-2` was written by the program of 23 November 2026 and closed cleanly. `expected.json` is what that program
//! answered before: lists, watches from its first revision on, and a list at a past revision.

use std::{
    fs,
    io::Read,
    path::Path,
    time::{Duration, Instant},
};

use axum::body::Body;
use flate2::read::GzDecoder;
use http_body_util::BodyExt;
use hyper::{Request, StatusCode};
use kindsmith::{App, Server};
use kindsmith_tests::Folder;
use serde_json::Value;
use tower::ServiceExt;

/// A copy of a directory under test data, as it was.
fn copy(name: &str) -> Folder {
    let folder = Folder::new(&format!("upgrade-{name}"));
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("upgrade").join(name);
    let mut store = Vec::new();
    let packed = fs::File::open(from.join("store.redb.gz")).expect("test data");
    GzDecoder::new(packed).read_to_end(&mut store).expect("test data");
    let files = [("store.redb", store)].into_iter();
    let others = ["FORMAT", "HEAD"].map(|file| (file, fs::read(from.join(file)).expect("test data")));
    for (file, content) in files.chain(others) {
        let file = folder.path().join(file);
        fs::write(&file, content).expect("the temporary folder takes files");
        fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("the file is ours");
    }
    folder
}

/// Opens a directory, and keeps history whatever its age.
async fn open(folder: &Folder) -> App {
    let keep = |limits: &mut kindsmith::server::Limits| limits.store.history_age = Duration::from_secs(1 << 40);
    let server = Server::builder().definitions().without_builtin_controllers().data_dir(folder.path()).limits(keep);
    server.build().await.expect("a server")
}

async fn get(app: &App, path: &str) -> (StatusCode, Vec<u8>) {
    let token = app.admin_token().expect("an admin");
    let request =
        Request::get(path).header("authorization", format!("Bearer {token}")).body(Body::empty()).expect("a request");
    let answer = app.service().oneshot(request).await.unwrap_or_else(|never| match never {});
    (answer.status(), answer.into_body().collect().await.expect("a body").to_bytes().to_vec())
}

async fn list(app: &App, path: &str) -> Value {
    let start = Instant::now();
    loop {
        // Definitions are served soon after the start.
        match get(app, path).await {
            (StatusCode::OK, body) => return serde_json::from_slice(&body).expect("JSON"),
            (status, _) => assert!(start.elapsed() < Duration::from_secs(20), "{path}: {status}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The revision of a list.
fn revision(list: &Value) -> u64 {
    list["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).expect("a number")
}

async fn watch(app: &App, path: &str, after: &str) -> Vec<Value> {
    let (_, body) = get(app, &format!("{path}?watch=1&resourceVersion={after}&timeoutSeconds=1")).await;
    serde_json::Deserializer::from_slice(&body).into_iter().map(|event| event.expect("JSON")).collect()
}

#[tokio::test]
async fn a_directory_of_format_2_has_every_object_revision_and_past_change() {
    let folder = copy("format-2");
    let expected: serde_json::Map<String, Value> =
        serde_json::from_str(include_str!("format-2/expected.json")).unwrap();
    // The second time, the directory was written by this program.
    for _ in 0..2 {
        let app = open(&folder).await;
        let (mut objects, mut events) = (0, 0);
        for (path, expected) in expected.iter().filter(|(path, _)| path.starts_with('/')) {
            let found = list(&app, path).await;
            assert_eq!(found["items"], expected["list"]["items"], "{path}");
            // The start adds the default roles and bindings.
            assert!(revision(&found) >= revision(&expected["list"]), "{path}");
            let found = watch(&app, path, expected["after"].as_str().unwrap()).await;
            assert_eq!(Value::from(found), expected["watch"], "{path}");
            objects += expected["list"]["items"].as_array().unwrap().len();
            events += expected["watch"].as_array().unwrap().len();
        }
        assert_eq!((objects, events), (35, 45), "deleted and replaced objects are among the events");
        let past = &expected["past"];
        let path = format!(
            "{}?resourceVersion={}&resourceVersionMatch=Exact",
            past["path"].as_str().unwrap(),
            past["at"].as_str().unwrap()
        );
        assert_eq!(list(&app, &path).await["items"], past["list"]["items"], "{path}");
        app.stop().await;
    }
}
