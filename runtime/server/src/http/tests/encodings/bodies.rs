//! Bodies.
use super::*;
use crate::schema::{
    Schema,
    model::{PatchStrategy, Type},
};

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

#[tokio::test]
async fn types_of_patches() {
    let rig = rig().await;
    rig.config_map("a").await;
    rig.post(WIDGETS, &json!({"metadata": {"name": "a"}, "spec": {"size": 3}})).await;
    let (map, widget) = (format!("{CONFIG_MAPS}/a"), format!("{WIDGETS}/a"));
    let patch =
        async |path: &str, media_type: &str| rig.json("PATCH", path, &[("content-type", media_type)], "{}").await;
    for media_type in ["application/merge-patch+json", "application/merge-patch+json; charset=utf-8"] {
        assert_eq!((patch(&map, media_type).await.0, patch(&widget, media_type).await.0), (200, 200), "{media_type}");
    }
    let strategic = "Application/Strategic-Merge-Patch+JSON;charset=UTF-8";
    assert_eq!(patch(&map, strategic).await.0, 200);
    let (code, status) = patch(&widget, strategic).await;
    let few = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml, application/apply-patch+cbor";
    let unknown = "the body of the request was in an unknown format - accepted media types include:";
    assert_eq!((code, &status["message"]), (415, &json!(format!("{unknown} {few}"))));
    assert_eq!(status.get("details"), None);
    for media_type in ["application/json", "application/vnd.kubernetes.protobuf", "text/plain", ""] {
        let (code, status) = patch(&map, media_type).await;
        let message = format!(
            "415: Unsupported Media Type\n\nAccepted patch types: application/strategic-merge-patch+json, {few}"
        );
        assert_eq!((code, &status["message"], &status["details"]), (415, &json!(message), &json!({})), "{media_type}");
    }
}

#[tokio::test]
async fn declared_kinds_with_merge_rules_support_strategic_merge() {
    let mut schema = Schema::clone(&Widget::kind().version.schema);
    assert!(!schema.says_how_patches_merge());
    let text = Schema { kind: Type::String, ..Schema::default() };
    let list = Schema { kind: Type::Array, items: Some(text.into()), ..Schema::default() };
    let merged = Schema { patch: PatchStrategy { merge: true, ..PatchStrategy::default() }, ..list };
    schema.properties.get_mut("spec").unwrap().properties.insert("tags".to_owned(), merged);
    assert!(schema.says_how_patches_merge());
    let widget = Widget::kind().with(|_, version, _| version.schema = schema.into());
    let rig = Rig::with([crate::builtin::kinds(), vec![widget]].concat()).await;
    rig.post(WIDGETS, &json!({"metadata": {"name": "a"}, "spec": {"size": 3, "tags": ["x"]}})).await;
    let strategic = [("content-type", "application/strategic-merge-patch+json")];
    let body = r#"{"spec": {"tags": ["y"]}}"#;
    let (code, merged) = rig.json("PATCH", &format!("{WIDGETS}/a"), &strategic, body).await;
    assert_eq!((code, &merged["spec"]["tags"]), (200, &json!(["y", "x"])));
}

#[tokio::test]
async fn warnings_are_bounded() {
    let rig = rig().await;
    let warned = async |count: usize, media_type: &str| {
        let mut map = json!({"metadata": {"name": "w"}, "data": {"k": "v"}});
        for at in 0..count {
            map[format!("nope{at:03}{}", "x".repeat(20))] = 1.into();
        }
        let headers = [("content-type", media_type)];
        let answer = rig.answer("POST", &format!("{CONFIG_MAPS}?dryRun=All"), &headers, &map.to_string()).await;
        assert_eq!(answer.status(), 201);
        let all = answer.headers().get_all("warning").iter().map(|text| text.to_str().unwrap().to_owned());
        all.collect::<Vec<_>>()
    };
    for media_type in ["application/json", YAML] {
        let few = warned(3, media_type).await;
        let text = |at: usize| format!("299 - \"unknown field \\\"nope{at:03}{}\\\"\"", "x".repeat(20));
        assert_eq!(few, [text(0), text(1), text(2)], "{media_type}");
        let many = warned(150, media_type).await;
        assert_eq!((many.len(), &many[30]), (32, &text(30)), "{media_type}");
        assert!(many[31].ends_with(" more warnings are left out\""), "{media_type}: {}", many[31]);
    }
}
