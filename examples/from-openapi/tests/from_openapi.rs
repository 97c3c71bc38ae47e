//! Tests of the marina, served inside the test on a free port with a memory store.

use from_openapi::marina::v1::Booking;
use kindsmith::{Resource, Server, server::TestServer};
use serde_json::{Value, json};

const BERTHS: &str = "/apis/marina.example.com/v1/berths";
const BOOKINGS: &str = "/apis/marina.example.com/v1/namespaces/default/bookings";

/// A marina with one berth.
async fn marina() -> TestServer {
    let marina = Server::test().configure(from_openapi::serve).start().await;
    let berth = json!({"metadata": {"name": "a12"}, "spec": {"size": {"length": 1200, "beam": 400}, "power": 16}});
    let (status, created) = marina.call("POST", BERTHS, berth).await;
    assert_eq!(status, 201, "{created}");
    assert_eq!(created["spec"], json!({"size": {"length": 1200, "beam": 400}, "power": "16", "mooring": "Finger"}));
    marina
}

fn booking(length: i32, departure: &str) -> Value {
    json!({"metadata": {"name": "pequod"}, "spec": {
        "berth": "a12", "boat": {"name": "Pequod", "size": {"length": length, "beam": 320}},
        "arrival": "2030-06-01T15:00:00Z", "departure": departure,
        "crew": [{"name": "Ishmael", "arrivesBy": 4711}, {"name": "Queequeg", "arrivesBy": "Kittiwake"}],
    }})
}

#[tokio::test]
async fn bookings_are_served_as_the_document_and_its_overlay_say() {
    let marina = marina().await;
    let (status, created) = marina.call("POST", BOOKINGS, booking(980, "2030-06-08T10:00:00Z")).await;
    assert_eq!(status, 201, "{created}");
    let (_, found) = marina.call("GET", &format!("{BOOKINGS}?fieldSelector=spec.berth%3Da12"), Value::Null).await;
    assert_eq!(found["items"][0]["spec"]["crew"][1], json!({"name": "Queequeg", "arrivesBy": "Kittiwake"}));
    let kind = Booking::kind();
    let columns: Vec<&str> = kind.version.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(columns, ["Berth", "Boat", "Phase", "Arrival", "Age"]);
    let mut sunk = created.clone();
    sunk["status"] = json!({"phase": "Sunk"});
    let (status, refused) = marina.call("PUT", &format!("{BOOKINGS}/pequod/status"), sunk).await;
    assert_eq!((status, &refused["details"]["causes"][0]["field"]), (422, &json!("status.phase")));
}

#[tokio::test]
async fn a_boat_that_does_not_fit_into_its_berth_is_refused_by_the_hook() {
    let marina = marina().await;
    let (status, refused) = marina.call("POST", BOOKINGS, booking(1190, "2030-06-01T14:00:00Z")).await;
    assert_eq!(status, 422);
    let causes: Vec<_> = refused["details"]["causes"].as_array().expect("causes").iter().collect();
    assert_eq!(
        causes.iter().map(|cause| &cause["field"]).collect::<Vec<_>>(),
        ["spec.departure", "spec.boat.size.length"]
    );
    assert_eq!(causes[1]["message"], "Invalid value: 1190: the berth a12 has room for 1180 cm");
    let mut elsewhere = booking(980, "2030-06-08T10:00:00Z");
    elsewhere["spec"]["berth"] = json!("z99");
    let (_, refused) = marina.call("POST", BOOKINGS, elsewhere).await;
    assert_eq!(refused["details"]["causes"][0]["message"], "Not found: \"z99\"");
}
