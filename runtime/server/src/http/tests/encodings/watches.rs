//! Streams of events.
use super::*;

/// The events of a stream that ends.
async fn events(rig: &Rig, path: &str, accept: &str) -> (String, Vec<u8>) {
    let answer = rig.answer("GET", path, &[("accept", accept)], "").await;
    assert_eq!(answer.status(), 200);
    (header(answer.headers(), "content-type"), collect(answer).await)
}

fn cbor_items(mut stream: &[u8]) -> Vec<Value> {
    let mut found = Vec::new();
    while !stream.is_empty() {
        let mut item = minicbor::Decoder::new(stream);
        item.skip().expect("whole items");
        let (this, rest) = stream.split_at(item.position());
        found.push(of_cbor(this));
        stream = rest;
    }
    found
}

/// The events of frames: their types and their objects, in their envelopes.
pub(super) fn frames(mut stream: &[u8]) -> Vec<(String, &[u8])> {
    let mut found = Vec::new();
    while let Some((length, rest)) = stream.split_first_chunk::<4>() {
        let (event, rest) = rest.split_at(u32::from_be_bytes(*length) as usize);
        stream = rest;
        let length = usize::from(event[1]);
        let name = String::from_utf8(event[2..2 + length].to_vec()).unwrap();
        let object = event.windows(4).position(|bytes| bytes == b"k8s\0").expect("an envelope");
        found.push((name, &event[object..]));
    }
    assert!(stream.is_empty(), "frames are whole");
    found
}

#[tokio::test(start_paused = true)]
async fn watches() {
    let rig = rig().await;
    let made = rig.config_map("a").await;
    let since = made["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap() - 1;
    rig.config_map("b").await;
    rig.json("DELETE", &format!("{CONFIG_MAPS}/b"), &[], "").await;
    let path = format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion={since}&allowWatchBookmarks=true");
    let (_, plain) = events(&rig, &path, "application/json").await;
    let plain: Vec<Value> = serde_json::Deserializer::from_slice(&plain).into_iter().map(Result::unwrap).collect();
    let types: Vec<&str> = plain.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["ADDED", "ADDED", "DELETED", "BOOKMARK"]);
    let (media_type, stream) = events(&rig, &path, CBOR).await;
    assert_eq!(media_type, "application/cbor-seq");
    assert_eq!(cbor_items(&stream)[..3], plain[..3]);
    assert_eq!(cbor_items(&stream)[3]["type"], "BOOKMARK");
    let (media_type, stream) = events(&rig, &path, &format!("{PROTOBUF};stream=watch")).await;
    assert_eq!(media_type, format!("{PROTOBUF};stream=watch"));
    let message = messages("ConfigMap");
    let found = frames(&stream);
    assert_eq!(found.len(), 4);
    for ((name, object), event) in found.iter().zip(&plain) {
        assert_eq!(name, event["type"].as_str().unwrap());
        let object = of_protobuf(&message, object);
        assert_eq!(object["metadata"]["name"], event["object"]["metadata"]["name"]);
        assert_eq!((&object["kind"], &object["apiVersion"]), (&json!("ConfigMap"), &json!("v1")));
        if name != "BOOKMARK" {
            assert_eq!(object, event["object"]);
        }
    }
    let form = format!("{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
    let (_, stream) = events(&rig, &path, &form).await;
    let object = of_protobuf(&protobuf::PARTIAL_OBJECT_METADATA, frames(&stream)[0].1);
    assert_eq!((&object["kind"], &object["metadata"]), (&json!("PartialObjectMetadata"), &made["metadata"]));
    let yaml = rig.answer("GET", &path, &[("accept", "application/yaml")], "").await;
    assert_eq!(yaml.status(), 406, "YAML has no frames");
}

#[tokio::test(start_paused = true)]
async fn a_change_is_rendered_once_for_all_watchers() {
    for accept in [PROTOBUF, CBOR] {
        let rig = rig().await;
        let path = format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=5");
        let mut bodies = Vec::new();
        for _ in 0..50 {
            bodies.push(rig.answer("GET", &path, &[("accept", accept)], "").await.into_body());
        }
        rig.config_map("a").await;
        let mut frames: Vec<bytes::Bytes> = Vec::new();
        for body in &mut bodies {
            let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await.unwrap().unwrap();
            frames.push(frame.into_data().unwrap());
        }
        assert!(frames.iter().all(|frame| frame.as_ptr() == frames[0].as_ptr()), "the same bytes in memory");
    }
}

#[tokio::test]
async fn an_expired_stream_contains_an_error() {
    let refuse = async |encoding| {
        let error = crate::verbs::Error::Expired { message: "too old".to_owned(), continue_token: None };
        collect(watch::refuse(error, encoding)).await
    };
    let plain: Value = serde_json::from_slice(&refuse(Encoding::Json).await).unwrap();
    assert_eq!((&plain["type"], &plain["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert_eq!(cbor_items(&refuse(Encoding::Cbor).await), std::slice::from_ref(&plain));
    let stream = refuse(Encoding::Protobuf).await;
    let found = frames(&stream);
    assert_eq!((found.len(), &*found[0].0), (1, "ERROR"));
    assert_eq!(of_protobuf(&protobuf::STATUS, found[0].1), plain["object"]);
}

/// The events of a stream in an encoding.
fn told(encoding: Encoding, message: Option<&protobuf::Message>, stream: &[u8]) -> Vec<Value> {
    match encoding {
        Encoding::Cbor => cbor_items(stream),
        Encoding::Protobuf => {
            let message = message.expect("numbers");
            let event =
                |(name, object): &(String, &[u8])| json!({"type": name, "object": of_protobuf(message, object)});
            frames(stream).iter().map(event).collect()
        }
        _ => serde_json::Deserializer::from_slice(stream).into_iter().map(Result::unwrap).collect(),
    }
}

#[tokio::test(start_paused = true)]
async fn streaming_lists() {
    let rig = rig().await;
    let from_list = "resourceVersionMatch=NotOlderThan&resourceVersion=";
    for name in ["a", "b"] {
        rig.config_map(name).await;
        rig.post(WIDGETS, &json!({"metadata": {"name": name}, "spec": {"size": 3}})).await;
    }
    let maps = messages("ConfigMap");
    let partial = &*protobuf::PARTIAL_OBJECT_METADATA;
    for (collection, kind, shape, message) in [
        (CONFIG_MAPS, "ConfigMap", "", Some(&maps)),
        (CONFIG_MAPS, "PartialObjectMetadata", ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1", Some(partial)),
        (WIDGETS, "Widget", "", None),
        (WIDGETS, "PartialObjectMetadata", ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1", Some(partial)),
    ] {
        let version = rig.get(collection).await.1["metadata"]["resourceVersion"].clone();
        let query = format!("watch=1&timeoutSeconds=1&sendInitialEvents=true&{from_list}&allowWatchBookmarks=true");
        let path = format!("{collection}?{query}");
        let (_, plain) = events(&rig, &path, &format!("application/json{shape}")).await;
        let plain = told(Encoding::Json, None, &plain);
        let types: Vec<&str> = plain.iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(types, ["ADDED", "ADDED", "BOOKMARK", "BOOKMARK"], "{kind}");
        for event in &plain {
            assert_eq!(event["object"]["kind"], kind);
        }
        let metadata = json!({"annotations": {"k8s.io/initial-events-end": "true"}, "resourceVersion": version});
        let mut end = plain[2]["object"]["metadata"].clone();
        end.as_object_mut().unwrap().remove("creationTimestamp");
        assert_eq!(end, metadata, "{kind}");
        for encoding in [Encoding::Cbor, Encoding::Protobuf] {
            let accept = format!("{}{shape}", encoding.media_type());
            if encoding == Encoding::Protobuf && message.is_none() {
                assert_eq!(rig.answer("GET", &path, &[("accept", &accept)], "").await.status(), 406);
                continue;
            }
            let (media_type, stream) = events(&rig, &path, &accept).await;
            assert_eq!(Some(&*media_type), encoding.stream_media_type());
            let mut found = told(encoding, message, &stream);
            for event in &mut found[2..] {
                let metadata = event["object"]["metadata"].as_object_mut().unwrap();
                metadata.remove("creationTimestamp");
            }
            let mut plain = plain.clone();
            for event in &mut plain[2..] {
                // In a Protobuf bookmark, required fields are present and empty.
                event["object"]["metadata"].as_object_mut().unwrap().remove("creationTimestamp");
            }
            assert_eq!(found, plain, "{kind} in {encoding:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn streaming_lists_as_tables() {
    let rig = rig().await;
    rig.config_map("a").await;
    for (include, has_object) in [("", true), ("None", false), ("Metadata", true), ("Object", true)] {
        let query = "watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
        let path = format!("{CONFIG_MAPS}?{query}&allowWatchBookmarks=true&includeObject={include}");
        let (_, stream) = events(&rig, &path, TABLE).await;
        let found = told(Encoding::Json, None, &stream);
        assert_eq!((found.len(), &found[1]["type"]), (3, &json!("BOOKMARK")));
        let row = |at: usize| &found[at]["object"]["rows"][0]["object"];
        assert_eq!(!row(0).is_null(), has_object, "{include}");
        let end = &row(1)["metadata"]["annotations"]["k8s.io/initial-events-end"];
        assert_eq!(end, "true", "the end is marked whatever rows contain: {include}");
    }
}
