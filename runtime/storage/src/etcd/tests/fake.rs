//! A member whose answers a test decides, for what no installed etcd does.

use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::Incoming,
    header::{self, HeaderValue},
    server::conn::http2,
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
    task::spawn_blocking,
};

use super::*;

/// A call that came.
pub(super) struct Call {
    pub(super) path: String,
    /// The user's token, or an empty string without one.
    pub(super) token: String,
}

/// An encoded message, or a code of gRPC with a text.
pub(super) type Answer = Result<Vec<u8>, (u32, &'static str)>;

/// The answer of a member that is well.
pub(super) fn well(call: &Call) -> Answer {
    match &*call.path {
        proto::path::STATUS => Ok(status().encode_to_vec()),
        proto::path::RANGE => Ok(proto::RangeResponse::default().encode_to_vec()),
        _ => Err((12, "unknown method")),
    }
}

/// The status of a member that is well.
pub(super) fn status() -> proto::StatusResponse {
    proto::StatusResponse { version: "3.6.0".to_owned(), leader: 1, ..Default::default() }
}

/// A member. It ends on drop.
pub(super) struct Fake {
    port: u16,
    _runtime: Runtime,
}

impl Fake {
    /// Starts a member that answers in this way. The answer may block.
    pub(super) fn start(answer: impl Fn(&Call) -> Answer + Clone + Send + Sync + 'static) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        runtime.spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let answer = answer.clone();
                let service = service_fn(move |request| respond(request, answer.clone()));
                let connection = http2::Builder::new(TokioExecutor::new());
                tokio::spawn(connection.serve_connection(TokioIo::new(socket), service));
            }
        });
        Self { port, _runtime: runtime }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

async fn respond(
    request: Request<Incoming>,
    answer: impl Fn(&Call) -> Answer + Send + 'static,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let (head, body) = request.into_parts();
    body.collect().await?;
    let token = head.headers.get("token").and_then(|token| token.to_str().ok()).unwrap_or_default();
    let call = Call { path: head.uri.path().to_owned(), token: token.to_owned() };
    let answer = spawn_blocking(move || answer(&call)).await.expect("an answer");
    let (body, code, message) = match answer {
        Ok(message) => {
            let length = u32::try_from(message.len()).expect("a short message");
            ([&[0][..], &length.to_be_bytes(), &message].concat(), 0, "")
        }
        Err((code, message)) => (Vec::new(), code, message),
    };
    let mut response = Response::new(Full::new(body.into()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert("grpc-status", HeaderValue::from(code));
    headers.insert("grpc-message", HeaderValue::from_static(message));
    Ok(response)
}
