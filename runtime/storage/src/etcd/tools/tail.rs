//! The changes between two revisions, for tools: keys, values and leases, without the values before.
//!
//! # How does a tool know that it has all changes up to a revision?
//!
//! A change of that revision or a later one says so. If the last changes were of keys elsewhere, the watch is asked for its
//! progress. Versions of etcd before 3.4.25 and 3.5.8 may answer too early ([`Session::reports_progress`]), and writing a key, as
//! a server does there, is not for a tool that only reads: with them, silence for a while is taken for the end. A copy compares
//! both sides after it, so that a late change is found.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::{
    sync::mpsc::UnboundedSender,
    time::{Instant, sleep_until},
};

use super::deadlines::Deadlines;
use crate::{
    embedded::tools::Edit,
    etcd::{
        engine::Engine,
        fault::Fault,
        keys::Keys,
        members::texts,
        proto::{self, Event, EventType, WatchCreateRequest, WatchRequest, WatchResponse, path},
        session::Session,
        wire::{Messages, framed},
    },
    meta::Revision,
};

/// How long a member may take to begin a watch.
const BEGUN_WITHIN: Duration = Duration::from_secs(5);
/// The pause before the same question is asked again, and the silence that is taken for the end. etcd looks for watches
/// that lag behind every 100 ms.
const QUIET: Duration = Duration::from_millis(500);
/// How long the next changes may take.
const NEXT_WITHIN: Duration = Duration::from_secs(10);
/// How often a watch that breaks is begun again.
const TRIES: usize = 3;

/// Why changes could not be read.
#[derive(Debug)]
pub(super) enum Lost {
    /// They are compacted.
    Compacted,
    /// Anything else.
    Broken(String),
}

impl From<Fault> for Lost {
    fn from(fault: Fault) -> Self {
        Self::Broken(fault.to_string())
    }
}

/// A change of a key.
pub(super) struct KeyChange(Event);

impl KeyChange {
    /// The lease of the value, or zero.
    pub(super) fn lease(&self) -> i64 {
        self.0.kv.as_ref().map_or(0, |kv| kv.lease)
    }

    /// The change, or `None` for a key that is not the callers'.
    pub(super) fn edit(self, keys: &Keys, deadlines: &Deadlines) -> Option<Edit> {
        let (deletes, kv) = (self.0.r#type() == EventType::Delete, self.0.kv?);
        let (key, revision) = (keys.of_stored(&kv.key)?, proto::revision(kv.mod_revision));
        Some(Edit { key, value: (!deletes).then_some(kv.value), revision, deadline_ms: deadlines.known(kv.lease) })
    }
}

/// What is left to read.
pub(super) struct Tail {
    engine: Arc<Engine>,
    /// The revision up to which everything has come.
    at: Revision,
    upto: Revision,
    watch: Option<WatchStream>,
    breaks: usize,
}

struct WatchStream {
    session: Arc<Session>,
    requests: UnboundedSender<Bytes>,
    messages: Messages,
}

impl Tail {
    /// The changes after a revision and up to another one.
    pub(super) fn new(engine: Arc<Engine>, after: Revision, upto: Revision) -> Self {
        Self { engine, at: after, upto, watch: None, breaks: 0 }
    }

    /// True if everything has come.
    pub(super) fn is_done(&self) -> bool {
        self.at >= self.upto
    }

    /// The next changes, perhaps none. Some may be later than the last revision.
    pub(super) async fn next(&mut self) -> Result<Vec<KeyChange>, Lost> {
        loop {
            match self.read().await {
                Err(Lost::Broken(_)) if self.breaks < TRIES => {
                    self.breaks += 1;
                    self.watch = None;
                }
                read => return read,
            }
        }
    }

    async fn read(&mut self) -> Result<Vec<KeyChange>, Lost> {
        let mut watch = match self.watch.take() {
            Some(watch) => watch,
            None => self.open().await?,
        };
        let quiet = if watch.session.reports_progress { Duration::ZERO } else { QUIET };
        let (start, mut next_question) = (Instant::now(), Instant::now() + quiet);
        let response = loop {
            tokio::select! {
                response = watch.messages.next::<WatchResponse>() => {
                    break response?.ok_or_else(|| Lost::Broken("etcd has ended the watch".to_owned()))?;
                }
                () = sleep_until(next_question) => {
                    if !watch.session.reports_progress {
                        self.at = self.upto;
                        return Ok(Vec::new());
                    }
                    if start.elapsed() > NEXT_WITHIN {
                        return Err(Lost::Broken(format!("no changes within {NEXT_WITHIN:?}")));
                    }
                    watch.ask();
                    next_question = Instant::now() + QUIET;
                }
            }
        };
        if response.canceled {
            return Err(canceled(&self.engine, &watch.session, &response).await);
        }
        let is_progress = response.events.is_empty() && !response.created && !response.fragment;
        let reached = if is_progress && watch.session.reports_progress {
            proto::at(response.header.as_ref())
        } else {
            let newest = response.events.iter().filter_map(|event| Some(event.kv.as_ref()?.mod_revision)).max();
            // The rest of the revision may be in the next fragment.
            proto::revision(newest.unwrap_or_default() - i64::from(response.fragment))
        };
        let before = proto::raw(self.at);
        self.at = self.at.max(reached);
        self.watch = Some(watch);
        let is_new = |event: &Event| event.kv.as_ref().is_some_and(|kv| kv.mod_revision > before);
        Ok(response.events.into_iter().filter(is_new).map(KeyChange).collect())
    }

    async fn open(&self) -> Result<WatchStream, Lost> {
        let session = self.engine.members.session().await.map_err(|errors| Lost::Broken(texts(&errors)))?;
        let (key, range_end) = self.engine.keys.all();
        // It begins at the revision that is there already: were that one compacted, etcd would not say that a deletion in
        // the revision after it is lost.
        let start_revision = proto::raw(self.at).max(1);
        let create =
            WatchCreateRequest { key, range_end, start_revision, fragment: true, ..WatchCreateRequest::default() };
        let first = WatchRequest { create: Some(create), progress: None };
        let token = session.token();
        let begun = session.connection.stream(path::WATCH, &first, token.header.as_ref(), BEGUN_WITHIN).await;
        let (requests, messages) = begun?;
        Ok(WatchStream { session, requests, messages })
    }
}

impl WatchStream {
    /// Asks how far the watch is.
    fn ask(&self) {
        let request = WatchRequest { create: None, progress: Some(()) };
        // If the stream has ended, the next message says so.
        let _ = self.requests.send(framed(&request));
    }
}

async fn canceled(engine: &Engine, session: &Session, response: &WatchResponse) -> Lost {
    if response.compact_revision > 0 {
        return Lost::Compacted;
    }
    // A token that has expired looks like a lack of permission.
    let renewed = engine.members.authenticate(session).await;
    let why = renewed.err().map_or_else(|| response.cancel_reason.clone(), |fault| fault.to_string());
    Lost::Broken(format!("etcd has ended the watch: {why}"))
}
