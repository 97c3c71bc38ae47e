//! The note of a copy that fills the prefix. While it is there, servers refuse the prefix.

use std::sync::Arc;

use super::{
    engine::Engine,
    fault::Fault,
    members::Again,
    proto::{RangeRequest, RangeResponse, path},
};

/// The note and its revision, if there is one.
pub(super) async fn read(engine: Arc<Engine>) -> Result<Option<(String, i64)>, Fault> {
    ask(engine).await.map(parse)
}

/// Asks etcd for the note.
pub(super) async fn ask(engine: Arc<Engine>) -> Result<RangeResponse, Fault> {
    let request = RangeRequest { key: engine.keys.copy(), ..RangeRequest::default() };
    engine.members.call(path::RANGE, &request, Again::Always).await
}

/// The note and its revision, as etcd answers.
pub(super) fn parse(answer: RangeResponse) -> Option<(String, i64)> {
    let kv = answer.kvs.into_iter().next()?;
    Some((String::from_utf8_lossy(&kv.value).into_owned(), kv.mod_revision))
}
