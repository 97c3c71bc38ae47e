//! A WebSocket client with full control over its messages.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use kindsmith::server::TestServer;
use serde_json::Value;
use tokio::{net::TcpStream, time::timeout};
pub(crate) use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Error, client::IntoClientRequest, handshake::client::Response, http::HeaderValue},
};

/// The maximum duration of any wait.
const SOON: Duration = Duration::from_secs(20);

/// A WebSocket to a server.
pub(crate) struct Socket {
    stream: WebSocketStream<TcpStream>,
    /// The subprotocol chosen by the server.
    pub protocol: Option<String>,
}

/// The server's answer to a refused handshake: the status and the body.
pub(crate) type Refused = (u16, String);

impl Socket {
    /// Opens one as the admin. `headers` are added, such as the subprotocols.
    pub(crate) async fn open(
        server: &TestServer,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, Refused> {
        let bearer = format!("Bearer {}", server.token());
        let headers: Vec<_> = [("authorization", bearer.as_str())].into_iter().chain(headers.iter().copied()).collect();
        Self::open_as(server, path, &headers).await
    }

    /// Opens one with exactly these headers.
    pub(crate) async fn open_as(
        server: &TestServer,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, Refused> {
        let url = format!("{}{path}", server.url().replacen("http", "ws", 1));
        let mut request = url.into_client_request().expect("a URL");
        for (name, value) in headers {
            request.headers_mut().append(*name, HeaderValue::from_str(value).expect("a header"));
        }
        let stream = TcpStream::connect(("127.0.0.1", server.port())).await.expect("the server listens");
        match timeout(SOON, client_async(request, stream)).await.expect("an answer") {
            Ok((stream, answer)) => Ok(Self { stream, protocol: protocol(&answer) }),
            Err(Error::Http(answer)) => {
                let body = answer.body().as_deref().unwrap_or_default();
                Err((answer.status().as_u16(), String::from_utf8_lossy(body).into_owned()))
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// With this subprotocol.
    pub(crate) async fn speaking(server: &TestServer, path: &str, protocol: &str) -> Self {
        let opened = Self::open(server, path, &[("sec-websocket-protocol", protocol)]).await;
        let socket = opened.unwrap_or_else(|(code, body)| panic!("{code} {body}"));
        assert_eq!(socket.protocol.as_deref(), Some(protocol));
        socket
    }

    /// Sends a message.
    pub(crate) async fn send(&mut self, message: Message) {
        self.stream.send(message).await.expect("the server listens");
    }

    /// Sends a message to a server that may close before it has read all of it.
    pub(crate) async fn offer(&mut self, message: Message) {
        drop(self.stream.send(message).await);
    }

    /// Sends bytes on a channel.
    pub(crate) async fn write(&mut self, channel: u8, bytes: &[u8]) {
        self.send(Message::Binary([&[channel], bytes].concat().into())).await;
    }

    /// The next message with data; `None` once the server has closed or the connection is gone.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        loop {
            match timeout(SOON, self.stream.next()).await.expect("a message or the end") {
                Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => return Some(message),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    /// The next message as JSON, which must be text.
    pub(crate) async fn json(&mut self) -> Option<Value> {
        match self.next().await? {
            Message::Text(text) => Some(serde_json::from_str(&text).expect("JSON")),
            other => panic!("{other:?} is no text"),
        }
    }

    /// The server's close code and reason. Skips earlier messages.
    pub(crate) async fn closed(&mut self) -> Option<(u16, String)> {
        loop {
            match timeout(SOON, self.stream.next()).await.expect("the end") {
                Some(Ok(Message::Close(frame))) => {
                    return frame.map(|frame| (frame.code.into(), frame.reason.as_str().to_owned()));
                }
                Some(Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    /// All data until the end, by channel.
    pub(crate) async fn channels(&mut self) -> [Vec<u8>; 5] {
        let mut channels: [Vec<u8>; 5] = Default::default();
        while let Some(message) = self.next().await {
            let Message::Binary(bytes) = message else { panic!("{message:?} is no binary message") };
            channels[usize::from(bytes[0])].extend_from_slice(&bytes[1..]);
        }
        channels
    }
}

fn protocol(answer: &Response) -> Option<String> {
    let header = answer.headers().get("sec-websocket-protocol")?;
    header.to_str().ok().map(str::to_owned)
}
