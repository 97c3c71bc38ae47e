//! Protobuf bodies as kubectl sends them.
use super::*;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The body of `kubectl create namespace team`, with all non-pointer fields of Go, even empty ones.
const TEAM: &[u8] = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09Namespace\x12\x1c\
    \x0a\x14\x0a\x04team\x12\0\x1a\0\"\0*\x002\x008\0B\0\x12\0\x1a\x02\x0a\0\x1a\0\"\0";

async fn send(rig: &Rig, method: &str, path: &str, body: &[u8]) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("authorization", "Bearer admintoken").header("content-type", PROTOBUF);
    let answer = rig.send(request.header("accept", "application/json"), body.to_vec()).await;
    let code = answer.status().as_u16();
    assert_eq!(header(answer.headers(), "content-type"), "application/json");
    (code, serde_json::from_slice(&collect(answer).await).unwrap())
}

#[tokio::test]
async fn a_namespace_is_made() {
    let rig = Rig::with(crate::builtin::kinds()).await;
    let (code, made) = send(&rig, "POST", "/api/v1/namespaces", TEAM).await;
    assert_eq!(code, 201, "{made}");
    let (_, plain) = rig.post("/api/v1/namespaces", &json!({"metadata": {"name": "plain"}})).await;
    assert_eq!(made["metadata"]["name"], "team");
    for part in ["kind", "apiVersion", "spec", "status"] {
        assert_eq!(made[part], plain[part], "{part}");
    }
    let names = |made: &Value| made["metadata"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&made), names(&plain), "nothing empty is kept");
    assert_eq!(rig.get("/api/v1/namespaces/team").await, (200, made));
}

#[tokio::test]
async fn what_is_refused() {
    let rig = Rig::with([crate::builtin::kinds(), vec![Widget::kind()]].concat()).await;
    let (code, status) = send(&rig, "POST", "/api/v1/namespaces", b"k8sgarbage").await;
    let why = "the object provided is unrecognized (must be of type Namespace): provided data does not appear to be a \
               protobuf message, expected prefix [107 56 115 0]";
    assert_eq!((code, status["message"].as_str()), (400, Some(why)));
    let (code, status) = send(&rig, "POST", "/api/v1/namespaces", &TEAM[..30]).await;
    assert_eq!((code, status["reason"].as_str()), (400, Some("BadRequest")));
    let (code, status) = send(&rig, "POST", CONFIG_MAPS, TEAM).await;
    assert_eq!(code, 400, "another kind: {status}");
    assert!(status["message"].as_str().unwrap().contains("kind is \"Namespace\""), "{status}");
    let widgets = "/apis/conformance.example.com/v1/namespaces/default/widgets";
    let (code, status) = send(&rig, "POST", widgets, TEAM).await;
    assert_eq!(code, 415, "without numbers there are no messages");
    let read = "application/json, application/yaml, application/cbor";
    assert!(status["message"].as_str().unwrap().ends_with(&format!("include: {read}")), "{status}");
    let (_, status) = rig.json("POST", CONFIG_MAPS, &[("content-type", "text/plain")], "{}").await;
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .ends_with(&format!("application/json, application/yaml, {PROTOBUF}, application/cbor")),
        "{status}"
    );
}

#[tokio::test]
async fn fields_of_unknown_numbers() {
    let rig = Rig::with(crate::builtin::kinds()).await;
    // The namespace `team`, with a text field 9 at the top level and one inside its spec.
    let given = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09Namespace\x12\x10\x0a\x06\x0a\x04team\x12\x03J\x01xJ\x01y";
    let path = |query: &str| format!("/api/v1/namespaces?dryRun=All{query}");
    let (code, status) = send(&rig, "POST", &path("&fieldValidation=Strict"), given).await;
    let told = r#"strict decoding error: unknown field "spec.9", unknown field "9""#;
    assert_eq!(code, 400, "{status}");
    assert!(status["message"].as_str().unwrap().ends_with(told), "{status}");
    for (query, want) in [("", vec!["spec.9", "9"]), ("&fieldValidation=Ignore", vec![])] {
        let request = Request::builder().method("POST").uri(path(query)).header("content-type", PROTOBUF);
        let answer = rig.send(request.header("authorization", "Bearer admintoken"), given.to_vec()).await;
        assert_eq!(answer.status(), 201);
        let told: Vec<_> =
            answer.headers().get_all("warning").iter().map(|text| text.to_str().unwrap().to_owned()).collect();
        let want: Vec<_> = want.into_iter().map(|path| format!("299 - \"unknown field \\\"{path}\\\"\"")).collect();
        assert_eq!(told, want);
    }
}

#[tokio::test]
async fn options_of_a_deletion() {
    let rig = Rig::with(crate::builtin::kinds()).await;
    rig.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let options = |message: &[u8]| {
        let length = u8::try_from(message.len()).unwrap();
        [b"k8s\0\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions\x12", &[length][..], message].concat()
    };
    let (code, status) = send(&rig, "DELETE", &path, &options(b"\x12\x07\x0a\x05other")).await;
    assert_eq!(code, 409, "preconditions count: {status}");
    let (code, _) = send(&rig, "DELETE", &path, &options(b"*\x03All")).await;
    assert_eq!((code, rig.get(&path).await.0), (200, 200), "a dry run");
    assert_eq!(send(&rig, "DELETE", &path, TEAM).await.0, 400, "no options");
    assert_eq!(send(&rig, "DELETE", &path, &options(b"\"\x0aBackground")).await.0, 200);
    assert_eq!(rig.get(&path).await.0, 404);
}
