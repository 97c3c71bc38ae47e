//! The jobs that wait for the writer, and the groups in which it takes commits.

use std::sync::mpsc::{Receiver, SyncSender};

use bytes::Bytes;
use tokio::sync::oneshot;

use crate::{Commit, CommitError, Op, Sink, budget::Share, meta::Revision};

/// The maximum number of commits in a group, and the size in bytes at which it takes no more. Later ones wait for the next
/// fsync.
const GROUP: usize = 512;
pub(super) const GROUP_BYTES: usize = 8 << 20;

pub(super) type Answer = Result<Vec<Revision>, CommitError>;

/// A job for the writer, in queue order.
pub(super) enum Job {
    Attach(Sink),
    Commit(Pending),
    Compact(Revision, SyncSender<Result<(), String>>),
    /// A reader got an error of the disk.
    Look,
    Close,
}

/// A commit that waits for its answer.
pub(super) struct Pending {
    pub(super) commit: Commit,
    pub(super) reply: oneshot::Sender<Answer>,
    /// Its share of the queue's budget.
    pub(super) share: Share,
}

/// About the memory that a commit takes while it waits.
pub(super) fn size(Commit { ops, holds }: &Commit) -> usize {
    let op = |op: &Op| size_of::<Op>() + op.key.len() + op.value.as_ref().map_or(0, Bytes::len);
    // The keys of holds are shared by many commits.
    size_of::<Pending>() + ops.iter().map(op).sum::<usize>() + size_of_val(&**holds)
}

/// Takes the commits that are queued behind a commit. Returns the group, and the job that ended it.
pub(super) fn gather(first: Pending, jobs: &Receiver<Job>) -> (Vec<Pending>, Option<Job>) {
    let mut bytes = first.share.bytes();
    let mut group = vec![first];
    while group.len() < GROUP && bytes < GROUP_BYTES {
        match jobs.try_recv() {
            Ok(Job::Commit(next)) => {
                bytes += next.share.bytes();
                group.push(next);
            }
            Ok(other) => return (group, Some(other)),
            Err(_) => break,
        }
    }
    (group, None)
}
