//! The Unix socket of a running store: `store.sock` in its data directory, with mode 0600.
//!
//! A client sends one line. The answer to `backup 1` is a backup (`archive`) of the store at that moment. Reading it
//! does not block the writer. `state 1` and `changes 1` are answered with objects and changes (`feed.rs`), for copies that
//! go on where they ended. The answer to `migrate 1` is the progress of a storage migration, which the server runs. A client that stops reading is disconnected. Closing the store ends running requests and removes the
//! socket. A start replaces the socket that a killed process left.

pub(super) mod address;
pub(super) mod answer;
pub(super) mod feed;

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    net::Shutdown,
    os::unix::{
        fs::{DirBuilderExt, MetadataExt, PermissionsExt},
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::{net, sync::oneshot};

use self::{
    address::{NAME, PATIENCE, at_address},
    answer::{Answers, answer, refuse},
};

/// The socket is created under this name, so that its final name never has looser modes.
const MAKING: &str = "store.sock.new";
/// The maximum number of concurrent requests.
const AT_A_TIME: usize = 4;

/// A socket that is served until this is dropped.
pub(super) struct Socket {
    path: PathBuf,
    /// Device and inode of the file, so that only this file is removed.
    identity: (u64, u64),
    /// Dropping it ends the thread.
    close: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Socket {
    /// Serves a store's socket in its directory.
    pub(super) fn serve(dir: &Path, answers: Arc<Answers>) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = bind(dir)?;
        let path = dir.join(NAME);
        let metadata = fs::symlink_metadata(&path)?;
        let (close, closed) = oneshot::channel();
        let owner = metadata.uid();
        let serving = async move {
            match net::UnixListener::from_std(listener) {
                Ok(listener) => accept(listener, owner, &answers, closed).await,
                Err(error) => {
                    tracing::warn!(%error, "the store's socket cannot be served; stop the server for backups");
                }
            }
        };
        let thread = thread::Builder::new().name("store-socket".to_owned()).spawn(move || runtime.block_on(serving))?;
        Ok(Self { path, identity: (metadata.dev(), metadata.ino()), close: Some(close), thread: Some(thread) })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| (found.dev(), found.ino()) == self.identity) {
            // The next start replaces a socket that stays behind.
            let _ = fs::remove_file(&self.path);
        }
        drop(self.close.take());
        if let Some(thread) = self.thread.take() {
            // The thread's panic was already reported.
            let _ = thread.join();
        }
    }
}

fn bind(dir: &Path) -> io::Result<UnixListener> {
    let making = dir.join(MAKING);
    match fs::remove_dir_all(&making) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => DirBuilder::new().mode(0o700).create(&making)?,
    }
    let listener = at_address(&making, |address| UnixListener::bind(address))?;
    listener.set_nonblocking(true)?;
    fs::set_permissions(making.join(NAME), Permissions::from_mode(0o600))?;
    fs::rename(making.join(NAME), dir.join(NAME))?;
    fs::remove_dir(&making)?;
    Ok(listener)
}

/// Serves clients until the store closes, and then ends running requests.
async fn accept(listener: net::UnixListener, owner: u32, answers: &Arc<Answers>, mut closed: oneshot::Receiver<()>) {
    let mut peers: Vec<Peer> = Vec::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = &mut closed => break,
        };
        peers.retain(|peer| !peer.thread.is_finished());
        let served = accepted.and_then(|(stream, _)| {
            let peer = stream.peer_cred()?.uid();
            let stream = stream.into_std()?;
            stream.set_nonblocking(false)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            if peer != owner && peer != 0 {
                tracing::warn!(peer, "another user connected to the store's socket and was refused");
                return refuse(&stream, "only the user who runs the server may use its socket");
            }
            if peers.len() >= AT_A_TIME {
                return refuse(&stream, "too many backups, copies or migrations are running; try again later");
            }
            peers.push(Peer::serve(stream, Arc::clone(answers))?);
            Ok(())
        });
        if let Err(error) = served {
            tracing::warn!(%error, "a connection to the store's socket failed");
            // If file descriptors have run out, the next attempt would fail at once.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    for peer in &peers {
        // The client may have disconnected already.
        let _ = peer.stream.shutdown(Shutdown::Both);
    }
    for peer in peers {
        let _ = peer.thread.join();
    }
}

/// An open connection.
struct Peer {
    /// A clone of the thread's stream, used to end the connection.
    stream: UnixStream,
    thread: JoinHandle<()>,
}

impl Peer {
    fn serve(stream: UnixStream, answers: Arc<Answers>) -> io::Result<Self> {
        let ours = stream.try_clone()?;
        let thread = thread::Builder::new().name("store-client".to_owned()).spawn(move || {
            let answered = answer(&stream, &answers);
            // The connection is open twice, so closing one descriptor does not end the stream.
            let _ = stream.shutdown(Shutdown::Both);
            if let Err(error) = answered {
                tracing::warn!(%error, "a request through the store's socket was not finished");
            }
        })?;
        Ok(Self { stream: ours, thread })
    }
}
