//! Lists of definitions whose versions a webhook converts.
use serde_json::json;

use super::{
    applied::merge,
    converter::Manner,
    webhook::{V1, V2, create, failure, get, of_v1, serve},
};

#[tokio::test]
async fn a_list_is_one_batch_and_what_is_known_is_not_sent() {
    let (_server, mut client, converter) = serve().await;
    for index in 0..20 {
        create(&mut client, V1, &of_v1(&format!("c{index:02}"), &format!("{index}x1"))).await;
    }
    get(&mut client, &format!("{V2}/c07")).await;
    converter.calls();
    let (status, list) = get(&mut client, V2).await;
    let items = list["items"].as_array().expect("items");
    assert_eq!((status, items.len(), &items[13]["spec"]["width"]), (200, 20, &json!(13)));
    assert!(items.iter().all(|item| item["apiVersion"] == "hw.example.com/v2" && item["kind"] == "Crate"));
    let calls = converter.calls();
    assert_eq!((calls.len(), calls[0].1.len()), (1, 19));
    assert!(!calls[0].1.contains(&"c07".to_owned()));
    let page = get(&mut client, &format!("{V2}?limit=3")).await.1;
    assert_eq!(
        (page["items"].as_array().map(Vec::len), &page["metadata"]["remainingItemCount"]),
        (Some(3), &json!(17))
    );
    assert_eq!(converter.calls(), []);

    converter.behave(Manner::Refusing("c05"));
    merge(&mut client, &format!("{V1}/c05"), json!({"spec": {"label": "bad"}})).await;
    merge(&mut client, &format!("{V1}/c06"), json!({"spec": {"label": "good"}})).await;
    let message = failure(&mut client, V2).await;
    assert!(
        message.ends_with("conversion webhook for hw.example.com/v1, Kind=Crate failed: no form for it"),
        "{message}"
    );
    assert_eq!(get(&mut client, &format!("{V2}/c06")).await.1["spec"]["label"], "good", "others are read");
    assert_eq!(
        get(&mut client, V1).await.1["items"].as_array().map(Vec::len),
        Some(20),
        "the storage version needs none"
    );
    converter.behave(Manner::Well);
    assert_eq!(get(&mut client, V2).await.0, 200, "a failure is not kept");
}

#[tokio::test]
async fn a_long_list_is_converted_in_parts_until_one_fails() {
    let (_server, mut client, converter) = serve().await;
    let label = "x".repeat(100 << 10);
    for index in 0..35 {
        let mut object = of_v1(&format!("c{index:02}"), &format!("{index}x1"));
        object["spec"]["label"] = json!(label);
        create(&mut client, V1, &object).await;
    }
    converter.behave(Manner::Refusing("c15"));
    failure(&mut client, V2).await;
    let parts = |calls: Vec<(String, Vec<String>)>| calls.iter().map(|(_, names)| names.len()).collect::<Vec<_>>();
    assert_eq!(parts(converter.calls()), [11, 11], "what follows a failure is not converted");
    converter.behave(Manner::Well);
    let (status, list) = get(&mut client, V2).await;
    let items = list["items"].as_array().expect("items");
    let widths: Vec<_> = items.iter().filter_map(|item| item["spec"]["width"].as_u64()).collect();
    assert_eq!((status, widths), (200, (0..35).collect()));
    assert!(items.iter().all(|item| item["apiVersion"] == "hw.example.com/v2" && item["spec"]["label"] == label));
    assert_eq!(parts(converter.calls()), [11, 11, 2], "each once, and only what is not known");
}
