//! A commit as a transaction of etcd: all holds and preconditions are compared, and the operations follow if they are true.
//! If not, a second transaction reads the revisions of all keys, to say what failed. It is not a part of the first one,
//! because every write would carry these requests through etcd's log.

use std::sync::Arc;

use super::{
    keys::Keys,
    proto::{
        self, Compare, CompareResult, CompareTarget, DeleteRangeRequest, PutRequest, RangeRequest, RequestOp,
        TxnRequest, TxnResponse,
    },
};
use crate::{Commit, CommitError, Expect, Hold, Op, meta::Revision};

/// No key has this revision.
const NEVER: i64 = -1;

/// What a key's newest revision must be.
#[derive(Clone, Copy)]
enum RevisionCondition {
    /// Anything, for a value that is written without a condition.
    Nothing,
    Exactly(i64),
    Any,
}

impl RevisionCondition {
    fn of_hold(hold: &Hold) -> Self {
        hold.revision.map_or(Self::Exactly(0), at)
    }

    fn of_op(op: &Op) -> Self {
        match (op.expect, op.value.is_none()) {
            (Expect::Any, false) => Self::Nothing,
            (Expect::Any, true) => Self::Any,
            (Expect::Absent, false) => Self::Exactly(0),
            (Expect::Absent, true) => Self::Exactly(NEVER),
            (Expect::At(revision), _) => at(revision),
        }
    }

    /// etcd's revision of a missing key is zero.
    fn compare(self, key: bytes::Bytes) -> Option<Compare> {
        let (result, revision) = match self {
            Self::Nothing => return None,
            Self::Any => (CompareResult::Greater, 0),
            Self::Exactly(revision) => (CompareResult::Equal, revision),
        };
        let target = CompareTarget::Mod.into();
        Some(Compare { result: result.into(), target, key, version: None, mod_revision: Some(revision) })
    }

    fn is_met(self, current: i64) -> bool {
        match self {
            Self::Nothing => true,
            Self::Any => current > 0,
            Self::Exactly(revision) => current == revision,
        }
    }
}

/// A revision that a key has. Zero is what etcd gives for a missing key, and a revision that no key has.
fn at(revision: Revision) -> RevisionCondition {
    RevisionCondition::Exactly(if revision.0 == 0 { NEVER } else { proto::raw(revision) })
}

/// The request of a commit.
pub(super) fn request(keys: &Keys, commit: &Commit) -> Result<TxnRequest, CommitError> {
    let mut request = TxnRequest::default();
    let stored = |key: &Arc<str>| {
        let refused = || CommitError::Refused { full: false, message: format!("the key {key} is not below /registry") };
        keys.stored(key).ok_or_else(refused)
    };
    for hold in &commit.holds {
        let key = stored(&hold.key)?;
        request.compare.extend(RevisionCondition::of_hold(hold).compare(key));
    }
    for op in &commit.ops {
        let key = stored(&op.key)?;
        request.compare.extend(RevisionCondition::of_op(op).compare(key.clone()));
        request.success.push(match &op.value {
            Some(value) => {
                let put = PutRequest { key: key.clone(), value: value.clone(), lease: 0 };
                RequestOp { put: Some(put), ..RequestOp::default() }
            }
            None => RequestOp { delete_range: Some(DeleteRangeRequest { key }), ..RequestOp::default() },
        });
    }
    Ok(request)
}

/// The request that reads the revisions of all keys of a commit.
pub(super) fn question(keys: &Keys, commit: &Commit) -> TxnRequest {
    let all = commit.holds.iter().map(|hold| &hold.key).chain(commit.ops.iter().map(|op| &op.key));
    let read = |key| {
        let range = RangeRequest { key, keys_only: true, ..RangeRequest::default() };
        RequestOp { range: Some(range), ..RequestOp::default() }
    };
    TxnRequest { success: all.filter_map(|key| keys.stored(key)).map(read).collect(), ..TxnRequest::default() }
}

/// The failed precondition, according to the answer to [`question`]. `None` if all hold meanwhile.
pub(super) fn failure(commit: &Commit, answer: &TxnResponse) -> Option<CommitError> {
    let read = |position: usize| {
        let range = answer.responses.get(position)?.range.as_ref()?;
        Some(range.kvs.first().map_or(0, |found| found.mod_revision))
    };
    let conditions =
        commit.holds.iter().map(RevisionCondition::of_hold).chain(commit.ops.iter().map(RevisionCondition::of_op));
    for (position, condition) in conditions.enumerate() {
        let Some(found) = read(position).filter(|found| !condition.is_met(*found)) else { continue };
        let current = Some(proto::revision(found)).filter(|revision| revision.0 > 0);
        return Some(match position.checked_sub(commit.holds.len()) {
            Some(index) => CommitError::Conflict { index, current },
            None => CommitError::Unmet { index: position, current },
        });
    }
    None
}
