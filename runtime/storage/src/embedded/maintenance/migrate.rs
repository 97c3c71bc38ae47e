//! Storage migration through the socket of a running server, which is the only one that knows the kinds.
//!
//! The request is the line `migrate 1`, followed by names of resources; without names all resources are migrated. The
//! answer is one [`Report`] in JSON on each line. The server ends the migration when the client disconnects.

use std::{
    io::{self, BufRead, BufReader, BufWriter, Write},
    os::unix::net::UnixStream,
    path::Path,
};

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::{Error, archive::Reader, locked_dir::LockedDir, socket};
use crate::OpenError;

/// The progress of a resource's storage migration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Migration {
    /// The resource, such as `books.library.example.com`.
    pub resource: String,
    /// The number of objects examined.
    pub seen: u64,
    /// The number of objects rewritten.
    pub rewritten: u64,
    /// The number of objects left unchanged because they cannot be read or converted, or would be too large.
    pub skipped: u64,
    /// Key, below the resource's prefix, and reason of the first hundred skipped objects.
    pub reasons: Vec<(String, String)>,
    /// The number of objects not yet examined.
    pub left: u64,
}

/// A line of a server's answer.
#[derive(Debug, Serialize, Deserialize)]
pub enum Report {
    /// The progress of one resource. Only the last report of a resource has the reasons.
    Progress(Migration),
    /// Why the migration ended early; the last line.
    Failed(String),
    /// The migration is complete; the last line.
    Done,
}

/// The reports of a running migration. Dropping the receiver ends the migration.
pub type Reports = mpsc::Receiver<Report>;

/// Asks the server that uses a data directory to rewrite the objects of the named resources, or of all resources, that are
/// not stored in the current version and form. Returns the outcome for each resource.
///
/// The server keeps serving requests. If this process ends early, the server ends the migration; the next migration
/// rewrites the remaining objects.
///
/// # Errors
/// [`Error::NoServer`] if no server uses the directory; [`Error::Migration`] if the server does not have a resource, or
/// cannot write. Objects that were reported as rewritten are stored.
pub fn migrate(
    dir: &Path,
    resources: &[String],
    progress: &mut dyn FnMut(&Migration),
) -> Result<Vec<Migration>, Error> {
    match LockedDir::open(dir) {
        Ok(_) => return Err(Error::NoServer { dir: dir.to_owned() }),
        Err(Error::Open(OpenError::InUse { .. })) => {}
        Err(error) => return Err(error),
    }
    let failed = |message: String| Error::Migration { dir: dir.to_owned(), message };
    let unreachable = |error: io::Error| failed(format!("its socket cannot be reached: {error}"));
    let request: Vec<&str> = ["migrate", "1"].into_iter().chain(resources.iter().map(String::as_str)).collect();
    let from = socket::connect(dir, &request).map_err(unreachable)?;
    // A slow disk can delay reports. If the server ends, the socket is closed.
    from.set_read_timeout(None).map_err(unreachable)?;
    let mut migrated = Vec::new();
    for report in reports(from) {
        match report.map_err(failed)? {
            Report::Progress(migration) => {
                progress(&migration);
                if migration.left == 0 {
                    migrated.push(migration);
                }
            }
            Report::Failed(why) => return Err(failed(why)),
            Report::Done => return Ok(migrated),
        }
    }
    Err(failed("the server has stopped".to_owned()))
}

/// The reports that a server sends.
fn reports(from: UnixStream) -> impl Iterator<Item = Result<Report, String>> {
    let mut from = BufReader::new(from);
    std::iter::from_fn(move || {
        let begin = match from.fill_buf() {
            Ok(begin) => begin,
            Err(error) => return Some(Err(error.to_string())),
        };
        // Refusals have the format of an archive, which begins with `kindsmith-backup`.
        if begin.first() == Some(&b'k') {
            let refused = Reader::begin(&mut from).err();
            return Some(Err(refused.map_or_else(|| "it sends a backup".to_owned(), |error| error.to_string())));
        }
        let mut line = String::new();
        match from.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(serde_json::from_str(&line).map_err(|error| format!("its answer cannot be read: {error}"))),
            Err(error) => Some(Err(error.to_string())),
        }
    })
}

/// Sends reports to a client until the migration ends.
pub(super) fn send(mut reports: Reports, to: &UnixStream) -> io::Result<()> {
    let mut to = BufWriter::new(to);
    while let Some(report) = reports.blocking_recv() {
        serde_json::to_writer(&mut to, &report)?;
        to.write_all(b"\n")?;
        to.flush()?;
    }
    Ok(())
}
