//! Compaction of etcd by one of all servers that use it, kube-apiservers among them. They agree as kube-apiserver does: a
//! key counts the compactions, and who raises its version compacts to the revision that it saw one interval ago.

use std::{sync::Weak, time::Duration};

use bytes::Bytes;
use tokio::time::sleep;

use super::{
    engine::Engine,
    fault::Fault,
    members::Again,
    proto::{
        self, CompactionRequest, Compare, CompareResult, CompareTarget, PutRequest, RangeRequest, RequestOp,
        TxnRequest, TxnResponse, path,
    },
};
use crate::meta::Revision;

/// kube-apiserver's key. Its value is the revision of the last compaction.
const KEY: Bytes = Bytes::from_static(b"compact_rev_key");

/// What a server knows of the compactions.
#[derive(Default)]
struct Turn {
    /// How many there were, which is the version of the key.
    count: i64,
    /// etcd's revision when the server saw that number. Zero before it saw any.
    seen: Revision,
}

/// Compacts at intervals, as long as the engine lives; never if the interval is zero.
pub(super) async fn run(engine: Weak<Engine>, interval: Duration) {
    if interval.is_zero() {
        return;
    }
    let mut turn = Turn::default();
    loop {
        sleep(interval).await;
        let Some(engine) = engine.upgrade() else { return };
        if let Err(fault) = turn.take(&engine).await {
            if fault.is_forbidden() {
                tracing::warn!(
                    "etcd's user may not write the key compact_rev_key: this server never compacts etcd; grant it, or let etcd \
                     compact by itself (--auto-compaction-retention)"
                );
                return;
            }
            tracing::warn!(%fault, "etcd was not compacted; trying again at the next interval");
        }
    }
}

impl Turn {
    /// Compacts, unless another server has done so in the interval.
    async fn take(&mut self, engine: &Engine) -> Result<(), Fault> {
        let answer: TxnResponse = engine.members.call(path::TXN, &self.request(), Again::Unsent).await?;
        let now = proto::at(answer.header.as_ref());
        let seen = std::mem::replace(&mut self.seen, now);
        if !answer.succeeded {
            let found = answer.responses.first().and_then(|response| response.range.as_ref()?.kvs.first());
            self.count = found.map_or(0, |kv| kv.version);
            let told = found.and_then(|kv| std::str::from_utf8(&kv.value).ok()?.parse().ok());
            engine.position.saw_compaction(Revision(told.unwrap_or_default()));
            return Ok(());
        }
        self.count += 1;
        if seen.0 == 0 {
            return Ok(());
        }
        compact(engine, seen).await
    }

    fn request(&self) -> TxnRequest {
        let is_ours = Compare {
            result: CompareResult::Equal.into(),
            target: CompareTarget::Version.into(),
            key: KEY,
            version: Some(self.count),
            mod_revision: None,
        };
        let put = PutRequest { key: KEY, value: self.seen.0.to_string().into(), lease: 0 };
        let read = RangeRequest { key: KEY, ..RangeRequest::default() };
        TxnRequest {
            compare: vec![is_ours],
            success: vec![RequestOp { put: Some(put), ..RequestOp::default() }],
            failure: vec![RequestOp { range: Some(read), ..RequestOp::default() }],
        }
    }
}

/// Removes history up to a revision. Does nothing if it is gone already.
pub(super) async fn compact(engine: &Engine, upto: Revision) -> Result<(), Fault> {
    let request = CompactionRequest { revision: proto::raw(upto) };
    let answer: Result<(), Fault> = engine.members.call(path::COMPACT, &request, Again::Always).await;
    match answer {
        Err(fault) if fault.is_compacted() => Ok(()),
        answer => answer.map(|()| _ = engine.position.saw_compaction(upto)),
    }
}
