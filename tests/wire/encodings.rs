//! Encodings and compression on real connections, with both versions of HTTP.

use std::io::Read;

use flate2::read::GzDecoder;
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kindsmith::{Server, server::TestServer};
use serde_json::json;
use tokio::net::TcpStream;

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// A connection without TLS, with one version of HTTP from the first byte.
enum Connection {
    One(http1::SendRequest<Full<Bytes>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    async fn one(server: &TestServer) -> Self {
        let (sender, connection) = http1::handshake(tcp(server).await).await.expect("HTTP/1");
        tokio::spawn(connection);
        Self::One(sender)
    }

    async fn two(server: &TestServer) -> Self {
        let (sender, connection) = http2::handshake(TokioExecutor::new(), tcp(server).await).await.expect("HTTP/2");
        tokio::spawn(connection);
        Self::Two(sender)
    }

    async fn send(&mut self, request: Request<Full<Bytes>>) -> Response<Incoming> {
        match self {
            Self::One(sender) => {
                sender.ready().await.expect("a connection");
                sender.send_request(request).await
            }
            Self::Two(sender) => sender.send_request(request).await,
        }
        .expect("an answer")
    }
}

async fn tcp(server: &TestServer) -> TokioIo<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", server.port())).await.expect("the server listens");
    stream.set_nodelay(true).expect("a TCP socket");
    TokioIo::new(stream)
}

fn request(
    server: &TestServer,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: String,
) -> Request<Full<Bytes>> {
    let host = format!("127.0.0.1:{}", server.port());
    let mut request = Request::builder().method(method).uri(format!("http://{host}{path}")).header("host", host);
    request = request.header("authorization", format!("Bearer {}", server.token()));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Full::new(body.into())).expect("a sound request")
}

fn new_map(server: &TestServer, name: &str) -> Request<Full<Bytes>> {
    let map = json!({"metadata": {"name": name}, "data": {"k": "x".repeat(9_000)}});
    request(server, "POST", CONFIG_MAPS, &[("content-type", "application/json")], map.to_string())
}

async fn body(answer: Response<Incoming>) -> Bytes {
    answer.into_body().collect().await.expect("a whole body").to_bytes()
}

// Connections end on a separate thread while the server waits for that.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn long_lists_are_compressed_on_both_versions_of_http() {
    let server = Server::test().start().await;
    for mut connection in [Connection::one(&server).await, Connection::two(&server).await] {
        let version = if matches!(connection, Connection::One(_)) { "one" } else { "two" };
        for at in 0..20 {
            let answer = connection.send(new_map(&server, &format!("{version}-{at}"))).await;
            assert_eq!(answer.status(), 201);
            body(answer).await;
        }
        for accept in ["application/json", "application/yaml", PROTOBUF, "application/cbor"] {
            let plain =
                connection.send(request(&server, "GET", CONFIG_MAPS, &[("accept", accept)], String::new())).await;
            assert_eq!(plain.headers()["content-type"], accept);
            let plain = body(plain).await;
            let headers = [("accept", accept), ("accept-encoding", "gzip")];
            let packed = connection.send(request(&server, "GET", CONFIG_MAPS, &headers, String::new())).await;
            assert_eq!(packed.headers()["content-type"], accept);
            assert_eq!(packed.headers()["content-encoding"], "gzip");
            let packed = body(packed).await;
            let mut found = Vec::new();
            GzDecoder::new(&*packed).read_to_end(&mut found).expect("gzip");
            assert!(found == plain, "{accept} on HTTP/{version}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn watches_and_requests_share_a_connection() {
    let server = Server::test().start().await;
    let mut connection = Connection::two(&server).await;
    let mut watches = Vec::new();
    for accept in ["application/json", PROTOBUF, "application/cbor"] {
        let path = format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=60");
        let headers = [("accept", accept), ("accept-encoding", "gzip")];
        let answer = connection.send(request(&server, "GET", &path, &headers, String::new())).await;
        assert_eq!(answer.status(), 200);
        assert!(!answer.headers().contains_key("content-encoding"), "watches are never compressed");
        watches.push((answer.headers()["content-type"].clone(), answer.into_body()));
    }
    assert_eq!(connection.send(new_map(&server, "seen")).await.status(), 201);
    for (media_type, mut events) in watches {
        let mut event = Vec::new();
        // The type is first in every encoding; a frame may arrive in several pieces.
        while event.len() < 9_000 {
            let piece = events.frame().await.expect("an event").expect("a sound stream");
            event.extend_from_slice(&piece.into_data().expect("no trailers yet"));
        }
        let begins = match media_type.to_str().expect("text") {
            "application/json" => b"{\"type\":\"ADDED\"".to_vec(),
            "application/cbor-seq" => b"\xd9\xd9\xf7\xa2".to_vec(),
            other => {
                assert_eq!(other, format!("{PROTOBUF};stream=watch"));
                let length = u32::try_from(event.len() - 4).expect("a small event");
                [&length.to_be_bytes()[..], b"\x0a\x05ADDED"].concat()
            }
        };
        assert!(event.starts_with(&begins), "{media_type:?}: {:?}", &event[..40]);
        assert!(event.windows(4).any(|bytes| bytes == b"seen"));
    }
}
