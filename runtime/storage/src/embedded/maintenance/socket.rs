//! The Unix socket of a running store: `store.sock` in its data directory, with mode 0600.
//!
//! A client sends one line. The answer to `backup 1` is a backup (`archive.rs`) of the store at that moment. Reading it
//! does not block the writer. `state 1` and `changes 1` are answered with objects and changes (`feed.rs`), for copies that
//! go on where they ended. The answer to `migrate 1` is the progress of a storage migration (`migrate.rs`), which the
//! server runs. A client that stops reading is disconnected. Closing the store ends running requests and removes the
//! socket. A start replaces the socket that a killed process left.

use std::{
    fs::{self, DirBuilder, File, Permissions},
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    net::Shutdown,
    os::{
        fd::AsRawFd,
        unix::{
            fs::{DirBuilderExt, MetadataExt, PermissionsExt},
            net::{UnixListener, UnixStream},
        },
    },
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    thread::{self, JoinHandle},
    time::Duration,
};

use redb::ReadTransaction;
use tokio::{net, sync::oneshot};

use super::{
    archive::Writer,
    backup::{StreamError, stream},
    feed,
    migrate::{self, Reports},
    snapshot::Snapshot,
};
use crate::meta::Revision;

const NAME: &str = "store.sock";
/// The socket is created under this name, so that its final name never has looser modes.
const MAKING: &str = "store.sock.new";
/// The longest request in bytes.
const MAX_REQUEST: u64 = 64 << 10;
/// A client that sends and reads nothing for this long is disconnected.
const PATIENCE: Duration = Duration::from_secs(30);
/// The maximum number of concurrent requests.
const AT_A_TIME: usize = 4;
/// The longest address that is used directly; systems allow 104 or 108 bytes.
const MAX_ADDRESS: usize = 100;

/// Begins to read the current state; returns `None` if the store is closing. Must not keep the store open.
pub(in super::super) type Begin = Box<dyn Fn() -> Option<Result<ReadTransaction, redb::Error>> + Send + Sync>;

/// Begins to migrate the named resources, or all; returns `None` if the server is stopping. Must not keep the store open.
pub(in super::super) type Migrate = Box<dyn Fn(Vec<String>) -> Option<Reports> + Send + Sync>;

/// What answers the requests.
pub(in super::super) struct Answers {
    pub begin: Begin,
    /// Set when the server has registered its kinds.
    pub migrate: OnceLock<Migrate>,
}

/// A socket that is served until this is dropped.
pub(in super::super) struct Socket {
    path: PathBuf,
    /// Device and inode of the file, so that only this file is removed.
    identity: (u64, u64),
    /// Dropping it ends the thread.
    close: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Socket {
    /// Serves a store's socket in its directory.
    pub(in super::super) fn serve(dir: &Path, answers: Arc<Answers>) -> io::Result<Self> {
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

/// Uses the socket's address in a directory whose path may be too long for an address.
fn at_address<T>(dir: &Path, using: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let plain = dir.join(NAME);
    if plain.as_os_str().len() <= MAX_ADDRESS {
        return using(&plain);
    }
    let open = File::open(dir)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd())).join(NAME);
    using(&short)
}

/// Connects to the server of a data directory and sends the words of a request.
pub(super) fn connect(dir: &Path, request: &[&str]) -> io::Result<UnixStream> {
    let mut stream = at_address(dir, |address| UnixStream::connect(address))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{}\n", request.join(" ")).as_bytes())?;
    Ok(stream)
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

fn answer(stream: &UnixStream, answers: &Answers) -> io::Result<()> {
    let mut request = String::new();
    BufReader::new(stream.take(MAX_REQUEST)).read_line(&mut request)?;
    let words: Vec<&str> = request.strip_suffix('\n').unwrap_or_default().split(' ').collect();
    match *words {
        ["backup", "1"] => back_up(stream, &answers.begin),
        ["state", "1", after] => match feed::key(after) {
            Ok(after) => send(stream, &answers.begin, |snapshot, out| feed::send_state(snapshot, after, out)),
            Err(why) => refuse(stream, why),
        },
        ["changes", "1", after] => match after.parse() {
            Ok(after) => {
                send(stream, &answers.begin, |snapshot, out| feed::send_changes(snapshot, Revision(after), out))
            }
            Err(_) => refuse(stream, "the request's revision is not a number"),
        },
        ["migrate", "1", ref resources @ ..] => migrate(stream, answers, resources),
        _ => refuse(stream, "this server does not support the request; use the command of its version"),
    }
}

fn migrate(stream: &UnixStream, answers: &Answers, resources: &[&str]) -> io::Result<()> {
    let Some(migrate) = answers.migrate.get() else {
        return refuse(stream, "no server has declared its kinds yet; try again in a moment");
    };
    match migrate(resources.iter().map(|name| (*name).to_owned()).collect()) {
        Some(reports) => migrate::send(reports, stream),
        None => refuse(stream, STOPPING),
    }
}

fn back_up(stream: &UnixStream, begin: &Begin) -> io::Result<()> {
    let Some(began) = begin() else { return refuse(stream, STOPPING) };
    let mut writer = Writer::begin(BufWriter::with_capacity(256 << 10, stream))?;
    let streamed =
        began.map_err(StreamError::from).and_then(|transaction| self::stream(&transaction, &mut writer, |_, _| Ok(())));
    match streamed {
        Ok(()) => {
            tracing::info!("a backup was taken");
            Ok(())
        }
        Err(StreamError::Out(error)) => Err(error),
        Err(error) => {
            writer.fail(&error.to_string())?;
            Err(io::Error::other(error.to_string()))
        }
    }
}

/// Answers with what `send` reads of the current state.
fn send(
    stream: &UnixStream,
    begin: &Begin,
    send: impl FnOnce(&Snapshot, &mut BufWriter<&UnixStream>) -> io::Result<()>,
) -> io::Result<()> {
    let Some(began) = begin() else { return refuse(stream, STOPPING) };
    match began.and_then(|transaction| Snapshot::of(&transaction)) {
        Ok(snapshot) => send(&snapshot, &mut BufWriter::with_capacity(256 << 10, stream)),
        Err(error) => refuse(stream, &format!("the store cannot be read: {error}")),
    }
}

const STOPPING: &str = "the server is stopping";

fn refuse(stream: &UnixStream, why: &str) -> io::Result<()> {
    Writer::begin(stream)?.fail(why)
}
