//! Admission of handlers' documents and of connections.
use std::sync::{Arc, Mutex};

use kindsmith::{
    ApiType, App, ObjectMeta, Resource, Server,
    admission::{Admission, Attributes, Document, Operation},
    handlers::{self, Parent, Refusal, Result, Session},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    admission::{FLEETS, Fleet, Journal, fleet, note, taken},
    request::send,
};

/// Where a fleet lies.
#[derive(Resource, Clone, Debug)]
#[resource(group = "sea.example.com", version = "v1", unstored)]
struct Berth {
    metadata: ObjectMeta,
    spec: BerthSpec,
}

/// The place.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct BerthSpec {
    port: String,
}

/// How to board.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct Boarding {
    #[api(default = 1, minimum = 1)]
    people: i32,
}

async fn board(_: Parent<Fleet>, boarding: Boarding) -> Result<Session> {
    Err(Refusal::new(418, "Teapot", format!("{} came", boarding.people)))
}

/// Notes each operation, and changes the parameters of connections.
struct Harbour {
    journal: Journal,
    change: fn(&mut Document),
}

impl Admission for Harbour {
    async fn admit(&self, attributes: &Attributes<'_>, object: &mut Document) -> Result<()> {
        match attributes.operation {
            Operation::Connect => (self.change)(object),
            operation if attributes.subresource == "berth" => {
                let old = attributes.old.map_or("nothing", |old| old["spec"]["port"].as_str().unwrap_or_default());
                note(&self.journal, format!("{} {old}", operation.as_str()));
            }
            _ => {}
        }
        Ok(())
    }
}

async fn app(plugin: impl Admission) -> App {
    let place = Arc::new(Mutex::new(None::<Berth>));
    let read = place.clone();
    let get = move |_: Parent<Fleet>| {
        let found = read.lock().expect("no panics").clone();
        async move { found.ok_or_else(|| Refusal::not_found("it is at sea")) }
    };
    let put = move |_: Parent<Fleet>, berth: Berth| {
        *place.lock().expect("no panics") = Some(berth.clone());
        async move { Ok(berth) }
    };
    let builder = Server::builder().memory().http().kind::<Fleet>().admission(plugin);
    let builder = builder.subresource::<Fleet>("berth", handlers::get(get).put(put));
    let app = builder.subresource::<Fleet>("board", handlers::exec(board)).build().await.expect("it starts");
    assert_eq!(send(app.service(), "POST", FLEETS, fleet("a", 1)).await.code, 201);
    app
}

#[tokio::test]
async fn a_put_of_a_document_that_does_not_exist_is_admitted_as_a_creation() {
    let journal = Journal::default();
    let app = app(Harbour { journal: journal.clone(), change: |_| () }).await;
    let berth = |port: &str| json!({"metadata": {"name": "a"}, "spec": {"port": port}});
    for (port, expected) in [("Kiel", "CREATE nothing"), ("Bergen", "UPDATE Kiel")] {
        let answer = send(app.service(), "PUT", &format!("{FLEETS}/a/berth"), berth(port)).await;
        assert_eq!((answer.code, &answer.body["spec"]["port"]), (200, &json!(port)), "{answer:?}");
        assert_eq!(taken(&journal), [expected]);
    }
    let missing = send(app.service(), "PUT", &format!("{FLEETS}/b/berth"), berth("Kiel")).await;
    assert_eq!((missing.code, &missing.body["details"]["name"]), (404, &json!("b")), "the fleet must exist");
    app.stop().await;
}

/// A change of parameters, and the code and a part of the message of the answer.
type Case = (fn(&mut Document), u16, &'static str);

#[tokio::test]
async fn parameters_of_a_connection_that_a_plugin_has_changed_are_checked() {
    let cases: [Case; 5] = [
        (|options| options["people"] = json!(3), 418, "3 came"),
        (|options| *options = json!({"crew": 5}), 418, "1 came"),
        (|options| options["people"] = json!(0), 422, "should be greater than or equal to 1"),
        (|options| options["people"] = json!("many"), 500, "admission has left invalid parameters"),
        (|options| *options = json!([]), 500, "admission has left invalid parameters"),
    ];
    for (change, code, message) in cases {
        let app = app(Harbour { journal: Journal::default(), change }).await;
        let answer = send(app.service(), "GET", &format!("{FLEETS}/a/board?stdin=true&people=2"), Value::Null).await;
        assert_eq!(answer.code, code, "{answer:?}");
        assert!(answer.body["message"].as_str().is_some_and(|text| text.contains(message)), "{answer:?}");
        app.stop().await;
    }
}

#[tokio::test]
async fn a_dry_run_of_a_connection_is_refused() {
    let app = app(Harbour { journal: Journal::default(), change: |_| () }).await;
    for (query, code, message) in [
        ("dryRun=", 418, "1 came"),
        ("dryRun=All", 400, "connections do not support dry run"),
        ("dryRun=Some", 422, "Unsupported value"),
    ] {
        let answer = send(app.service(), "GET", &format!("{FLEETS}/a/board?stdin=true&{query}"), Value::Null).await;
        assert_eq!(answer.code, code, "{query}: {answer:?}");
        assert!(answer.body["message"].as_str().is_some_and(|text| text.contains(message)), "{answer:?}");
    }
    app.stop().await;
}
