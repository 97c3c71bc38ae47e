//! The trust rule, as pure functions of owner, group and mode:
//!
//! - The owner of a directory or file is the user that runs the server, or root.
//! - Users outside the file's group may never write it.
//! - A group may write the directory if the process is in that group. Kubernetes mounts a volume with an `fsGroup` in
//!   this way (root's, mode 2775 or 2770). This group may then also read and write the files, because Kubernetes grants
//!   that (mode 0660) at each mount. No other group may.
//! - Only the owner, and that group, may read secrets.

use std::{fs::Metadata, os::unix::fs::MetadataExt, path::Path};

use super::{FileError, quoted};

const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;
const ROOT: u32 = 0;

/// What other users may do with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing. A file that they can read is refused.
    Secret,
    /// Nothing. If they can read it, opening it removes that permission: earlier versions created readable files.
    Data,
    /// They may read it.
    Public,
}

/// The user and groups of the process.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) user: u32,
    pub(super) groups: Vec<u32>,
}

/// Who may write the files of a directory.
#[derive(Clone, Debug)]
pub(super) struct Trust {
    user: u32,
    /// The group that the directory is shared with.
    group: Option<u32>,
}

impl Identity {
    /// The identity that the system uses for permission checks.
    pub(super) fn current() -> Self {
        let mut groups: Vec<u32> =
            rustix::process::getgroups().unwrap_or_default().into_iter().map(rustix::process::Gid::as_raw).collect();
        groups.push(rustix::process::getegid().as_raw());
        Self { user: rustix::process::geteuid().as_raw(), groups }
    }

    /// Checks a directory. The result checks the files in it.
    pub(super) fn trust_directory(&self, path: &Path, metadata: &Metadata) -> Result<Trust, FileError> {
        let mode = metadata.mode();
        let mut faults = Faults::new(path);
        faults.owner(self.user, metadata.uid());
        let shared = mode & GROUP_WRITES != 0 && self.groups.contains(&metadata.gid());
        let mut closed = String::new();
        if mode & GROUP_WRITES != 0 && !shared {
            faults.reasons.push(format!("group {}, which the server is not in, can write it", metadata.gid()));
            closed.push('g');
        }
        if mode & OTHERS_WRITE != 0 {
            faults.reasons.push("all users can write it".to_owned());
            closed.push('o');
        }
        if !closed.is_empty() {
            faults.commands.push(format!("chmod {closed}-w {}", quoted(path)));
        }
        faults.end(", or use a directory inside it, which the server creates")?;
        Ok(Trust { user: self.user, group: shared.then_some(metadata.gid()) })
    }
}

impl Trust {
    /// Checks a file of the directory. Returns whether others can read it although they must not; this permission must be
    /// removed.
    pub(super) fn check_file(&self, path: &Path, metadata: &Metadata, access: Access) -> Result<bool, FileError> {
        if !metadata.is_file() {
            let reason = "it is not a file".to_owned();
            return Err(FileError::Untrusted { path: path.to_owned(), reason, remedy: "move it away".to_owned() });
        }
        // The directory's group has the owner's rights.
        let others = if self.group == Some(metadata.gid()) { 0o007 } else { 0o077 };
        let rights = metadata.mode() & others;
        let writable = rights & (GROUP_WRITES | OTHERS_WRITE) != 0;
        let readable = access != Access::Public && rights != 0;
        let mut faults = Faults::new(path);
        faults.owner(self.user, metadata.uid());
        if writable {
            faults.reasons.push("other users can write it".to_owned());
        } else if readable && access == Access::Secret {
            faults.reasons.push("other users can read it".to_owned());
        }
        if writable || readable && access == Access::Secret {
            faults.commands.push(format!("chmod 600 {}", quoted(path)));
        }
        faults.end("")?;
        Ok(readable)
    }
}

/// The faults of one path, and the commands that fix them.
struct Faults<'a> {
    path: &'a Path,
    reasons: Vec<String>,
    commands: Vec<String>,
}

impl<'a> Faults<'a> {
    fn new(path: &'a Path) -> Self {
        Self { path, reasons: Vec::new(), commands: Vec::new() }
    }

    fn owner(&mut self, user: u32, owner: u32) {
        if owner != user && owner != ROOT {
            self.reasons.push(format!("it belongs to user {owner}, and the server runs as user {user}"));
            self.commands.push(format!("chown {user} {}", quoted(self.path)));
        }
    }

    fn end(self, alternative: &str) -> Result<(), FileError> {
        if self.reasons.is_empty() {
            return Ok(());
        }
        let remedy = format!("run `{}`{alternative}", self.commands.join(" && "));
        Err(FileError::Untrusted { path: self.path.to_owned(), reason: self.reasons.join(", and "), remedy })
    }
}
