//! A list of everything over a connection, beside a copy of as many bytes from memory over another one.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};

use axum::{Router, body::Body, response::Response, routing::get};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use kindsmith::App;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{CONFIG_MAPS, Error, cpu};

const ROUNDS: usize = 3;
const CHUNK: usize = 128 << 10;
/// More than the processor's caches hold.
const SOURCE: usize = 256 << 20;

/// Copies bytes from memory.
struct Copying {
    source: Arc<Vec<u8>>,
    left: usize,
}

impl hyper::body::Body for Copying {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let size = self.left.min(CHUNK);
        let at = self.left % (self.source.len() - CHUNK);
        let chunk = Bytes::copy_from_slice(&self.source[at..at + size]);
        self.left -= size;
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left as u64)
    }
}

/// Prints what both take.
pub(crate) async fn measure(app: &App) -> Result<(), Error> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let service = app.service();
    let token = app.admin_token().ok_or("the server has no admin token")?.to_owned();
    let serving = tokio::spawn(axum::serve(listener, Router::new().fallback_service(service)).into_future());
    let list = request(address, CONFIG_MAPS, &token).await?;
    serving.abort();

    let source = Arc::new(vec![b'x'; SOURCE]);
    let copying = Router::new()
        .route("/", get(move || async move { Response::new(Body::new(Copying { source, left: list.bytes })) }));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let serving = tokio::spawn(axum::serve(listener, copying).into_future());
    let copy = request(address, "/", &token).await?;
    serving.abort();
    println!(
        "{:>10} list of {} MB: {:.2} s, {:.2} s of CPU; a copy over HTTP: {:.2} s, {:.2} s of CPU",
        "",
        list.bytes >> 20,
        list.wall,
        list.cpu,
        copy.wall,
        copy.cpu
    );
    Ok(())
}

/// The bytes of an answer with its head, and the best of some rounds.
struct Answer {
    bytes: usize,
    wall: f64,
    cpu: f64,
}

async fn request(address: std::net::SocketAddr, path: &str, token: &str) -> Result<Answer, Error> {
    let mut best = Answer { bytes: 0, wall: f64::MAX, cpu: f64::MAX };
    for _ in 0..ROUNDS {
        let (begun, used) = (Instant::now(), cpu()?);
        let mut stream = TcpStream::connect(address).await?;
        let head =
            format!("GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await?;
        let (mut buffer, mut bytes) = (vec![0; 1 << 20], 0);
        loop {
            match stream.read(&mut buffer).await? {
                0 => break,
                read => bytes += read,
            }
        }
        let (wall, used) = (begun.elapsed().as_secs_f64(), cpu()?.saturating_sub(used).as_secs_f64());
        best = Answer { bytes, wall: best.wall.min(wall), cpu: best.cpu.min(used) };
    }
    Ok(best)
}
