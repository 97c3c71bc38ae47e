//! Misbehaving peers over real connections, with short limits.

use std::{
    net::SocketAddr,
    task::{Context, Poll},
};

use axum_core::{body::Body, response::Response};
use bytes::Bytes;
use http::{HeaderValue, header};
use http_body::Frame;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioExecutor;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, sleep},
};

use super::*;
use crate::http::EndsAt;

/// Longer than any step takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_mins(2);

/// A server whose answers depend on the path, and its events.
struct Rig {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
    /// The paths of dropped bodies.
    dropped: mpsc::UnboundedReceiver<String>,
}

/// An endless body: with pieces, or with nothing.
struct Endless {
    piece: Option<Bytes>,
    path: String,
    tell: mpsc::UnboundedSender<String>,
}

impl http_body::Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.piece.clone().map_or(Poll::Pending, |piece| Poll::Ready(Some(Ok(Frame::data(piece)))))
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        // A test that has ended no longer receives.
        let _ = self.tell.send(std::mem::take(&mut self.path));
    }
}

async fn answer(path: String, tell: mpsc::UnboundedSender<String>) -> Response {
    let endless = |piece| Body::new(Endless { piece, path: path.clone(), tell: tell.clone() });
    let mut answer = Response::new(match path.as_str() {
        "/endless" | "/ends" => endless(Some(Bytes::from_static(&[b'x'; 4096]))),
        "/idle" => endless(None),
        "/whole" => Body::from(vec![b'x'; 64 << 10]),
        "/slow" => {
            sleep(3 * SHORT).await;
            Body::from("slow")
        }
        _ => Body::from("hello"),
    });
    match path.as_str() {
        "/ends" => drop(answer.extensions_mut().insert(EndsAt(Instant::now() + SHORT))),
        "/refused" => drop(answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"))),
        _ => {}
    }
    answer
}

impl Rig {
    fn new(limits: Limits) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_send_buffer_size(SEND_BUFFER).unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(64).unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, dropped) = mpsc::unbounded_channel();
        let service = tower::service_fn(move |request: Request<Incoming>| {
            let answer = answer(request.uri().path().to_owned(), tell.clone());
            async move { Ok::<_, Infallible>(answer.await) }
        });
        let (stop, stopping) = watch::channel(false);
        let accepting = tokio::spawn(accept(listener, None, service, limits, stopping));
        Self { address, stop, accepting, dropped }
    }

    async fn connect(&self) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        // Otherwise the kernel buffers megabytes before the server notices.
        socket.set_recv_buffer_size(SEND_BUFFER).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    /// A connection with a request for a path.
    async fn asked(&self, path: &str) -> TcpStream {
        let mut stream = self.connect().await;
        ask(&mut stream, path).await;
        stream
    }

    /// The next dropped body.
    async fn dropped(&mut self) -> String {
        timeout(PATIENCE, self.dropped.recv()).await.expect("a body is dropped in time").unwrap()
    }

    /// Stops it; returns the duration.
    async fn stop(self) -> Duration {
        let began = Instant::now();
        self.stop.send(true).unwrap();
        self.accepting.await.unwrap();
        timeout(PATIENCE, self.stop.closed()).await.expect("all connections end");
        began.elapsed()
    }

    /// An HTTP/2 client that gives each stream this window.
    async fn http2(&self, window: u32) -> hyper::client::conn::http2::SendRequest<Empty<Bytes>> {
        let stream = TokioIo::new(self.connect().await);
        let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(window);
        let (sender, connection) = builder.handshake(stream).await.unwrap();
        tokio::spawn(connection);
        sender
    }
}

async fn ask(stream: &mut TcpStream, path: &str) {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
}

/// Requests `/hello`; returns whether the answer arrived.
async fn says_hello(stream: &mut TcpStream) -> bool {
    if stream.write_all(b"GET /hello HTTP/1.1\r\nhost: x\r\n\r\n").await.is_err() {
        return false;
    }
    let mut text = Vec::new();
    while !text.ends_with(b"hello") {
        match timeout(PATIENCE, stream.read_buf(&mut text)).await.expect("an answer or an end comes in time") {
            Ok(1..) => {}
            Ok(0) | Err(_) => return false,
        }
    }
    true
}

/// True if the peer has closed the connection, or does so in time.
async fn is_closed(stream: &mut TcpStream) -> bool {
    let mut rest = [0; 1024];
    let end = async { while let Ok(1..) = stream.read(&mut rest).await {} };
    timeout(PATIENCE, end).await.is_ok()
}

fn http2_request(path: &str) -> hyper::Request<Empty<Bytes>> {
    hyper::Request::builder().uri(format!("http://x{path}")).body(Empty::new()).unwrap()
}

fn impatient() -> Limits {
    Limits { stall: SHORT, ..Limits::default() }
}

#[tokio::test]
async fn a_reader_that_takes_nothing_is_disconnected() {
    let mut rig = Rig::new(impatient());
    let _stream = rig.asked("/endless").await;
    assert_eq!(rig.dropped().await, "/endless");
}

#[tokio::test]
async fn a_slow_reader_is_served_and_so_is_one_with_nothing_to_read() {
    let mut rig = Rig::new(impatient());
    let _idle = rig.asked("/idle").await;
    let mut slow = rig.asked("/endless").await;
    let mut piece = vec![0; 256 << 10];
    for _ in 0..12 {
        // Three times the limit in total.
        sleep(SHORT / 4).await;
        slow.read_exact(&mut piece).await.expect("a reader that takes data is served");
    }
    assert_eq!(rig.dropped.try_recv().ok(), None, "neither was cut off");
    drop(slow);
    assert_eq!(rig.dropped().await, "/endless");
}

#[tokio::test]
async fn an_unread_answer_ends_in_time() {
    let mut rig = Rig::new(Limits { stall: LONG, overtime: SHORT, ..Limits::default() });
    let _stream = rig.asked("/ends").await;
    assert_eq!(rig.dropped().await, "/ends");
    let mut http2 = rig.http2(1000).await;
    let _answer = http2.send_request(http2_request("/ends")).await.unwrap();
    assert_eq!(rig.dropped().await, "/ends");
}

#[tokio::test]
async fn a_stream_without_a_window_is_reset_and_its_connection_stays() {
    let mut rig = Rig::new(impatient());
    let mut http2 = rig.http2(1000).await;
    let idle = http2.send_request(http2_request("/idle")).await.unwrap();
    let unread = http2.send_request(http2_request("/endless")).await.unwrap();
    assert_eq!(rig.dropped().await, "/endless");
    let hello = http2.send_request(http2_request("/hello")).await.unwrap();
    assert_eq!(hello.into_body().collect().await.unwrap().to_bytes(), "hello");
    let broken = async { unread.into_body().collect().await.is_err() };
    assert!(timeout(PATIENCE, broken).await.unwrap(), "its reader learns that it has not got all");
    assert!(rig.dropped.try_recv().is_err(), "a stream with nothing to send does not count as stalled");
    drop(idle);
    assert_eq!(rig.dropped().await, "/idle");
}

#[tokio::test]
async fn the_unread_rest_of_an_answer_ends_the_connection() {
    let rig = Rig::new(impatient());
    let mut http2 = rig.http2(1000).await;
    let unread = http2.send_request(http2_request("/whole")).await.unwrap();
    let closed = async {
        while http2.ready().await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, closed).await.expect("the connection ends");
    drop(unread);
}

#[tokio::test]
async fn a_stop_waits_for_requests_but_not_for_readers_that_do_not_read() {
    let mut rig = Rig::new(Limits { stall: LONG, last_stall: SHORT, ..Limits::default() });
    let _unread = rig.asked("/endless").await;
    let mut idle = rig.connect().await;
    assert!(says_hello(&mut idle).await);
    let mut http2 = rig.http2(1000).await;
    let _stalled = http2.send_request(http2_request("/endless")).await.unwrap();
    let mut slow = rig.asked("/slow").await;
    let mut last = Vec::new();
    let answered = async { slow.read_to_end(&mut last).await.unwrap() };
    let (took, _) = tokio::join!(
        async {
            // The slow request has started when a later one has been answered.
            assert!(says_hello(&mut rig.connect().await).await);
            let dropped = std::mem::replace(&mut rig.dropped, mpsc::unbounded_channel().1);
            (rig.stop().await, dropped)
        },
        answered
    );
    assert!(last.ends_with(b"slow"), "{}", String::from_utf8_lossy(&last));
    assert!(took.0 < PATIENCE / 2, "it took {:?}", took.0);
}

#[tokio::test]
async fn the_longest_idle_connection_is_closed() {
    let rig = Rig::new(Limits { open: 3, ..Limits::default() });
    let mut first = rig.connect().await;
    assert!(says_hello(&mut first).await);
    let _busy = rig.asked("/idle").await;
    for _ in 0..10 {
        assert!(says_hello(&mut rig.connect().await).await, "a new client gets in");
    }
    assert!(is_closed(&mut first).await);
}

#[tokio::test]
async fn unfinished_handshakes_are_closed() {
    let rig = Rig::new(Limits { greetings: 2, greeting: LONG, ..Limits::default() });
    let mut silent = Vec::new();
    for _ in 0..5 {
        let mut stream = rig.connect().await;
        stream.write_all(&b"PRI * HTTP/2.0\r\n"[..]).await.unwrap();
        silent.push(stream);
    }
    assert!(says_hello(&mut rig.connect().await).await, "a new client gets in");
    assert!(is_closed(&mut silent[0]).await, "the oldest gave way");
}

#[tokio::test]
async fn a_handshake_has_a_time_limit() {
    let rig = Rig::new(Limits { greeting: SHORT, ..Limits::default() });
    assert!(is_closed(&mut rig.connect().await).await);
    let mut partial = rig.connect().await;
    partial.write_all(b"PRI * HT").await.unwrap();
    assert!(is_closed(&mut partial).await);
}

#[tokio::test]
async fn a_preface_may_come_in_pieces() {
    let rig = Rig::new(Limits::default());
    let mut stream = rig.connect().await;
    stream.set_nodelay(true).unwrap();
    for piece in b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".chunks(5) {
        stream.write_all(piece).await.unwrap();
        tokio::task::yield_now().await;
    }
    let mut settings = [0; 9];
    timeout(PATIENCE, stream.read_exact(&mut settings)).await.unwrap().unwrap();
    assert_eq!(settings[3], 4, "the server's own settings come first");
    let mut odd = rig.connect().await;
    odd.write_all(b"PR").await.unwrap();
    odd.write_all(b"OPFIND / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut head = [0; 12];
    timeout(PATIENCE, odd.read_exact(&mut head)).await.unwrap().unwrap();
    assert_eq!(&head, b"HTTP/1.1 200", "what begins like it may be something else");
}

#[tokio::test]
async fn an_answer_arrives_while_the_client_keeps_sending() {
    let rig = Rig::new(Limits::default());
    let mut stream = rig.connect().await;
    let length = 12 << 20;
    let head = format!("POST /refused HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b'x'; length]).await.expect("all of it is taken");
    let mut answer = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap().expect("no reset destroys the answer");
    assert!(answer.ends_with(b"hello"), "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn connections_end_while_others_are_ranked() {
    let peers = Peers::new(Limits { greetings: 2, ..Limits::default() }, watch::channel(false).1);
    let (done, ended) = std::sync::mpsc::channel();
    for _ in 0..2 {
        let (peers, done) = (peers.clone(), done.clone());
        // The threads are not joined: the test reports a deadlock.
        std::thread::spawn(move || {
            for _ in 0..5_000 {
                let open = [peers.welcome(), peers.welcome(), peers.welcome()];
                peers.evict();
                drop(open);
            }
            // A test that has failed no longer receives.
            let _ = done.send(());
        });
    }
    for _ in 0..2 {
        ended.recv_timeout(PATIENCE).expect("a connection that ends does not wait for ranking");
    }
}
