//! Raw connections for attacks: they send bytes, and read only if the attack does.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use super::Target;

/// A receive buffer so small that the server soon blocks.
const RECEIVE_BYTES: u32 = 4 << 10;

/// Connects with a small receive buffer.
///
/// # Errors
/// If connecting fails.
pub(crate) async fn connect(target: &Target) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(RECEIVE_BYTES)?;
    socket.connect(target.address().parse().unwrap()).await
}

/// Connects and sends these bytes. The connection stays open until it is dropped.
///
/// # Errors
/// If connecting or writing fails.
pub(crate) async fn send(target: &Target, bytes: &[u8]) -> io::Result<TcpStream> {
    let mut stream = connect(target).await?;
    stream.write_all(bytes).await?;
    Ok(stream)
}

/// The head of a request by the admin, with further header lines, each ended by a line break.
pub(crate) fn head(method: &str, path: &str, headers: &str) -> String {
    let authorization = Target::authorization();
    format!("{method} {path} HTTP/1.1\r\nhost: server\r\nauthorization: {authorization}\r\n{headers}\r\n")
}

/// The beginning of an HTTP/2 connection.
pub(crate) fn http2_start() -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    // An empty settings frame.
    bytes.extend_from_slice(&[0, 0, 0, 4, 0, 0, 0, 0, 0]);
    bytes
}

/// A GET by the admin on an HTTP/2 stream, as one frame of headers. Adds nothing to the header table.
pub(crate) fn http2_get(stream: u32, path: &str) -> Vec<u8> {
    let authorization = Target::authorization();
    // The method GET and the scheme http from the static table; then the path, the authority and the token.
    let mut headers = vec![0x82, 0x86];
    for (name, value) in [(&[0x04][..], path), (&[0x01], "server"), (&[0x0f, 0x08], &authorization)] {
        headers.extend_from_slice(name);
        headers.push(u8::try_from(value.len()).ok().filter(|length| *length < 127).expect("a short text"));
        headers.extend_from_slice(value.as_bytes());
    }
    let length = u32::try_from(headers.len()).expect("a short frame").to_be_bytes();
    let mut frame = length[1..].to_vec();
    // This complete frame both starts and ends the stream.
    frame.extend_from_slice(&[1, 5]);
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(&headers);
    frame
}

/// The number of answered streams on a connection: its header frames. Reads until `expected` have arrived, or nothing
/// arrives for ten seconds, which is longer than a busy machine lets a server wait.
pub(crate) async fn http2_answers(stream: &mut TcpStream, expected: usize) -> usize {
    let mut bytes = Vec::new();
    let (mut at, mut answers) = (0, 0);
    while answers < expected {
        let reading = tokio::time::timeout(Duration::from_secs(10), stream.read_buf(&mut bytes)).await;
        if !matches!(reading, Ok(Ok(1..))) {
            break;
        }
        while let Some(&[a, b, c, kind, ..]) = bytes.get(at..at + 9) {
            answers += usize::from(kind == 1);
            at += 9 + usize::try_from(u32::from_be_bytes([0, a, b, c])).expect("a short frame");
        }
    }
    answers
}
