//! What the engine asks of etcd.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use tokio::{sync::Semaphore, time::timeout};

use super::{
    confirm::Confirms,
    fault::Fault,
    keys::Keys,
    leases::Leases,
    members::{ANSWERED_WITHIN, Again, Members},
    position::Position,
    proto::{self, PutRequest, PutResponse, RangeRequest, RangeResponse, TxnRequest, TxnResponse, path},
    txn,
};
use crate::{
    Change, Commit, CommitError, Entry, Expect, Metrics, Op, Previous, ReadError,
    budget::{self, Budget},
    meta::Revision,
};

/// The number of commits that etcd gets at once. Others wait.
const MOST_IN_FLIGHT: usize = 512;
/// How long a commit waits until the sink has it. It is durable: if the watch is broken, it is acknowledged.
const DELIVERED_WITHIN: Duration = Duration::from_secs(3);
/// The engine without its threads.
pub(super) struct Engine {
    pub members: Arc<Members>,
    pub keys: Keys,
    pub position: Position,
    pub confirms: Confirms,
    pub leases: Leases,
    pub metrics: Metrics,
    /// The bytes of commits that wait, and of those on their way.
    room: Budget,
    in_flight: Semaphore,
    is_marking: AtomicBool,
}

impl Engine {
    pub(super) fn new(members: Members, keys: Keys) -> Self {
        Self {
            members: Arc::new(members),
            keys,
            position: Position::default(),
            confirms: Confirms::default(),
            leases: Leases::default(),
            metrics: Metrics::default(),
            room: Budget::new(budget::BYTES),
            in_flight: Semaphore::new(MOST_IN_FLIGHT),
            is_marking: AtomicBool::new(false),
        }
    }

    /// Commits, and waits until the sink has it.
    pub(super) async fn commit(&self, commit: Commit) -> Result<Vec<Revision>, CommitError> {
        let mut request = txn::request(&self.keys, &commit)?;
        if commit.ops.is_empty() && commit.holds.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.position.asking();
        let known = known.map_err(|message| CommitError::Refused { full: false, message })?;
        let bytes = commit.ops.iter().map(|op| op.key.len() + op.value.as_ref().map_or(0, Bytes::len)).sum();
        let _share = self.room.wait(bytes).await.ok_or(CommitError::Busy)?;
        let answer = {
            // The semaphore is never closed.
            let _place = timeout(ANSWERED_WITHIN, self.in_flight.acquire()).await.map_err(|_| CommitError::Busy)?;
            self.apply(&commit, &mut request, known).await?
        };
        let revision = proto::at(answer.header.as_ref());
        self.position.answered(known, revision).map_err(CommitError::Unknown)?;
        let count = commit.ops.len();
        if count > 0 {
            self.position.saw_change(revision);
            if let Some(changes) = changes(commit, revision) {
                self.position.committed(revision, changes);
            }
            // Late: the write is durable, and consistent reads confirm.
            if timeout(DELIVERED_WITHIN, self.position.delivered(revision)).await.is_err() {
                self.position.forget(revision);
            }
        }
        Ok(vec![revision; count])
    }

    /// Applies a commit, or finds out which precondition does not hold. If a change of another client has made it hold in
    /// the meantime, this begins again.
    async fn apply(
        &self,
        commit: &Commit,
        request: &mut TxnRequest,
        known: Revision,
    ) -> Result<TxnResponse, CommitError> {
        // Nothing was written.
        let refused = |message| CommitError::Refused { full: false, message };
        loop {
            let answer = self.transact(commit, request).await?;
            if answer.succeeded {
                return Ok(answer);
            }
            let question = txn::question(&self.keys, commit);
            let read: Result<TxnResponse, Fault> = self.members.call(path::TXN, &question, Again::Always).await;
            let read = read.map_err(|fault| refused(fault.to_string()))?;
            let at = proto::at(read.header.as_ref());
            self.position.answered(known, at).map_err(refused)?;
            if let Some(failure) = txn::failure(commit, &read) {
                // The caller waits until readers see what came first.
                self.position.want(at);
                return Err(failure);
            }
        }
    }

    async fn transact(&self, commit: &Commit, request: &mut TxnRequest) -> Result<TxnResponse, CommitError> {
        let mut is_first = true;
        loop {
            let leases = self.leases.lend(&self.members, commit, request).await.map_err(Fault::of_commit)?;
            match self.members.call(path::TXN, request, Again::Unsent).await {
                Ok(answer) => return Ok(answer),
                // It ended early, as when etcd's clock was set.
                Err(fault) if is_first && fault.lacks_lease() => {
                    self.leases.forget(&leases);
                    is_first = false;
                }
                Err(fault) => return Err(fault.of_commit()),
            }
        }
    }

    /// The newest revision of etcd, read through the majority of its members. Fails if etcd was restored.
    pub(super) async fn newest(&self) -> Result<Revision, ReadError> {
        let known = self.position.asking().map_err(ReadError::Engine)?;
        let request = RangeRequest { key: self.keys.marker(), keys_only: true, ..RangeRequest::default() };
        let answer: Result<RangeResponse, Fault> = self.members.call(path::RANGE, &request, Again::Always).await;
        let revision = proto::at(answer.map_err(|fault| fault.of_read())?.header.as_ref());
        self.position.answered(known, revision).map_err(ReadError::Engine)?;
        Ok(revision)
    }

    /// One key.
    pub(super) async fn get(&self, key: Bytes) -> Result<Option<Entry>, ReadError> {
        let request = RangeRequest { key, ..RangeRequest::default() };
        let answer: Result<RangeResponse, Fault> = self.members.call(path::RANGE, &request, Again::Always).await;
        let answer = answer.map_err(|fault| fault.of_read())?;
        Ok(answer.kvs.into_iter().find_map(|kv| self.entry(kv)))
    }

    /// An entry of the callers' keys.
    pub(super) fn entry(&self, kv: proto::KeyValue) -> Option<Entry> {
        let key = self.keys.of_stored(&kv.key)?;
        Some(Entry { key, value: Ok(kv.value), revision: proto::revision(kv.mod_revision) })
    }

    /// Writes the engine's own key, which proves the position of a watch.
    pub(super) async fn mark(&self) -> Result<Revision, Fault> {
        let request = PutRequest { key: self.keys.marker(), ..PutRequest::default() };
        let answer: PutResponse = self.members.call(path::PUT, &request, Again::Always).await?;
        let revision = proto::at(answer.header.as_ref());
        self.position.saw_change(revision);
        Ok(revision)
    }
}

/// The changes of a commit as the watch has them. `None` if only etcd knows whether one of them created its key.
fn changes(commit: Commit, revision: Revision) -> Option<Vec<Change>> {
    let change = |op: Op| {
        let previous = match op.expect {
            Expect::Absent => Previous::Absent,
            Expect::At(_) => Previous::Unread,
            Expect::Any if op.value.is_none() => Previous::Unread,
            Expect::Any => return None,
        };
        Some(Change { revision, key: op.key, value: op.value, previous })
    };
    commit.ops.into_iter().map(change).collect()
}

/// Writes the engine's own key, unless that is going on.
pub(super) async fn mark_once(engine: Arc<Engine>) {
    if engine.is_marking.swap(true, Ordering::AcqRel) {
        return;
    }
    if let Err(fault) = engine.mark().await {
        tracing::debug!(%fault, "the marker was not written");
    }
    engine.is_marking.store(false, Ordering::Release);
}
