//! Many keys at one revision, read in pages.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;

use super::{
    engine::Engine,
    fault::Fault,
    history,
    members::Again,
    proto::{self, KeyValue, RangeRequest, RangeResponse, path},
};
use crate::{Entry, ReadError, meta::Revision};

/// The number of keys in the first page of a span, whose size is not known before.
const FIRST_PAGE: i64 = 32;
/// How many times as many keys as the page before it a page has at most: their values may be larger.
const GROWTH: i64 = 8;
/// The largest number of keys in a page.
const LARGEST_PAGE: i64 = 10_000;
/// The size of a page in bytes that is aimed at.
const PAGE_BYTES: usize = 4 << 20;

/// What is left to read.
pub(super) struct Pages {
    /// The first key and the end of each span.
    spans: VecDeque<(Bytes, Bytes)>,
    /// Zero before the first page of the newest state.
    revision: Revision,
    limit: i64,
}

impl Pages {
    /// The pages of spans, in their order, at a revision or at the newest one.
    pub(super) fn of(spans: impl IntoIterator<Item = (Bytes, Bytes)>, at: Option<Revision>) -> Self {
        Self { spans: spans.into_iter().collect(), revision: at.unwrap_or_default(), limit: FIRST_PAGE }
    }

    /// The entries of the next page, or `None` after the last one.
    pub(super) async fn next(&mut self, engine: &Arc<Engine>) -> Result<Option<Vec<Entry>>, ReadError> {
        let page = self.next_stored(engine).await?;
        Ok(page.map(|page| page.into_iter().filter_map(|kv| engine.entry(kv)).collect()))
    }

    /// The next page as etcd has it, or `None` after the last one.
    pub(super) async fn next_stored(&mut self, engine: &Arc<Engine>) -> Result<Option<Vec<KeyValue>>, ReadError> {
        let Some((key, range_end)) = self.spans.pop_front() else { return Ok(None) };
        let (limit, revision) = (self.limit, proto::raw(self.revision));
        let request = RangeRequest { key, range_end: range_end.clone(), limit, revision, ..RangeRequest::default() };
        let answer: Result<RangeResponse, Fault> = engine.members.call(path::RANGE, &request, Again::Always).await;
        let page = match answer {
            Ok(page) => page,
            Err(fault) => return Err(unread(engine, &fault).await),
        };
        let newest = proto::at(page.header.as_ref());
        engine.position.saw(newest);
        if self.revision.0 == 0 {
            self.revision = newest;
        }
        // The values of the next span may have another size.
        self.limit = FIRST_PAGE;
        if let Some(last) = page.kvs.last().filter(|_| page.more) {
            self.spans.push_front(([&last.key[..], &[0]].concat().into(), range_end));
            let bytes: usize = page.kvs.iter().map(|kv| kv.key.len() + kv.value.len()).sum();
            let fitting = i64::try_from(PAGE_BYTES * page.kvs.len() / bytes.max(1)).unwrap_or(LARGEST_PAGE);
            self.limit = fitting.clamp(1, (limit * GROWTH).min(LARGEST_PAGE));
        }
        Ok(Some(page.kvs))
    }

    /// The revision of all pages.
    pub(super) async fn revision(&self, engine: &Arc<Engine>) -> Result<Revision, ReadError> {
        if self.revision.0 == 0 { engine.newest().await } else { Ok(self.revision) }
    }

    /// All entries, and their revision.
    pub(super) async fn all(mut self, engine: &Arc<Engine>) -> Result<(Vec<Entry>, Revision), ReadError> {
        let mut entries = Vec::new();
        while let Some(page) = self.next(engine).await? {
            entries.extend(page);
        }
        let revision = self.revision(engine).await?;
        Ok((entries, revision))
    }
}

/// Why a state could not be read.
async fn unread(engine: &Arc<Engine>, fault: &Fault) -> ReadError {
    if fault.is_compacted() {
        return history::find_compacted(engine).await.map_or_else(|error| error, ReadError::Compacted);
    }
    if fault.is_future() {
        return engine.newest().await.map_or_else(|error| error, ReadError::Future);
    }
    fault.of_read()
}
