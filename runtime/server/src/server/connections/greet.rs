//! The first bytes of a connection: the TLS handshake, or the preface of HTTP/2.

use std::{io, sync::Arc};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::either::Either;

use super::{BUFFER, Socket};
use crate::http::PeerCertificates;

/// The first bytes of an HTTP/2 connection without TLS.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The answer to HTTP without TLS where TLS is expected, in Go's words.
const NOT_TLS: &[u8] = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

/// The HTTP version of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Http {
    /// HTTP/1.
    One,
    /// HTTP/2.
    Two,
}

/// The bytes of a connection, without TLS or with it. One type, so that HTTP is compiled once.
pub(super) type Stream = Either<Socket, Box<TlsStream<Socket>>>;

/// The verified certificates of the peer, if it sent any.
pub(super) fn certificates(stream: &Stream) -> Option<PeerCertificates> {
    let Either::Right(stream) = stream else { return None };
    let chain = stream.get_ref().1.peer_certificates()?;
    Some(PeerCertificates(Arc::new(chain.iter().map(|certificate| certificate.to_vec()).collect())))
}

/// Determines the protocol of a peer. Fails if the handshake fails, or if the peer disconnects first.
pub(super) async fn greet(mut socket: Socket, tls: Option<TlsAcceptor>) -> io::Result<(Stream, Http)> {
    // Answers are written completely, so waiting for more data would only delay them.
    socket.set_nodelay()?;
    let Some(tls) = tls else {
        let http = plain(&mut socket).await?;
        return Ok((Either::Left(socket), http));
    };
    if begins_with_method(&mut socket).await? {
        socket.write_all(NOT_TLS).await?;
        socket.shutdown().await?;
        return Err(io::Error::other("it sent HTTP without TLS"));
    }
    let mut stream = tls.accept(socket).await?;
    let session = stream.get_mut().1;
    session.set_buffer_limit(Some(BUFFER));
    let http = if session.alpn_protocol() == Some(b"h2") { Http::Two } else { Http::One };
    Ok((Either::Right(Box::new(stream)), http))
}

/// True if the peer has sent a method of HTTP/1 instead of a TLS record. Reads no further than that needs, and returns the
/// data to the socket.
async fn begins_with_method(socket: &mut Socket) -> io::Result<bool> {
    let (mut buffer, mut filled) = ([0; 5], 0);
    let begins = loop {
        let read = socket.read(&mut buffer[filled..]).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        filled += read;
        match buffer[..filled].iter().position(|byte| !byte.is_ascii_uppercase()) {
            Some(end) => break end > 2 && buffer[end] == b' ' && buffer[..end] != *b"PRI",
            None if filled == buffer.len() => break true,
            None => {}
        }
    };
    socket.unread(&buffer[..filled]);
    Ok(begins)
}

/// Reads until the peer has sent the HTTP/2 preface or something else; then returns the data to the socket.
async fn plain(socket: &mut Socket) -> io::Result<Http> {
    let (mut buffer, mut filled) = ([0; PREFACE.len()], 0);
    let http = loop {
        let read = socket.read(&mut buffer[filled..]).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        filled += read;
        if buffer[..filled] != PREFACE[..filled] {
            break Http::One;
        }
        if filled == PREFACE.len() {
            break Http::Two;
        }
    };
    socket.unread(&buffer[..filled]);
    Ok(http)
}
