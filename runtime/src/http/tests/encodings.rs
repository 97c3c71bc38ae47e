//! Answers and bodies in the other encodings: objects, lists, partial metadata, Statuses, discovery, watches.
use super::*;
use crate::codec::{self, Encoding, cbor, protobuf, yaml};

const PROTOBUF: &str = protobuf::MEDIA_TYPE;
const CBOR: &str = "application/cbor";
const YAML: &str = "application/yaml";
const WIDGETS: &str = "/apis/conformance.example.com/v1/namespaces/default/widgets";

async fn rig() -> Rig {
    Rig::with([crate::builtin::kinds(), vec![sample::widget()]].concat()).await
}

/// The status, the media type and the body of an answer.
async fn get(rig: &Rig, path: &str, accept: &str) -> (u16, String, Vec<u8>) {
    let answer = rig.answer("GET", path, &[("accept", accept)], "").await;
    (answer.status().as_u16(), header(answer.headers(), "content-type"), collect(answer).await)
}

fn of_cbor(body: &[u8]) -> Value {
    assert!(body.starts_with(&cbor::MARK));
    cbor::decode(body, &codec::Limits::default()).expect("CBOR").document
}

fn of_yaml(body: &[u8]) -> Value {
    assert!(!body.starts_with(b"{"), "JSON is YAML, and not what was asked for");
    yaml::decode(body, &codec::Limits::default()).expect("YAML").document
}

/// The document in an envelope.
fn of_protobuf(message: &protobuf::Message, body: &[u8]) -> Value {
    let envelope = protobuf::open(body).expect("an envelope");
    protobuf::object(message, &envelope, &codec::Limits::default()).expect("a message")
}

fn messages(kind: &str) -> protobuf::Message {
    let kind = crate::builtin::kinds().into_iter().find(|known| known.kind == kind).expect("a built-in kind");
    protobuf::Message::of_object(&kind.schema).expect("built-in kinds are numbered")
}

/// The items of a list's message.
fn items(list: &[u8]) -> Vec<&[u8]> {
    let (mut rest, mut found) = (protobuf::open(list).expect("an envelope").message, Vec::new());
    let number = |rest: &mut &[u8]| {
        let end = rest.iter().position(|byte| byte & 0x80 == 0).expect("a number ends");
        let (digits, after) = rest.split_at(end + 1);
        *rest = after;
        digits.iter().rev().fold(0usize, |all, digit| all << 7 | usize::from(digit & 0x7f))
    };
    while !rest.is_empty() {
        let tag = number(&mut rest);
        let length = number(&mut rest);
        let (value, after) = rest.split_at(length);
        rest = after;
        match tag {
            0x0a => {}
            0x12 => found.push(value),
            other => panic!("the tag {other} in a list"),
        }
    }
    found
}

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
async fn bytes_are_bytes_where_the_type_holds_them() {
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

#[tokio::test]
async fn bodies_in_cbor() {
    let rig = rig().await;
    let send = async |method: &str, path: &str, media_type: &str, document: &Value| {
        let mut body = Vec::new();
        cbor::encode(document, &mut body);
        let request = Request::builder().method(method).uri(path).header("authorization", "Bearer admintoken");
        let answer = rig.send(request.header("content-type", media_type).header("accept", CBOR), body).await;
        (answer.status().as_u16(), header(answer.headers(), "warning"), of_cbor(&collect(answer).await))
    };
    let (code, _, made) =
        send("POST", CONFIG_MAPS, CBOR, &json!({"metadata": {"name": "c"}, "data": {"k": "v"}})).await;
    assert_eq!((code, &made["data"], &made["kind"]), (201, &json!({"k": "v"}), &json!("ConfigMap")));
    let unknown = json!({"metadata": {"name": "d"}, "nope": 1});
    let (code, warning, _) = send("POST", CONFIG_MAPS, CBOR, &unknown).await;
    assert_eq!((code, &*warning), (201, "299 - \"unknown field \\\"nope\\\"\""));
    let (code, _, why) = send("POST", &format!("{CONFIG_MAPS}?fieldValidation=Strict"), CBOR, &unknown).await;
    assert!(code == 400 && why["message"].as_str().unwrap().contains("unknown field \"nope\""), "{why}");
    let (code, _, status) =
        send("DELETE", &format!("{CONFIG_MAPS}/c"), CBOR, &json!({"preconditions": {"uid": "x"}})).await;
    assert_eq!(code, 409, "{status}");
    let request = Request::builder().method("POST").uri(CONFIG_MAPS).header("authorization", "Bearer admintoken");
    let answer = rig.send(request.header("content-type", CBOR), &b"\xd9\xd9\xf7\xa2\x41a\x01\x41a\x02"[..]).await;
    assert_eq!(answer.status(), 400);
    let status: Value = serde_json::from_slice(&collect(answer).await).unwrap();
    assert!(status["message"].as_str().unwrap().contains("found duplicate map key \"a\""), "{status}");
}

#[tokio::test]
async fn compressed_bodies_are_refused() {
    let rig = rig().await;
    let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
    let (code, status) = rig.json("POST", CONFIG_MAPS, &headers, "{}").await;
    assert_eq!((code, &status["reason"]), (415, &json!("UnsupportedMediaType")));
    let plain = [("content-type", "application/json"), ("content-encoding", "identity")];
    assert_eq!(rig.json("POST", CONFIG_MAPS, &plain, r#"{"metadata":{"name":"p"}}"#).await.0, 201);
}

#[tokio::test]
async fn yaml_in_and_out() {
    let rig = rig().await;
    let yaml = [("content-type", YAML), ("accept", YAML)];
    let body = "# a comment\nmetadata:\n  name: yam\ndata:\n  on: \"yes\"\n  text: |\n    two\n    lines\n";
    let answer = rig.answer("POST", CONFIG_MAPS, &yaml, body).await;
    assert_eq!(header(answer.headers(), "content-type"), YAML);
    let made = of_yaml(&collect(answer).await);
    let (_, plain) = rig.get(&format!("{CONFIG_MAPS}/yam")).await;
    assert_eq!(made["data"], json!({"true": "yes", "text": "two\nlines\n"}), "keys as YAML 1.1 reads them: {made}");
    assert_eq!(made, plain);
    for path in [CONFIG_MAPS, "/apis", "/api/v1", &format!("{CONFIG_MAPS}/missing"), "/api/v1/nothings"] {
        let (code, plain) = rig.get(path).await;
        let (again, media_type, body) = get(&rig, path, YAML).await;
        assert_eq!((again, &*media_type, of_yaml(&body)), (code, YAML, plain), "{path}");
    }
    let form = |name: &str| format!("{YAML};as={name};g=meta.k8s.io;v=v1");
    for name in ["Table", "PartialObjectMetadataList"] {
        let (code, _, body) = get(&rig, CONFIG_MAPS, &form(name)).await;
        assert_eq!((code, of_yaml(&body)["kind"].as_str()), (200, Some(name)));
    }
    let (code, status) = rig.json("POST", CONFIG_MAPS, &[("content-type", YAML)], "a: [").await;
    let why = "the object provided is unrecognized (must be of type ConfigMap): ";
    assert!(code == 400 && status["message"].as_str().unwrap().starts_with(why), "{status}");
    let apply = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: z\ndata:\n  applied: \"1\"\n";
    let headers = [("content-type", "application/apply-patch+yaml")];
    let (code, applied) = rig.json("PATCH", &format!("{CONFIG_MAPS}/z?fieldManager=m"), &headers, apply).await;
    assert_eq!((code, &applied["data"]), (201, &json!({"applied": "1"})), "{applied}");
    let mut cbor = Vec::new();
    cbor::encode(
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "z"}, "data": {"applied": "2"}}),
        &mut cbor,
    );
    let request = Request::builder().method("PATCH").uri(format!("{CONFIG_MAPS}/z?fieldManager=m"));
    let request = request.header("authorization", "Bearer admintoken");
    let answer = rig.send(request.header("content-type", "application/apply-patch+cbor"), cbor).await;
    let applied: Value = serde_json::from_slice(&collect(answer).await).unwrap();
    assert_eq!(applied["data"], json!({"applied": "2"}));
}

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
fn frames(mut stream: &[u8]) -> Vec<(String, &[u8])> {
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
async fn a_change_is_rendered_once_for_all_who_watch() {
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
async fn what_a_stream_says_when_it_comes_too_late() {
    let refuse = async |encoding| {
        let error = crate::verbs::Error::Expired { message: "too old".to_owned(), continue_token: None };
        collect(watch::refuse(error, encoding)).await
    };
    let plain: Value = serde_json::from_slice(&refuse(Encoding::Json).await).unwrap();
    assert_eq!((&plain["type"], &plain["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert_eq!(cbor_items(&refuse(Encoding::Cbor).await), [plain.clone()]);
    let stream = refuse(Encoding::Protobuf).await;
    let found = frames(&stream);
    assert_eq!((found.len(), &*found[0].0), (1, "ERROR"));
    assert_eq!(of_protobuf(&protobuf::STATUS, found[0].1), plain["object"]);
}

#[test]
fn every_encoding_is_known_by_its_name() {
    for encoding in Encoding::ALL {
        assert_eq!(Encoding::of_media_type(encoding.media_type()), Some(encoding));
    }
}
