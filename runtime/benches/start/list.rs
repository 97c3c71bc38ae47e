//! A list of everything over a connection, beside copies of as many bytes from memory: of blocks of the size of an object that
//! lie anywhere, as objects do, and of the whole in order. The bytes that are copied take as much memory again as the objects.

use std::{
    net::SocketAddr,
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
    task::JoinHandle,
};

use super::{CONFIG_MAPS, Error, OBJECT_BYTES, cpu};

const ROUNDS: usize = 5;
const CHUNK: usize = 128 << 10;
/// Coprime to any number of blocks below it.
const PRIME: usize = 1_000_003;

/// Copies all of a memory, block after block, in order or not.
struct CopyBody {
    source: Arc<Vec<u8>>,
    block: usize,
    step: usize,
    done: usize,
}

impl CopyBody {
    fn left(&self) -> usize {
        self.source.len() - self.done
    }
}

impl hyper::body::Body for CopyBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.left() == 0 {
            return Poll::Ready(None);
        }
        let mut chunk = Vec::with_capacity(CHUNK);
        let blocks = self.source.len() / self.block;
        while chunk.len() < CHUNK && self.left() > 0 {
            let at = self.done / self.block * self.step % blocks * self.block;
            chunk.extend_from_slice(&self.source[at..at + self.block]);
            self.done += self.block;
        }
        Poll::Ready(Some(Ok(Frame::data(chunk.into()))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left() as u64)
    }
}

/// Prints what they take, in turns.
pub(crate) async fn measure(app: &App) -> Result<(), Error> {
    let token = app.admin_token().ok_or("the server has no admin token")?.to_owned();
    let (listing, lists) = serve(Router::new().fallback_service(app.service())).await?;
    let bytes = request(lists, CONFIG_MAPS, &token).await?.bytes;
    let source = Arc::new(vec![b'x'; bytes / CHUNK * CHUNK]);
    let copy = |block, step| {
        let source = Arc::clone(&source);
        get(move || async move { Response::new(Body::new(CopyBody { source, block, step, done: 0 })) })
    };
    let router = Router::new().route("/whole", copy(CHUNK, 1)).route("/blocks", copy(OBJECT_BYTES, PRIME));
    let (copying, copies) = serve(router).await?;
    let ways = [(lists, CONFIG_MAPS, "list"), (copies, "/blocks", "copy of blocks"), (copies, "/whole", "copy")];
    let mut answers = ways.map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for (answers, (address, path, _)) in answers.iter_mut().zip(ways) {
            answers.push(request(address, path, &token).await?);
        }
    }
    listing.abort();
    copying.abort();
    for (answers, (.., name)) in answers.into_iter().zip(ways) {
        let Answer { bytes, wall, cpu } = median(answers);
        println!("{:>10} {name} of {} MB: {wall:.2} s, {cpu:.2} s of CPU", "", bytes >> 20);
    }
    Ok(())
}

async fn serve(router: Router) -> Result<(JoinHandle<std::io::Result<()>>, SocketAddr), Error> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    Ok((tokio::spawn(axum::serve(listener, router).into_future()), address))
}

/// The bytes of an answer with its head, and what it took.
struct Answer {
    bytes: usize,
    wall: f64,
    cpu: f64,
}

/// The answer that took the median time.
fn median(mut answers: Vec<Answer>) -> Answer {
    answers.sort_by(|a, b| a.wall.total_cmp(&b.wall));
    answers.swap_remove(answers.len() / 2)
}

async fn request(address: SocketAddr, path: &str, token: &str) -> Result<Answer, Error> {
    let (begun, used) = (Instant::now(), cpu()?);
    let mut stream = TcpStream::connect(address).await?;
    let head = format!("GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    let (mut buffer, mut bytes) = (vec![0; 1 << 20], 0);
    loop {
        match stream.read(&mut buffer).await? {
            0 => break,
            read => bytes += read,
        }
    }
    let (wall, cpu) = (begun.elapsed().as_secs_f64(), cpu()?.saturating_sub(used).as_secs_f64());
    Ok(Answer { bytes, wall, cpu })
}
