//! WebSockets with misbehaving peers, over a connection in memory with paused time.

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use http_body::Frame;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    sync::mpsc,
    time::Instant,
};

use super::*;
use crate::{
    handlers::Handlers,
    http::websocket::{self, End, Known, Message, Socket},
};

const HANDSHAKE: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                           sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
/// An answer to a ping with a zero mask.
const PONG: [u8; 6] = [0x8a, 0x80, 0, 0, 0, 0];

/// The client's end of a WebSocket whose server's end runs this code, and the server's handlers, which must be kept.
async fn connected<F, Fut>(run: F) -> (DuplexStream, Arc<Handlers>)
where
    F: FnOnce(Socket) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let (mut client, server) = duplex(16 << 10);
    let handlers = Arc::new(Handlers::default());
    let kept = handlers.clone();
    let service = service_fn(move |request: http::Request<Incoming>| {
        let (handlers, run) = (handlers.clone(), run.clone());
        async move {
            let mut parts = request.into_parts().0;
            let handshake = websocket::handshake(&mut parts, Known::Any).unwrap();
            Ok::<_, Infallible>(handshake.accept(&handlers, run))
        }
    });
    tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(server), service).with_upgrades());
    client.write_all(HANDSHAKE).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await.unwrap());
    }
    (client, kept)
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_answer_a_ping_is_disconnected() {
    let (tell, mut told) = mpsc::channel(1);
    let (mut client, _handlers) = connected(move |mut socket| async move {
        let end = loop {
            if let Err(end) = socket.receive(true).await {
                break end;
            }
        };
        tell.send(end).await.unwrap();
    })
    .await;
    let began = Instant::now();
    for _ in 0..5 {
        let mut ping = [0; 2];
        client.read_exact(&mut ping).await.unwrap();
        assert_eq!(ping, [0x89, 0]);
        client.write_all(&PONG).await.unwrap();
    }
    assert_eq!(told.recv().await, Some(End::Gone));
    let seconds = began.elapsed().as_secs();
    assert!((7 * 30..7 * 30 + 2).contains(&seconds), "the sixth ping and one interval: {seconds}");
}

struct Endless;

impl http_body::Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        std::task::Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'x'; 4096])))))
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_in_time_even_if_its_peer_reads_nothing() {
    let (tell, mut told) = mpsc::channel(1);
    let began = Instant::now();
    let _connected = connected(move |socket| async move {
        let ends = Some(EndsAt(Instant::now() + Duration::from_secs(3)));
        websocket::carry(socket, Body::new(Endless), ends, Message::Binary).await;
        tell.send(()).await.unwrap();
    })
    .await;
    told.recv().await.unwrap();
    assert!((3..6).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
}
