//! Streamed text such as a log: sent as it is written, at the reader's speed, with an end that shows whether it is
//! complete.

use std::time::Duration;

use kindsmith::server::TestServer;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::{
    pod::{self, PODS},
    socket::{Message, Socket},
};

/// A connection on which a request was sent and nothing was read.
async fn asked(server: &TestServer, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).await.expect("the server listens");
    let token = server.token();
    let request = format!("GET {path} HTTP/1.1\r\nhost: here\r\nauthorization: Bearer {token}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("a request");
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn text_comes_as_it_is_written() {
    let server = pod::server().await;
    let mut stream = asked(&server, &format!("{PODS}/endless/log?follow=true")).await;
    let (mut read, mut piece) = (String::new(), [0; 1024]);
    while !read.contains("and on") {
        let count = timeout(Duration::from_secs(10), stream.read(&mut piece)).await.expect("in time").expect("bytes");
        read.push_str(std::str::from_utf8(&piece[..count]).expect("text"));
    }
    assert!(read.contains("content-type: text/plain"), "{read}");
    assert!(read.contains("transfer-encoding: chunked"), "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn truncated_text_does_not_look_complete() {
    let server = pod::server().await;
    let mut stream = asked(&server, &format!("{PODS}/breaks/flood")).await;
    let mut all = Vec::new();
    let ended = timeout(Duration::from_secs(10), stream.read_to_end(&mut all)).await.expect("in time");
    assert!(all.len() > 50_000, "what was written before has come");
    assert!(ended.is_err() || !all.ends_with(b"0\r\n\r\n"), "there is no last chunk");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_does_not_read_blocks_only_its_writer() {
    let server = pod::server().await;
    let sleepers = [
        asked(&server, &format!("{PODS}/one/flood")).await,
        asked(&server, &format!("{PODS}/one/flood")).await,
        asked(&server, &format!("{PODS}/one/flood")).await,
    ];
    let mut socket = Socket::speaking(&server, &format!("{PODS}/one/flood"), "binary.k8s.io").await;
    assert!(socket.next().await.is_some());
    let written = settled().await;
    // Pipes and socket buffers on both ends hold at most a few megabytes each.
    assert!(written < 64 << 20, "{written} bytes were written without a reader");
    assert_eq!(server.call("GET", &format!("{PODS}/one/log"), Value::Null).await.0, 200);
    drop(sleepers);
}

/// The number of bytes that the floods have written, once they have stopped.
async fn settled() -> u64 {
    let mut last = u64::MAX;
    for _ in 0..200 {
        let now = pod::flooded();
        if now == last {
            return now;
        }
        last = now;
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    panic!("the floods go on and on: {last} bytes")
}

#[tokio::test(flavor = "multi_thread")]
async fn text_over_a_websocket_comes_in_bytes_or_base64() {
    let server = pod::server().await;
    for (protocol, base64) in [("binary.k8s.io", false), ("base64.binary.k8s.io", true)] {
        let mut socket = Socket::speaking(&server, &format!("{PODS}/one/log?tailLines=1"), protocol).await;
        let want = if base64 {
            Message::Text("bGluZSA1IG9mIG9uZQo=".into())
        } else {
            Message::Binary(b"line 5 of one\n".to_vec().into())
        };
        assert_eq!(socket.next().await, Some(want), "{protocol}");
        assert_eq!(socket.closed().await.map(|(code, _)| code), Some(1000), "{protocol}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_of_the_server_ends_streams() {
    let server = pod::server().await;
    let mut stream = asked(&server, &format!("{PODS}/endless/log?follow=true")).await;
    let mut first = [0; 100];
    stream.read_exact(&mut first).await.expect("it has begun");
    let stopping = tokio::task::spawn_blocking(move || {
        let begun = std::time::Instant::now();
        server.stop();
        begun.elapsed()
    });
    let mut rest = Vec::new();
    let read = timeout(Duration::from_secs(10), stream.read_to_end(&mut rest)).await.expect("it ends");
    assert!(read.is_ok() && rest.ends_with(b"0\r\n\r\n"), "after a whole piece");
    assert!(stopping.await.expect("it stops") < Duration::from_secs(8));
}
