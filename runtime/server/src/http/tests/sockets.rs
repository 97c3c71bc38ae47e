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
    http::websocket::{self, End, MESSAGE_BYTES, Message, Socket, SupportedProtocols},
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
            let parts = request.into_parts().0;
            let handshake = websocket::handshake(&parts, None, SupportedProtocols::Any).unwrap();
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

/// The client's end of a WebSocket that is read to its end, and what then happens: the sizes of the messages, and the end.
async fn read() -> (DuplexStream, Arc<Handlers>, mpsc::Receiver<(Vec<usize>, End)>) {
    let (tell, told) = mpsc::channel(1);
    let (client, handlers) = connected(move |mut socket| async move {
        let mut sizes = Vec::new();
        let end = loop {
            match socket.receive(true).await {
                Ok(message) => sizes.extend(message.map(|message| message.as_payload().len())),
                Err(end) => break end,
            }
        };
        tell.send((sizes, end)).await.unwrap();
    })
    .await;
    (client, handlers, told)
}

/// A frame with a zero mask.
fn frame(first: u8, data: &[u8]) -> Vec<u8> {
    let head = match u16::try_from(data.len()) {
        Ok(length @ ..126) => vec![first, 0x80 | length.to_le_bytes()[0]],
        Ok(length) => [&[first, 0xfe][..], &length.to_be_bytes()].concat(),
        Err(_) => [&[first, 0xff][..], &(data.len() as u64).to_be_bytes()].concat(),
    };
    [&head[..], &[0; 4], data].concat()
}

#[tokio::test(start_paused = true)]
async fn messages_are_read_up_to_their_limit() {
    let (full, half) = (vec![0; MESSAGE_BYTES], vec![0; MESSAGE_BYTES / 2]);
    let over = [&full[..], &[0]].concat();
    for (sent, sizes, code) in [
        ([frame(0x82, &full), frame(0x88, &1000_u16.to_be_bytes())].concat(), vec![MESSAGE_BYTES], 1000_u16),
        (
            [frame(2, &half), frame(0x80, &half), frame(0x88, &1001_u16.to_be_bytes())].concat(),
            vec![MESSAGE_BYTES],
            1001,
        ),
        (frame(0x82, &over)[..14].to_vec(), vec![], 1009),
    ] {
        let (mut client, _handlers, mut told) = read().await;
        client.write_all(&sent).await.unwrap();
        assert_eq!(told.recv().await, Some((sizes, End::Gone)));
        let mut answer = [0; 4];
        client.read_exact(&mut answer).await.unwrap();
        assert_eq!((answer[0], u16::from_be_bytes([answer[2], answer[3]])), (0x88, code));
    }
    let (mut client, _handlers, mut told) = read().await;
    client.write_all(&[frame(2, &half), frame(0, &half), frame(0x80, &[0])].concat()).await.unwrap();
    assert_eq!(told.recv().await, Some((vec![], End::Gone)), "too many pieces");
}

#[tokio::test(start_paused = true)]
async fn a_violation_of_the_protocol_ends_the_connection() {
    for (sent, why) in [
        (vec![0x81, 1, b'x'], "a frame without a mask"),
        (frame(0xc1, b"x"), "a frame of an extension"),
        (frame(0x80, b"x"), "a piece without a beginning"),
        (frame(0x89, &[0; 126]), "a ping that is too large"),
        (frame(0x81, b"\xff"), "text that is not UTF-8"),
    ] {
        let (mut client, _handlers, mut told) = read().await;
        client.write_all(&sent).await.unwrap();
        assert_eq!(told.recv().await, Some((vec![], End::Gone)), "{why}");
    }
}

#[tokio::test(start_paused = true)]
async fn pings_are_answered_between_the_pieces_of_a_message() {
    let (mut client, _handlers, mut told) = read().await;
    client.write_all(&[frame(1, b"be"), frame(0x89, b"yes"), frame(0x80, b"d")].concat()).await.unwrap();
    let mut pong = [0; 5];
    client.read_exact(&mut pong).await.unwrap();
    assert_eq!(&pong, b"\x8a\x03yes");
    drop(client);
    assert_eq!(told.recv().await, Some((vec![3], End::Gone)));
}

#[tokio::test(start_paused = true)]
async fn pings_of_a_peer_that_reads_nothing_take_little_memory() {
    let (mut client, _handlers, _told) = read().await;
    let ping = frame(0x89, &[0; 100]);
    let mut written = 0;
    let flood = async {
        loop {
            client.write_all(&ping).await.unwrap();
            written += ping.len();
        }
    };
    tokio::time::timeout(Duration::from_secs(1), flood).await.unwrap_err();
    // The two buffers of the connection, and those of the server.
    assert!(written < 64 << 10, "{written} bytes were taken");
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
        websocket::carry(socket, Body::new(Endless), ends, Message::binary).await;
        tell.send(()).await.unwrap();
    })
    .await;
    told.recv().await.unwrap();
    assert!((3..6).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
}
