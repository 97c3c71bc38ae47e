//! Bodies.
use super::*;

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
