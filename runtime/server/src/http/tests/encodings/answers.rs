//! Answers: objects, lists, partial metadata, Statuses, discovery.
use super::*;

#[tokio::test]
async fn objects() {
    let rig = rig().await;
    let made = rig.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let (code, media_type, body) = get(&rig, &path, CBOR).await;
    assert_eq!((code, &*media_type, of_cbor(&body)), (200, CBOR, made.clone()));
    let (code, media_type, body) = get(&rig, &path, PROTOBUF).await;
    assert_eq!((code, &*media_type, of_protobuf(&messages("ConfigMap"), &body)), (200, PROTOBUF, made.clone()));
    let (again, _, same) = get(&rig, &path, PROTOBUF).await;
    assert_eq!((again, same), (200, body), "a rendering that is kept is the same");
    let update = json!({"metadata": {"name": "a"}, "data": {"k": "w"}}).to_string();
    let headers = [("content-type", "application/json"), ("accept", CBOR)];
    let answer = rig.answer("PUT", &path, &headers, &update).await;
    assert_eq!(of_cbor(&collect(answer).await)["data"]["k"], "w", "writes answer in it, too");
    let (_, _, body) = get(&rig, &path, PROTOBUF).await;
    assert_eq!(of_protobuf(&messages("ConfigMap"), &body)["data"]["k"], "w", "and nothing old is kept");
}

#[tokio::test]
async fn byte_fields_are_encoded_as_bytes() {
    let rig = rig().await;
    let secret = json!({"metadata": {"name": "s"}, "data": {"p": "c2VjcmV0"}});
    let (code, made) = rig.post("/api/v1/namespaces/default/secrets", &secret).await;
    assert_eq!(code, 201);
    let (_, _, body) = get(&rig, "/api/v1/namespaces/default/secrets/s", CBOR).await;
    assert_eq!(of_cbor(&body), made);
    assert!(body.windows(8).any(|bytes| bytes == b"\xd6\x46secret"), "tag 22 around the bytes themselves");
    let (_, _, list) = get(&rig, "/api/v1/namespaces/default/secrets", CBOR).await;
    assert!(list.windows(8).any(|bytes| bytes == b"\xd6\x46secret"));
}

#[tokio::test]
async fn lists() {
    let rig = rig().await;
    for at in 0..40 {
        rig.config_map(&format!("c{at}")).await;
    }
    let (_, plain) = rig.get(CONFIG_MAPS).await;
    let (code, media_type, body) = get(&rig, CONFIG_MAPS, CBOR).await;
    assert_eq!((code, &*media_type, of_cbor(&body)), (200, CBOR, plain.clone()), "items without type meta, as in JSON");
    let (code, media_type, body) = get(&rig, CONFIG_MAPS, PROTOBUF).await;
    assert_eq!((code, &*media_type), (200, PROTOBUF));
    let envelope = protobuf::open(&body).expect("an envelope");
    assert_eq!((envelope.api_version, envelope.kind), ("v1", "ConfigMapList"));
    let message = messages("ConfigMap");
    let found = items(&body).into_iter().map(|item| message.decode(item, &codec::Limits::default()).expect("an item"));
    assert_eq!(&Value::Array(found.collect()), &plain["items"]);
    let (_, page) = rig.get(&format!("{CONFIG_MAPS}?limit=1")).await;
    let (_, _, body) = get(&rig, &format!("{CONFIG_MAPS}?limit=1"), CBOR).await;
    let page_again = of_cbor(&body);
    assert_eq!(page_again["metadata"]["remainingItemCount"], 39);
    assert_eq!(page_again["items"], page["items"]);
}

#[tokio::test]
async fn kinds_without_numbers() {
    let rig = rig().await;
    let (code, made) = rig.post(WIDGETS, &json!({"metadata": {"name": "w"}, "spec": {"size": 3}})).await;
    assert_eq!(code, 201);
    let path = format!("{WIDGETS}/w");
    let (code, media_type, body) = get(&rig, &path, PROTOBUF).await;
    assert_eq!((code, &*media_type), (406, PROTOBUF));
    let why = of_protobuf(&protobuf::STATUS, &body);
    assert_eq!((&why["reason"], &why["code"]), (&json!("NotAcceptable"), &json!(406)));
    let (code, media_type, _) = get(&rig, &path, &format!("{PROTOBUF}, application/json")).await;
    assert_eq!((code, &*media_type), (200, "application/json"), "the next best");
    let (_, _, body) = get(&rig, &path, CBOR).await;
    assert_eq!(of_cbor(&body), made);
    let (_, _, list) = get(&rig, WIDGETS, CBOR).await;
    assert_eq!(of_cbor(&list), rig.get(WIDGETS).await.1, "items with type meta, as in JSON");
    let sized = json!({"metadata": {"name": "x"}, "spec": {"size": 3, "replicas": 2}});
    assert_eq!(rig.post(WIDGETS, &sized).await.0, 201);
    let path = format!("{WIDGETS}/x/scale");
    let (_, plain) = rig.get(&path).await;
    let (code, _, scale) = get(&rig, &path, PROTOBUF).await;
    assert_eq!((code, of_protobuf(&protobuf::SCALE, &scale)), (200, plain), "a scale is numbered, whatever it scales");
}

#[tokio::test]
async fn partial_metadata() {
    let rig = rig().await;
    rig.config_map("a").await;
    rig.post(WIDGETS, &json!({"metadata": {"name": "a"}, "spec": {"size": 3}})).await;
    for collection in [CONFIG_MAPS, WIDGETS] {
        let path = format!("{collection}/a");
        let form = |media_type: &str, name: &str| format!("{media_type};as={name};g=meta.k8s.io;v=v1");
        let (one, many) = ("PartialObjectMetadata", "PartialObjectMetadataList");
        let (_, plain) = rig.json("GET", &path, &[("accept", &form("application/json", one))], "").await;
        let (_, _, body) = get(&rig, &path, &form(CBOR, one)).await;
        assert_eq!(of_cbor(&body), plain);
        let (code, media_type, body) = get(&rig, &path, &form(PROTOBUF, one)).await;
        assert_eq!((code, &*media_type), (200, PROTOBUF));
        assert_eq!(of_protobuf(&protobuf::PARTIAL_OBJECT_METADATA, &body), plain);
        let (_, plain) = rig.json("GET", collection, &[("accept", &form("application/json", many))], "").await;
        let (_, _, body) = get(&rig, collection, &form(CBOR, many)).await;
        assert_eq!(of_cbor(&body), plain);
        let (_, _, body) = get(&rig, collection, &form(PROTOBUF, many)).await;
        assert_eq!(protobuf::open(&body).unwrap().kind, many);
        assert_eq!(items(&body).len(), plain["items"].as_array().unwrap().len());
        for binary in [CBOR, PROTOBUF] {
            let (code, media_type, body) = get(&rig, &path, &form(binary, "Table")).await;
            assert_eq!(
                (code, &*media_type),
                (406, "application/json"),
                "Tables are text, and so is what is said of it"
            );
            assert!(body.starts_with(b"{\n  \"kind\": \"Status\""), "indented");
        }
    }
}

#[tokio::test]
async fn statuses() {
    let rig = rig().await;
    let path = format!("{CONFIG_MAPS}/missing");
    let (_, plain) = rig.get(&path).await;
    let (code, media_type, body) = get(&rig, &path, CBOR).await;
    assert_eq!((code, &*media_type, of_cbor(&body)), (404, CBOR, plain.clone()));
    let (code, media_type, body) = get(&rig, &path, &format!("{PROTOBUF}, application/json")).await;
    assert_eq!((code, &*media_type), (404, PROTOBUF));
    assert_eq!(of_protobuf(&protobuf::STATUS, &body), plain);
    rig.config_map("gone").await;
    let answer = rig.answer("DELETE", &format!("{CONFIG_MAPS}/gone"), &[("accept", CBOR)], "").await;
    assert_eq!(of_cbor(&collect(answer).await)["status"], "Success");
    let form = format!("{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json");
    let (code, media_type, _) = get(&rig, &path, &form).await;
    assert_eq!((code, &*media_type), (404, "application/json"), "a Status has no shapes");
    let (code, media_type, _) = get(&rig, "/api/v1/nothings", PROTOBUF).await;
    assert_eq!((code, &*media_type), (404, PROTOBUF));
}

#[tokio::test]
async fn discovery_documents() {
    let rig = rig().await;
    for (path, message) in [
        ("/api", &*protobuf::API_VERSIONS),
        ("/apis", &*protobuf::API_GROUP_LIST),
        ("/apis/coordination.k8s.io", &*protobuf::API_GROUP),
        ("/apis/coordination.k8s.io/v1", &*protobuf::API_RESOURCE_LIST),
        ("/apis/conformance.example.com/v1", &*protobuf::API_RESOURCE_LIST),
    ] {
        let (_, plain) = rig.get(path).await;
        let (code, media_type, body) = get(&rig, path, CBOR).await;
        assert_eq!((code, &*media_type, of_cbor(&body)), (200, CBOR, plain.clone()));
        let (code, media_type, body) = get(&rig, path, PROTOBUF).await;
        assert_eq!((code, &*media_type), (200, PROTOBUF), "{path}");
        assert_eq!(of_protobuf(message, &body), plain, "{path}");
    }
    let (code, media_type, _) = get(&rig, "/version", PROTOBUF).await;
    assert_eq!((code, &*media_type), (200, "application/json"), "which is no object of the API");
    assert_eq!(get(&rig, "/apis", "text/html").await.0, 406);
}
