//! Every encoding of bodies with every encoding of answers, for every shape of either: the content is the same.
use super::*;

/// A request. Writes are dry runs, so that they can be repeated.
struct Ask {
    method: &'static str,
    path: String,
    /// The requested shape of the answer.
    shape: &'static str,
    /// The body and its Protobuf message, if it has one.
    body: Option<(Value, Option<protobuf::Message>)>,
    /// The answer can be Protobuf.
    numbered: bool,
    /// The answer can be binary.
    binary: bool,
}

fn read(path: impl Into<String>, shape: &'static str, numbered: bool) -> Ask {
    Ask { method: "GET", path: path.into(), shape, body: None, numbered, binary: shape != "Table" }
}

fn write(method: &'static str, path: &str, body: Value, message: Option<&protobuf::Message>, numbered: bool) -> Ask {
    let path = format!("{path}?dryRun=All");
    Ask { method, path, body: Some((body, message.cloned())), ..read("", "", numbered) }
}

/// Decodes an answer. List items get the types that they have in JSON.
fn decode(encoding: Encoding, body: &[u8]) -> Value {
    match encoding {
        Encoding::Json => serde_json::from_slice(body).expect("JSON"),
        Encoding::Yaml => of_yaml(body),
        Encoding::Cbor => of_cbor(body),
        Encoding::Protobuf => {
            let envelope = protobuf::open(body).expect("an envelope");
            if let Some(message) = shared(envelope.kind) {
                return of_protobuf(message, body);
            }
            let Some(item) = envelope.kind.strip_suffix("List") else {
                return of_protobuf(&messages(envelope.kind), body);
            };
            let (metadata, items) = parts(body);
            let metadata = protobuf::LIST_META.decode(metadata, &codec::Limits::default()).expect("metadata");
            let partial = item == "PartialObjectMetadata";
            let message = if partial { protobuf::PARTIAL_OBJECT_METADATA.clone() } else { messages(item) };
            let items = items.into_iter().map(|bytes| {
                let mut found = message.decode(bytes, &codec::Limits::default()).expect("an item");
                if partial {
                    found["kind"] = item.into();
                    found["apiVersion"] = envelope.api_version.into();
                }
                found
            });
            let items: Vec<Value> = items.collect();
            json!({"kind": envelope.kind, "apiVersion": envelope.api_version, "metadata": metadata, "items": items})
        }
    }
}

fn shared(kind: &str) -> Option<&'static protobuf::Message> {
    Some(match kind {
        "Status" => &protobuf::STATUS,
        "Scale" => &protobuf::SCALE,
        "PartialObjectMetadata" => &protobuf::PARTIAL_OBJECT_METADATA,
        "APIVersions" => &protobuf::API_VERSIONS,
        "APIGroupList" => &protobuf::API_GROUP_LIST,
        "APIGroup" => &protobuf::API_GROUP,
        "APIResourceList" => &protobuf::API_RESOURCE_LIST,
        _ => return None,
    })
}

fn encode(encoding: Encoding, body: &Value, message: Option<&protobuf::Message>) -> Vec<u8> {
    let mut out = Vec::new();
    match encoding {
        Encoding::Json => codec::encode(body, &mut out),
        Encoding::Yaml => yaml::encode(body, &mut out),
        Encoding::Cbor => cbor::encode(body, &mut out),
        Encoding::Protobuf => return message.map_or_else(Vec::new, |m| protobuf::encode(m, body).expect("a message")),
    }
    out
}

/// Removes the parts that differ between answers to dry runs.
fn still(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for own in ["uid", "creationTimestamp", "deletionTimestamp", "time", "resourceVersion"] {
                fields.remove(own);
            }
            // A Table's last cell is the object's age, which may grow by a second meanwhile.
            if let Some(age) = fields.get_mut("cells").and_then(Value::as_array_mut).and_then(|cells| cells.last_mut())
            {
                age.take();
            }
            fields.values_mut().for_each(|field| *field = still(field.take()));
        }
        // Ages may differ between two answers.
        Value::String(text) if text.strip_suffix('s').is_some_and(|age| age.parse::<u32>().is_ok()) => {
            *text = "age".into();
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = still(item.take())),
        _ => {}
    }
    value
}

async fn ask(rig: &Rig, ask: &Ask, given: Encoding, wanted: Encoding) -> (u16, String, Vec<u8>) {
    let mut accept = wanted.media_type().to_owned();
    if !ask.shape.is_empty() {
        accept = format!("{accept};as={};g=meta.k8s.io;v=v1", ask.shape);
    }
    let request = Request::builder().method(ask.method).uri(&ask.path).header("accept", accept);
    let mut request = request.header("authorization", "Bearer admintoken");
    let mut body = Vec::new();
    if let Some((document, message)) = &ask.body {
        request = request.header("content-type", format!("{}; charset=utf-8", given.media_type()));
        body = encode(given, document, message.as_ref());
    }
    let answer = rig.send(request, body).await;
    (answer.status().as_u16(), header(answer.headers(), "content-type"), collect(answer).await)
}

/// Sends the same request in every combination, and compares the answers.
async fn compare(rig: &Rig, one: &Ask) {
    let (code, _, plain) = ask(rig, one, Encoding::Json, Encoding::Json).await;
    let plain = still(decode(Encoding::Json, &plain));
    let bodies: &[Encoding] = if one.body.is_some() { &Encoding::ALL } else { &[Encoding::Json] };
    for given in bodies {
        for wanted in Encoding::ALL {
            let what = format!("{} {} {}: {given:?} → {wanted:?}", one.method, one.path, one.shape);
            let (again, media_type, body) = ask(rig, one, *given, wanted).await;
            let is_offered = match wanted {
                Encoding::Protobuf => one.binary && one.numbered,
                Encoding::Cbor => one.binary,
                Encoding::Json | Encoding::Yaml => true,
            };
            if !is_offered {
                // A Status is sent in an encoding that the client reads.
                let told = Encoding::of_media_type(&media_type).expect("an encoding");
                assert_eq!((again, &decode(told, &body)["reason"]), (406, &json!("NotAcceptable")), "{what}");
                continue;
            }
            assert_eq!(media_type, wanted.media_type(), "{what}");
            let found = still(decode(wanted, &body));
            let unnumbered = one.body.as_ref().is_some_and(|(_, message)| message.is_none());
            if *given == Encoding::Protobuf && unnumbered {
                assert_eq!((again, &found["reason"]), (415, &json!("UnsupportedMediaType")), "{what}");
                continue;
            }
            assert_eq!((again, found), (code, plain.clone()), "{what}");
        }
    }
}

async fn filled() -> Rig {
    let rig = rig().await;
    for name in ["a", "b"] {
        rig.config_map(name).await;
        let widget = json!({"metadata": {"name": name}, "spec": {"size": 3, "replicas": 2}});
        assert_eq!(rig.post(WIDGETS, &widget).await.0, 201);
    }
    rig
}

#[tokio::test]
async fn answers() {
    let rig = filled().await;
    for (collection, numbered) in [(CONFIG_MAPS, true), (WIDGETS, false), ("/api/v1/namespaces", true)] {
        let path = if collection == "/api/v1/namespaces" {
            format!("{collection}/default")
        } else {
            format!("{collection}/a")
        };
        compare(&rig, &read(&path, "", numbered)).await;
        compare(&rig, &read(collection, "", numbered)).await;
        compare(&rig, &read(format!("{collection}?limit=1"), "PartialObjectMetadataList", true)).await;
        for (path, shape) in [(&*path, "PartialObjectMetadata"), (collection, "PartialObjectMetadataList")] {
            compare(&rig, &read(path, shape, true)).await;
        }
        for path in [&path, collection] {
            compare(&rig, &read(path, "Table", true)).await;
        }
        compare(&rig, &read(format!("{collection}/missing"), "", numbered)).await;
    }
    for path in ["/api", "/api/v1", "/apis", "/apis/conformance.example.com", "/apis/conformance.example.com/v1"] {
        compare(&rig, &read(path, "", true)).await;
    }
    compare(&rig, &read(format!("{WIDGETS}/a/scale"), "", true)).await;
    compare(&rig, &read(format!("{WIDGETS}/a/scale"), "PartialObjectMetadata", true)).await;
}

#[tokio::test]
async fn bodies() {
    let rig = filled().await;
    let map =
        |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "w"}});
    let maps = messages("ConfigMap");
    compare(&rig, &write("POST", CONFIG_MAPS, map("new"), Some(&maps), true)).await;
    compare(&rig, &write("POST", CONFIG_MAPS, map("a"), Some(&maps), true)).await;
    compare(&rig, &write("PUT", &format!("{CONFIG_MAPS}/a"), map("a"), Some(&maps), true)).await;
    compare(&rig, &write("PUT", &format!("{CONFIG_MAPS}/a"), map("other"), Some(&maps), true)).await;
    let version = rig.get(&format!("{WIDGETS}/a")).await.1["metadata"]["resourceVersion"].clone();
    let metadata = json!({"name": "a", "resourceVersion": version});
    let widget = json!({
        "apiVersion": "conformance.example.com/v1", "kind": "Widget", "metadata": metadata,
        "spec": {"size": 4}, "status": {"phase": "Up"},
    });
    compare(&rig, &write("PUT", &format!("{WIDGETS}/a"), widget.clone(), None, false)).await;
    compare(&rig, &write("PUT", &format!("{WIDGETS}/a/status"), widget, None, false)).await;
    let scale =
        json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}, "spec": {"replicas": 7}});
    compare(&rig, &write("PUT", &format!("{WIDGETS}/a/scale"), scale, Some(&protobuf::SCALE), true)).await;
    assert_eq!(rig.get(&format!("{WIDGETS}/a/scale")).await.1["spec"]["replicas"], 2, "dry runs change nothing");
}

#[tokio::test]
async fn deletions() {
    let rig = filled().await;
    let options = |rest: Value| {
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]});
        options.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        options
    };
    for (collection, numbered) in [(CONFIG_MAPS, true), (WIDGETS, false)] {
        let delete = |path: &str, options: Value| {
            let body = Some((options, Some(protobuf::DELETE_OPTIONS.clone())));
            Ask { method: "DELETE", body, ..read(path, "", numbered) }
        };
        let one = format!("{collection}/a");
        compare(&rig, &delete(&one, options(json!({})))).await;
        compare(&rig, &delete(&one, options(json!({"preconditions": {"uid": "other"}})))).await;
        compare(&rig, &delete(&one, options(json!({"propagationPolicy": "Foreground"})))).await;
        compare(&rig, &delete(&one, options(json!({"propagationPolicy": "Nonsense"})))).await;
        compare(&rig, &delete(collection, options(json!({})))).await;
        let shaped = Ask { shape: "Table", binary: false, ..delete(collection, options(json!({}))) };
        compare(&rig, &shaped).await;
        let (_, list) = rig.get(collection).await;
        assert_eq!(list["items"].as_array().map(Vec::len), Some(2), "dry runs delete nothing");
    }
}
