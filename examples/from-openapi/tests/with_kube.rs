//! kube's typed `Api` on kinds that are generated from an OpenAPI document, in the process and over the network.

use std::{collections::BTreeMap, pin::pin};

use from_openapi::marina::v1::{
    Berth, BerthMooring, BerthSpec, Boat, Booking, BookingPhase, BookingSpec, BookingStatus, Sailor, Size,
};
use futures_util::TryStreamExt;
use kindsmith::{IntOrString, ObjectMeta, Server, kube::Kube};
use kube::{
    Api, Client, Config, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::json;

fn berth() -> Berth {
    let size = Size { length: 1200, beam: 400 };
    Berth {
        metadata: named("a12"),
        spec: BerthSpec { fees: BTreeMap::new(), mooring: BerthMooring::Quay, power: None, size },
    }
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: name.to_owned(), ..ObjectMeta::default() }
}

fn booking() -> Booking {
    let boat = Boat { name: "Pequod".to_owned(), size: Size { length: 980, beam: 320 }, r#type: None };
    let crew = vec![Sailor { name: "Ishmael".to_owned(), arrives_by: Some(IntOrString::Int(4711)) }];
    let time = |text: &str| text.parse().expect("a time");
    let spec = BookingSpec {
        berth: "a12".to_owned(),
        boat,
        arrival: time("2030-06-01T15:00:00Z"),
        departure: time("2030-06-08T10:00:00Z"),
        crew,
    };
    Booking { metadata: named("pequod"), spec, status: None }
}

/// Creates, lists, patches and watches generated kinds.
async fn a_boat_is_booked_and_moored(client: Client) {
    let berths: Api<Kube<Berth>> = Api::all(client.clone());
    let bookings: Api<Kube<Booking>> = Api::namespaced(client, "default");
    berths.create(&PostParams::default(), &berth().into()).await.expect("a berth");
    let mut wrong = booking();
    wrong.spec.boat.size.length = 5_000;
    let refused = bookings.create(&PostParams::default(), &wrong.into()).await.expect_err("it does not fit");
    assert!(refused.to_string().contains("the berth a12 has room for 1180 cm"), "{refused}");

    let created = bookings.create(&PostParams::default(), &booking().into()).await.expect("a booking");
    assert_eq!(created.spec.crew[0].arrives_by, Some(IntOrString::Int(4711)));
    let found = bookings.list(&ListParams::default().fields("spec.berth=a12")).await.expect("a list");
    assert_eq!(found.items.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["pequod"]);

    let version = created.resource_version().expect("a version");
    let mut events = pin!(bookings.watch(&WatchParams::default(), &version).await.expect("a watch"));
    let status = BookingStatus { phase: Some(BookingPhase::Moored), ..BookingStatus::default() };
    let patch = Patch::Merge(json!({"status": status}));
    bookings.patch_status("pequod", &PatchParams::default(), &patch).await.expect("a status");
    let Some(WatchEvent::Modified(seen)) = events.try_next().await.expect("an event") else { panic!("modified") };
    assert_eq!(seen.status.as_ref().and_then(|status| status.phase.as_ref()), Some(&BookingPhase::Moored));
    bookings.delete("pequod", &DeleteParams::default()).await.expect("a deletion");
    let Some(WatchEvent::Deleted(gone)) = events.try_next().await.expect("an event") else { panic!("deleted") };
    assert_eq!(gone.name_any(), "pequod");
}

#[tokio::test]
async fn generated_kinds_have_an_api_of_kube_in_the_process() {
    let app = from_openapi::serve(Server::builder()).memory().build().await.expect("a server");
    a_boat_is_booked_and_moored(app.kube_client()).await;
    app.stop().await;
}

#[tokio::test]
async fn generated_kinds_have_an_api_of_kube_over_the_network() {
    let marina = Server::test().tls().configure(from_openapi::serve).start().await;
    let kubeconfig = Kubeconfig::read_from(marina.kubeconfig()).expect("a kubeconfig");
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.expect("settings");
    a_boat_is_booked_and_moored(Client::try_from(config).expect("a client")).await;
}
