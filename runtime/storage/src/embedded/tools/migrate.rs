//! Asks a running server, which is the only one that knows the kinds, for a storage migration.

use std::{
    io::{self, BufRead, BufReader},
    os::unix::net::UnixStream,
    path::Path,
};

use super::{Error, client, locked_dir::LockedDir};
use crate::migration::{Migration, Report};

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
    if LockedDir::open_unless_in_use(dir)?.is_some() {
        return Err(Error::NoServer { dir: dir.to_owned() });
    }
    let failed = |message: String| Error::Migration { dir: dir.to_owned(), message };
    let unreachable = |error: io::Error| failed(format!("its socket cannot be reached: {error}"));
    let request: Vec<&str> = ["migrate", "1"].into_iter().chain(resources.iter().map(String::as_str)).collect();
    let from = client::connect(dir, &request).map_err(unreachable)?;
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
        if begin.first() == Some(&client::REFUSAL) {
            return Some(Err(client::refusal(&mut from)));
        }
        let mut line = String::new();
        match from.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(serde_json::from_str(&line).map_err(|error| format!("its answer cannot be read: {error}"))),
            Err(error) => Some(Err(error.to_string())),
        }
    })
}
