//! Sessions and forwarded ports over WebSockets, for each subprotocol.

use std::fmt::Write;

use http_body_util::Full;
use kindsmith::server::TestServer;
use kindsmith_tests::Client;
use serde_json::{Value, json};

use crate::{
    pod::{self, PODS},
    socket::{Message, Socket},
};

fn exec(words: &[&str], streams: &str) -> String {
    let mut path = format!("{PODS}/one/exec?{streams}");
    for word in words {
        path.push_str("&command=");
        for byte in word.bytes() {
            write!(path, "%{byte:02x}").expect("a text takes all");
        }
    }
    path
}

/// Sends a request that is not a WebSocket handshake.
async fn ask(server: &TestServer, method: &str, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let mut client = Client::new(server.url(), "");
    let bearer = format!("Bearer {}", server.token());
    let mut request = hyper::Request::builder().method(method).uri(path).header("host", "here");
    for (name, value) in [("authorization", bearer.as_str())].iter().chain(headers) {
        request = request.header(*name, *value);
    }
    let answer = client.send(request.body(Full::default()).expect("a request")).await.expect("an answer");
    (answer.status, String::from_utf8_lossy(&answer.body).into_owned())
}

fn status(channel: &[u8]) -> Value {
    serde_json::from_slice(channel).unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(channel)))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_subprotocol_closes_stdin_and_reports_an_exit_code() {
    let server = pod::server().await;
    let path = exec(&["sh", "-c", "cat; echo done >&2; exit 5"], "stdin=1&stdout=1&stderr=1");
    let mut socket = Socket::speaking(&server, &path, "v5.channel.k8s.io").await;
    assert_eq!(socket.next().await, Some(Message::Binary(vec![1].into())), "the connection stands");
    socket.write(0, b"hello").await;
    socket.write(255, &[0]).await;
    let [_, out, err, end, _] = socket.channels().await;
    assert_eq!((out.as_slice(), err.as_slice()), (&b"hello"[..], &b"done\n"[..]));
    let want = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "NonZeroExitCode",
        "message": "command terminated with non-zero exit code: 5",
        "details": {"causes": [{"reason": "ExitCode", "message": "5"}]},
    });
    assert_eq!(status(&end), want);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_previous_subprotocol_reports_success_as_a_status() {
    let server = pod::server().await;
    let mut socket = Socket::speaking(&server, &exec(&["echo", "hi"], "stdout=1&stderr=1"), "v4.channel.k8s.io").await;
    let [_, out, err, end, _] = socket.channels().await;
    assert_eq!((out.as_slice(), err.as_slice()), (&b"hi\n"[..], &b""[..]));
    assert_eq!(status(&end), json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn older_subprotocols_report_failures_as_text_and_success_not_at_all() {
    let server = pod::server().await;
    let mut socket = Socket::speaking(&server, &exec(&["sh", "-c", "exit 3"], "stdout=1"), "channel.k8s.io").await;
    let [_, out, _, end, _] = socket.channels().await;
    assert_eq!((out.as_slice(), end.as_slice()), (&b""[..], &b"command terminated with non-zero exit code: 3"[..]));
    let mut unnamed = Socket::open(&server, &exec(&["echo", "hi"], "stdout=1"), &[]).await.expect("a session");
    assert_eq!(unnamed.protocol, None);
    let [_, out, _, end, _] = unnamed.channels().await;
    assert_eq!((out.as_slice(), end.as_slice()), (&b"hi\n"[..], &b""[..]));
}

#[tokio::test(flavor = "multi_thread")]
async fn with_base64_all_messages_are_text() {
    let server = pod::server().await;
    let path = exec(&["echo-shell"], "stdin=1&stdout=1&stderr=1");
    let mut socket = Socket::speaking(&server, &path, "v4.base64.channel.k8s.io").await;
    assert_eq!(socket.next().await, Some(Message::Text("1".into())));
    assert_eq!(socket.next().await, Some(Message::Text("1JCA=".into())), "a prompt");
    // Invalid messages are ignored: no base64, no channel, bytes.
    for nonsense in ["0***", "", "~", "zaGk="] {
        socket.send(Message::Text(nonsense.into())).await;
    }
    socket.send(Message::Text("0Y29tcGxhaW4gb3VjaAo=".into())).await; // complain ouch
    assert_eq!(socket.next().await, Some(Message::Text("2b3VjaAo=".into())));
    socket.send(Message::Text("0ZXhpdCAwCg==".into())).await; // exit 0
    let end = socket.next().await.expect("a Status").into_text().expect("text");
    assert!(end.starts_with('3'), "{end}");
    assert_eq!(socket.next().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_has_sizes_and_no_stderr() {
    let server = pod::server().await;
    let path = exec(&["sizes"], "stdin=1&stdout=1&stderr=1&tty=1");
    let mut socket = Socket::speaking(&server, &path, "v5.channel.k8s.io").await;
    socket.write(4, br#"{"Width":80,"Height":24}"#).await;
    socket.write(4, b"wide").await;
    socket.write(4, br#"{"Width":132,"Height":43}"#).await;
    let [_, out, err, end, _] = socket.channels().await;
    assert_eq!(String::from_utf8_lossy(&out), "80x24\n132x43\n");
    assert_eq!((err.as_slice(), &status(&end)["status"]), (&b""[..], &json!("Success")));
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_and_panics_of_running_handlers_end_the_session() {
    let server = pod::server().await;
    let mut socket = Socket::speaking(&server, &exec(&["refuse"], "stdout=1"), "v4.channel.k8s.io").await;
    let end = status(&socket.channels().await[3]);
    assert_eq!((&end["code"], &end["reason"]), (&json!(403), &json!("Forbidden")), "{end}");
    assert_eq!(end["message"], "pods \"one\" is forbidden: not in here");
    let mut socket = Socket::speaking(&server, &exec(&["panic"], "stdout=1"), "v4.channel.k8s.io").await;
    let end = status(&socket.channels().await[3]);
    assert_eq!((&end["code"], &end["reason"]), (&json!(500), &json!("InternalError")), "{end}");
    assert!(!end.to_string().contains("as asked"), "what it panicked with is for the log");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_requests_are_refused_before_the_handshake() {
    let server = pod::server().await;
    let speaking = [("sec-websocket-protocol", "v5.channel.k8s.io, v4.channel.k8s.io")];
    for (path, code, says) in [
        (exec(&["true"], "stdin=0"), 400, "you must specify at least 1 of stdin, stdout, stderr"),
        (exec(&["true"], "stdout=1&container=other"), 400, "container other is not valid for pod one"),
        (exec(&["true"], "stdout=1").replace("/one/", "/none/"), 404, "pods \\\"none\\\" not found"),
        (format!("{PODS}/one/log?tailLines=few"), 400, "the parameter tailLines is \\\"few\\\""),
        (format!("{PODS}/one/log?tailLines=-1"), 422, "tailLines: Invalid value"),
        (format!("{PODS}/one/portforward"), 400, "you must specify at least 1 port"),
        (format!("{PODS}/one/portforward?ports=70000"), 400, "must be between 1 and 65535, inclusive"),
        (format!("{PODS}/one/portforward?ports={}", "1,".repeat(40) + "1"), 400, "41 ports are too many"),
    ] {
        let Err((given, body)) = Socket::open(&server, &path, &speaking).await else { panic!("{path} was served") };
        assert_eq!((given, body.contains(says)), (code, true), "{path}: {body}");
        assert!(body.contains("\"kind\":\"Status\""), "{path}: {body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_subprotocols_and_spdy_are_refused_with_the_supported_ones() {
    let server = pod::server().await;
    let path = exec(&["true"], "stdout=1");
    let unknown = [("sec-websocket-protocol", "v9.channel.k8s.io, SPDY/3.1+portforward.k8s.io")];
    let (code, body) = Socket::open(&server, &path, &unknown).await.err().expect("a refusal");
    let supported = "supports [v5.channel.k8s.io v4.channel.k8s.io ";
    assert!(code == 403 && body.contains(supported), "{code} {body}");
    for method in ["GET", "POST"] {
        let (code, refusal) = server.call(method, &path, Value::Null).await;
        let message = refusal["message"].as_str().unwrap_or_default();
        assert_eq!((code, &refusal["reason"]), (400, &json!("BadRequest")), "{method}: {refusal}");
        assert!(message.contains("Upgrade request required: to WebSocket"), "{method}: {refusal}");
    }
    // Like kubectl before 1.31, and when a WebSocket fails.
    let spdy = [("upgrade", "SPDY/3.1"), ("connection", "Upgrade"), ("x-stream-protocol-version", "v5.channel.k8s.io")];
    let (code, body) = ask(&server, "POST", &path, &spdy).await;
    assert!(code == 400 && body.contains("SPDY is not served here"), "{code} {body}");
    let forward = format!("{PODS}/one/portforward");
    let (code, body) = ask(&server, "POST", &forward, &spdy).await;
    assert!(code == 400 && body.contains("kubectl port-forward speaks SPDY even inside"), "{code} {body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ports_are_identified_by_channels() {
    let server = pod::server().await;
    let path = format!("{PODS}/one/portforward?ports=7,9&ports=81");
    let mut socket = Socket::speaking(&server, &path, "v4.channel.k8s.io").await;
    for (channel, port) in [(0, 7_u16), (1, 7), (2, 9), (3, 9), (4, 81), (5, 81)] {
        let [low, high] = port.to_le_bytes();
        assert_eq!(socket.next().await, Some(Message::Binary(vec![channel, low, high].into())));
    }
    let mut heard = [socket.next().await.expect("9 or 81"), socket.next().await.expect("9 or 81")];
    heard.sort_by_key(|message| message.clone().into_data()[0]);
    let want = [&b"\x03connection refused on port 9"[..], b"\x04this is port 81"];
    assert_eq!(heard.iter().map(|message| message.clone().into_data().to_vec()).collect::<Vec<_>>(), want);
    socket.write(0, b"to and fro").await;
    assert_eq!(socket.next().await, Some(Message::Binary(b"\0to and fro".to_vec().into())));
    // Ports that were not requested or are closed accept data and do nothing.
    for channel in [2, 4, 63, 200] {
        socket.write(channel, b"lost").await;
    }
    socket.write(0, b"again").await;
    assert_eq!(socket.next().await, Some(Message::Binary(b"\0again".to_vec().into())));
    let panics = format!("{PODS}/one/portforward?ports=13&ports=7");
    let mut socket = Socket::speaking(&server, &panics, "v4.channel.k8s.io").await;
    for _ in 0..4 {
        socket.next().await.expect("a port's number");
    }
    let told = b"\x01the server failed at this port; its log says why";
    assert_eq!(socket.next().await, Some(Message::Binary(told.to_vec().into())));
    socket.write(2, b"still here").await;
    assert_eq!(socket.next().await, Some(Message::Binary(b"\x02still here".to_vec().into())));
    let text = format!("{PODS}/one/portforward?ports=81");
    let mut socket = Socket::speaking(&server, &text, "v4.base64.channel.k8s.io").await;
    for expected in ["0UQA=", "1UQA=", "0dGhpcyBpcyBwb3J0IDgx"] {
        assert_eq!(socket.next().await, Some(Message::Text(expected.into())));
    }
    assert_eq!(socket.next().await, None, "no port has more to say");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_of_the_server_ends_sessions_with_a_message() {
    let server = pod::server().await;
    let mut socket = Socket::speaking(&server, &exec(&["forever"], "stdout=1"), "v5.channel.k8s.io").await;
    let stopping = tokio::task::spawn_blocking(move || server.stop());
    let end = status(&socket.channels().await[3]);
    assert_eq!((&end["code"], &end["message"]), (&json!(503), &json!("the server is stopping")), "{end}");
    stopping.await.expect("it stops");
}
