//! Stored objects of definitions whose versions a webhook converts: other storage versions, and selectable fields.
use std::time::Duration;

use kindsmith::Server;
use kindsmith_tests::{Client, Folder};
use serde_json::{Value, json};

use super::{
    applied::{call, merge, until},
    converter::{Converter, Manner},
    webhook::{DEFINITION, V1, V2, crates, create, get, of_v1, of_v2, serve},
};

#[tokio::test]
async fn a_changed_conversion_takes_effect_and_a_new_storage_version_converts_what_is_stored() {
    let (_server, mut client, converter) = serve().await;
    create(&mut client, V1, &of_v1("a", "1x2")).await;
    create(&mut client, V1, &of_v1("b", "3x4")).await;
    get(&mut client, V2).await;
    let mut versions = crates(&Value::Null)["spec"]["versions"].clone();
    versions[0]["storage"] = json!(false);
    versions[1]["storage"] = json!(true);
    converter.calls();
    let (status, changed) = merge(&mut client, DEFINITION, json!({"spec": {"versions": versions}})).await;
    assert_eq!(status, 200, "{changed}");
    let is_new = |status: u16, list: &Value| {
        let items = list["items"].as_array();
        status == 200 && items.is_some_and(|items| items.iter().all(|item| item["spec"]["height"].is_u64()))
    };
    until(&mut client, DEFINITION, |_, definition| definition["status"]["storedVersions"] == json!(["v1", "v2"])).await;
    until(&mut client, V2, is_new).await;
    create(&mut client, V2, &of_v2("c", 5, 6)).await;
    assert_eq!(get(&mut client, &format!("{V1}/c")).await.1["spec"]["size"], "5x6");
    assert_eq!(get(&mut client, &format!("{V1}/b")).await.1["spec"]["size"], "3x4");
    let (status, patched) = merge(&mut client, &format!("{V1}/a"), json!({"spec": {"size": "7x8"}})).await;
    assert_eq!((status, &patched["spec"]["size"]), (200, &json!("7x8")), "{patched}");

    let none = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
    let (status, changed) = merge(&mut client, DEFINITION, none).await;
    assert_eq!((status, &changed["spec"]["conversion"]), (200, &json!({"strategy": "None"})), "{changed}");
    until(&mut client, &format!("{V1}/c"), |_, object| object["spec"] == json!({})).await;
    converter.calls();
    assert_eq!(get(&mut client, V1).await.0, 200);
    assert_eq!(converter.calls(), [], "the webhook is not called any more");
}

async fn store_second_version(client: &mut Client) {
    let mut versions = crates(&Value::Null)["spec"]["versions"].clone();
    versions[0]["storage"] = json!(false);
    versions[1]["storage"] = json!(true);
    let (status, changed) = merge(client, DEFINITION, json!({"spec": {"versions": versions}})).await;
    assert_eq!(status, 200, "{changed}");
}

#[tokio::test]
async fn a_write_waits_for_a_changed_definition_while_its_objects_are_converted() {
    let (_server, mut client, converter) = serve().await;
    create(&mut client, V1, &of_v1("a", "1x2")).await;
    converter.behave(Manner::Slow(Duration::from_secs(2)));
    store_second_version(&mut client).await;
    let (status, created) = call(&mut client, "POST", V1, &of_v1("b", "3x4")).await;
    assert_eq!((status, &created["spec"]["size"]), (201, &json!("3x4")), "{created}");
    converter.behave(Manner::Well);
    converter.calls();
    assert_eq!(get(&mut client, &format!("{V2}/b")).await.1["spec"], json!({"width": 3, "height": 4}));
    assert_eq!(converter.calls(), [], "it was stored in the new version");
}

/// True if an object cannot be read before the webhook answers.
fn is_unconverted(answer: &Value) -> bool {
    let why = "conversion webhook for hw.example.com/v1, Kind=Crate failed";
    answer["reason"] == "ServiceUnavailable" && answer["message"].as_str().is_some_and(|message| message.contains(why))
}

#[tokio::test]
async fn objects_that_could_not_be_converted_to_a_new_storage_version_are_read_when_the_webhook_is_back() {
    let (_server, mut client, mut converter) = serve().await;
    create(&mut client, V1, &of_v1("a", "1x2")).await;
    converter.fall().await;
    store_second_version(&mut client).await;
    let path = format!("{V2}/a");
    until(&mut client, &path, |status, answer| status == 503 && is_unconverted(answer)).await;
    converter.rise().await;
    let read = until(&mut client, &path, |status, _| status == 200).await;
    assert_eq!(read["spec"], json!({"width": 1, "height": 2}));
    let (status, merged) = merge(&mut client, &path, json!({"spec": {"width": 3}})).await;
    assert_eq!((status, &merged["spec"]["width"]), (200, &json!(3)), "{merged}");
    assert_eq!(call(&mut client, "DELETE", DEFINITION, &Value::Null).await.0, 200);
    until(&mut client, DEFINITION, |status, _| status == 404).await;
}

#[tokio::test]
async fn objects_of_a_manifest_of_the_program_are_read_when_the_webhook_is_back() {
    let (folder, mut converter) = (Folder::new("webhook-reread"), Converter::start().await);
    let mut manifest = crates(&converter.client_config());
    let start = async |manifest: Value| {
        let server = Server::test().data_dir(folder.path()).configure(move |server| server.crd(manifest)).start().await;
        let client = Client::new(server.url(), server.token());
        (server, client)
    };
    let (server, mut client) = start(manifest.clone()).await;
    create(&mut client, V1, &of_v1("a", "1x2")).await;
    drop((server, client));
    converter.fall().await;
    manifest["spec"]["versions"][0]["storage"] = json!(false);
    manifest["spec"]["versions"][1]["storage"] = json!(true);
    let (_server, mut client) = start(manifest).await;
    let path = format!("{V2}/a");
    assert!(is_unconverted(&get(&mut client, &path).await.1));
    converter.rise().await;
    let read = until(&mut client, &path, |status, _| status == 200).await;
    assert_eq!(read["spec"], json!({"width": 1, "height": 2}));
}

#[tokio::test]
async fn a_definition_whose_objects_cannot_be_converted_is_deleted_and_their_finalizers_count() {
    let (_server, mut client, mut converter) = serve().await;
    create(&mut client, V1, &of_v1("a", "1x2")).await;
    let mut held = of_v1("held", "1x2");
    held["metadata"]["finalizers"] = json!(["a.b/c"]);
    create(&mut client, V1, &held).await;
    converter.fall().await;
    store_second_version(&mut client).await;
    let path = format!("{V2}/held");
    until(&mut client, &path, |_, answer| is_unconverted(answer)).await;
    assert_eq!(call(&mut client, "DELETE", DEFINITION, &Value::Null).await.0, 200);
    let waits = until(&mut client, &path, |_, held| held["metadata"]["deletionTimestamp"].is_string()).await;
    assert_eq!(waits["metadata"]["finalizers"], json!(["a.b/c"]));
    until(&mut client, &format!("{V2}/a"), |status, _| status == 404).await;
    assert_eq!(get(&mut client, DEFINITION).await.0, 200);
    let (status, released) = merge(&mut client, &path, json!({"metadata": {"finalizers": []}})).await;
    assert_eq!(status, 200, "{released}");
    until(&mut client, DEFINITION, |status, _| status == 404).await;
    assert_eq!(converter.calls(), []);
}

#[tokio::test]
async fn past_changes_are_converted_to_a_new_storage_version() {
    let (_server, mut client, converter) = serve().await;
    let first = create(&mut client, V1, &of_v1("a", "1x2")).await;
    create(&mut client, V1, &of_v1("b", "3x4")).await;
    let (status, changed) = merge(&mut client, &format!("{V1}/a"), json!({"spec": {"size": "5x6"}})).await;
    assert_eq!(status, 200, "{changed}");
    let mut versions = crates(&Value::Null)["spec"]["versions"].clone();
    versions[0]["storage"] = json!(false);
    versions[1]["storage"] = json!(true);
    let (status, changed) = merge(&mut client, DEFINITION, json!({"spec": {"versions": versions}})).await;
    assert_eq!(status, 200, "{changed}");
    // This write waits for the resource with the new storage version, which no change was seen of.
    create(&mut client, V2, &of_v2("c", 7, 8)).await;
    converter.calls();
    let from = first["metadata"]["resourceVersion"].as_str().expect("a version");
    let mut events = client.watch(&format!("{V2}?watch=true&resourceVersion={from}")).await.expect("a watch");
    for (kind, name, width) in [("ADDED", "b", 3), ("MODIFIED", "a", 5), ("ADDED", "c", 7)] {
        let event = events.next().await.expect("whole").expect("an event");
        let object = &event["object"];
        let found = (&event["type"], &object["metadata"]["name"], &object["spec"]["width"]);
        assert_eq!(found, (&json!(kind), &json!(name), &json!(width)), "{event}");
    }
}

#[tokio::test]
async fn a_manifest_of_the_program_is_converted_and_selected_by_fields_of_each_version() {
    let converter = Converter::start().await;
    let mut manifest = crates(&converter.client_config());
    manifest["spec"]["versions"][1]["selectableFields"] = json!([{"jsonPath": ".spec.width"}]);
    let server = Server::test().configure(move |server| server.crd(manifest)).start().await;
    let mut client = Client::new(server.url(), server.token());
    for (name, size) in [("a", "1x2"), ("b", "7x3"), ("c", "7x4")] {
        create(&mut client, V1, &of_v1(name, size)).await;
    }
    let list = get(&mut client, &format!("{V2}?fieldSelector=spec.width%3D7")).await.1;
    let names: Vec<_> = list["items"].as_array().expect("items").iter().map(|item| &item["metadata"]["name"]).collect();
    assert_eq!(names, ["b", "c"]);
    converter.behave(Manner::Refusing("d"));
    let (status, refused) = call(&mut client, "POST", V1, &of_v1("d", "7x5")).await;
    assert_eq!((status, &refused["reason"]), (500, &json!("InternalError")), "its selectable values are not known");
}

#[tokio::test]
async fn a_webhook_that_is_down_neither_holds_objects_nor_hides_them_in_the_storage_version() {
    let (_server, mut client, mut converter) = serve().await;
    for name in ["held", "kept"] {
        let mut object = of_v1(name, "7x2");
        object["metadata"]["finalizers"] = json!(["a.b/c", "a.b/d"]);
        create(&mut client, V1, &object).await;
    }
    converter.fall().await;
    let mut versions = crates(&Value::Null)["spec"]["versions"].clone();
    versions[1]["selectableFields"] = json!([{"jsonPath": ".spec.width"}]);
    let (status, changed) = merge(&mut client, DEFINITION, json!({"spec": {"versions": versions}})).await;
    assert_eq!(status, 200, "{changed}");
    until(&mut client, &format!("{V2}?fieldSelector=spec.width%3D1"), |status, _| status == 200).await;
    assert_eq!(get(&mut client, &format!("{V1}/kept")).await.1["spec"]["size"], "7x2");
    let held = format!("{V1}/held");
    let (status, refused) = merge(&mut client, &held, json!({"spec": {"size": "1x1"}})).await;
    assert_eq!(status, 500, "its selectable values would be missing: {refused}");
    for finalizers in [json!(["a.b/c"]), json!([])] {
        assert_eq!(call(&mut client, "DELETE", &held, &Value::Null).await.0, 200);
        let (status, released) = merge(&mut client, &held, json!({"metadata": {"finalizers": finalizers}})).await;
        assert_eq!(status, 200, "{released}");
    }
    assert_eq!(get(&mut client, &held).await.0, 404);
    converter.rise().await;
    let selected = format!("{V2}?fieldSelector=spec.width%3D7");
    let list =
        until(&mut client, &selected, |_, list| list["items"].as_array().is_some_and(|all| all.len() == 1)).await;
    assert_eq!(list["items"][0]["metadata"]["name"], "kept");
}
