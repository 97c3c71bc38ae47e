//! Connections as attackers use them: bytes are sent, and nobody reads what comes back unless the attack does.

use std::io;

use tokio::{
    io::AsyncWriteExt,
    net::{TcpSocket, TcpStream},
};

use super::Target;

/// A receive buffer so small that the server soon has to wait.
const RECEIVE_BYTES: u32 = 4 << 10;

/// Connects with a small receive buffer.
///
/// # Errors
/// As connecting.
pub async fn connect(target: &Target) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(RECEIVE_BYTES)?;
    socket.connect(target.address().parse().unwrap()).await
}

/// Connects and sends these bytes; the connection is open for as long as it is held.
///
/// # Errors
/// As connecting and writing.
pub async fn send(target: &Target, bytes: &[u8]) -> io::Result<TcpStream> {
    let mut stream = connect(target).await?;
    stream.write_all(bytes).await?;
    Ok(stream)
}

/// The head of a request of the admin's, with further header lines, each ended by a line break.
pub fn head(method: &str, path: &str, headers: &str) -> String {
    let authorization = Target::authorization();
    format!("{method} {path} HTTP/1.1\r\nhost: server\r\nauthorization: {authorization}\r\n{headers}\r\n")
}
