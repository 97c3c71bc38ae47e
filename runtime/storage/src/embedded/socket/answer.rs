//! Reads a request from a connection, and answers it.

use std::{
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    os::unix::net::UnixStream,
    sync::OnceLock,
};

use redb::ReadTransaction;

use super::feed;
use crate::{
    embedded::{
        archive::{
            Writer,
            stream::{self, StreamError},
        },
        snapshot::Snapshot,
    },
    meta::Revision,
    migration::Reports,
};

/// The longest request in bytes.
const MAX_REQUEST: u64 = 64 << 10;

const STOPPING: &str = "the server is stopping";

/// Begins to read the current state; returns `None` if the store is closing. Must not keep the store open.
pub(in crate::embedded) type Begin = Box<dyn Fn() -> Option<Result<ReadTransaction, redb::Error>> + Send + Sync>;

/// Begins to migrate the named resources, or all; returns `None` if the server is stopping. Must not keep the store open.
pub(in crate::embedded) type Migrate = Box<dyn Fn(Vec<String>) -> Option<Reports> + Send + Sync>;

/// What answers the requests.
pub(in crate::embedded) struct Answers {
    pub begin: Begin,
    /// Set when the server has registered its kinds.
    pub migrate: OnceLock<Migrate>,
}

/// Reads a request, and answers it.
pub(super) fn answer(stream: &UnixStream, answers: &Answers) -> io::Result<()> {
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
        Some(reports) => report(reports, stream),
        None => refuse(stream, STOPPING),
    }
}

/// Sends reports to a client until the migration ends.
fn report(mut reports: Reports, to: &UnixStream) -> io::Result<()> {
    let mut to = BufWriter::new(to);
    while let Some(report) = reports.blocking_recv() {
        serde_json::to_writer(&mut to, &report)?;
        to.write_all(b"\n")?;
        to.flush()?;
    }
    Ok(())
}

fn back_up(stream: &UnixStream, begin: &Begin) -> io::Result<()> {
    let Some(began) = begin() else { return refuse(stream, STOPPING) };
    let mut writer = Writer::begin(BufWriter::with_capacity(256 << 10, stream))?;
    let streamed =
        began.map_err(StreamError::from).and_then(|transaction| stream::stream(&transaction, &mut writer, |_, _| {}));
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

/// Sends an error instead of an answer, as an archive that consists of it.
pub(super) fn refuse(stream: &UnixStream, why: &str) -> io::Result<()> {
    Writer::begin(stream)?.fail(why)
}
