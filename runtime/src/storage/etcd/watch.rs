//! A watch of all keys below the prefix: whole revisions, in order, with the values before.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::sync::mpsc::UnboundedSender;

use super::{
    engine::Engine,
    fault::Fault,
    members::{Session, texts},
    proto::{self, Event, EventType, WatchCreateRequest, WatchProgressRequest, WatchRequest, WatchResponse, path},
    wire::{Messages, framed},
};
use crate::{meta::Revision, storage::Change};

/// How long a member may take to begin a watch.
const BEGUN_WITHIN: Duration = Duration::from_secs(5);

/// Why a watch ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// Changes after the position are compacted, up to this revision; zero if etcd has not said it.
    Compacted(Revision),
    /// Anything else. The watch can be begun again where it ended.
    Broken(String),
}

impl From<Fault> for Ended {
    fn from(fault: Fault) -> Self {
        Self::Broken(fault.to_string())
    }
}

/// A watch.
pub(super) struct Watch {
    engine: Arc<Engine>,
    session: Arc<Session>,
    requests: UnboundedSender<Bytes>,
    messages: Messages,
    /// The revision that is followed. All changes after it are new.
    after: Revision,
    /// Changes of a revision that is not complete.
    partial: Vec<(Revision, Option<Change>)>,
}

/// What came.
#[derive(Default)]
pub(super) struct News {
    pub changes: Vec<Change>,
    /// The revision up to which everything has come. Zero if nothing is known.
    pub upto: Revision,
    /// The revision of the newest change, also of keys that are not the callers'. Zero if nothing changed.
    pub changed: Revision,
}

impl Watch {
    /// Begins to watch what follows a revision.
    pub(super) async fn open(engine: &Arc<Engine>, after: Revision) -> Result<Self, Ended> {
        let session = engine.members.session().await.map_err(|failed| Ended::Broken(texts(&failed)))?;
        let (key, range_end) = engine.keys.all();
        // It begins at the revision itself, whose changes are left out: were it compacted, etcd would not say that a
        // deletion in the revision after it is lost.
        let start_revision = proto::raw(after).max(1);
        let create =
            WatchCreateRequest { key, range_end, start_revision, progress_notify: true, prev_kv: true, fragment: true };
        let first = WatchRequest { create: Some(create), progress: None };
        let token = session.token();
        let begun = session.connection.stream(path::WATCH, &first, token.as_ref(), BEGUN_WITHIN).await;
        let (requests, messages) = begun?;
        Ok(Self { engine: Arc::clone(engine), session, requests, messages, after, partial: Vec::new() })
    }

    /// True if [`Watch::ask`] gets a correct answer.
    pub(super) fn reports_progress(&self) -> bool {
        self.session.reports_progress
    }

    /// Asks how far the watch is.
    pub(super) fn ask(&self) {
        let request = WatchRequest { create: None, progress: Some(WatchProgressRequest {}) };
        // If the stream has ended, `next` says so.
        let _ = self.requests.send(framed(&request));
    }

    /// Waits for news. Safe to cancel.
    pub(super) async fn next(&mut self) -> Result<News, Ended> {
        let response = self.messages.next().await?;
        let response = response.ok_or_else(|| Ended::Broken("etcd has ended the watch".to_owned()))?;
        self.take(response).await
    }

    /// What came meanwhile, if anything.
    pub(super) async fn next_now(&mut self) -> Result<Option<News>, Ended> {
        match self.messages.next_now().await? {
            Some(response) => self.take(response).await.map(Some),
            None => Ok(None),
        }
    }

    async fn take(&mut self, response: WatchResponse) -> Result<News, Ended> {
        if response.canceled {
            return Err(self.canceled(&response).await);
        }
        if response.events.is_empty() {
            let is_progress = !response.created && !response.fragment && self.session.reports_progress;
            let upto = Some(proto::at(response.header.as_ref())).filter(|_| is_progress && self.partial.is_empty());
            return Ok(News { upto: upto.unwrap_or_default(), ..News::default() });
        }
        for event in response.events {
            let Some(revision) = event.kv.as_ref().map(|kv| proto::revision(kv.mod_revision)) else { continue };
            if revision > self.after {
                let change = self.change(event, revision)?;
                self.partial.push((revision, change));
            }
        }
        // Fragments may end within a revision, of which the rest comes with the next one.
        let open = self.partial.last().filter(|_| response.fragment).map(|(revision, _)| *revision);
        let complete = self.partial.partition_point(|(revision, _)| open.is_none_or(|open| *revision < open));
        let complete: Vec<_> = self.partial.drain(..complete).collect();
        let upto = complete.last().map(|(revision, _)| *revision).unwrap_or_default();
        self.after = self.after.max(upto);
        Ok(News { changes: complete.into_iter().filter_map(|(_, change)| change).collect(), upto, changed: upto })
    }

    async fn canceled(&self, response: &WatchResponse) -> Ended {
        if response.compact_revision > 0 {
            return Ended::Compacted(proto::revision(response.compact_revision));
        }
        // A token that has expired looks like a lack of permission.
        let renewed = self.engine.members.authenticate(&self.session).await;
        let why = renewed.err().map_or_else(|| response.cancel_reason.clone(), |fault| fault.to_string());
        Ended::Broken(format!("etcd has ended the watch: {why}"))
    }

    /// A change of one of the callers' keys.
    fn change(&self, event: Event, revision: Revision) -> Result<Option<Change>, Ended> {
        let deletes = event.r#type() == EventType::Delete;
        let Some(kv) = event.kv else { return Ok(None) };
        let Some(key) = self.engine.keys.of_stored(&kv.key) else { return Ok(None) };
        let previous = event.prev_kv.map(|before| (proto::revision(before.mod_revision), Ok(before.value)));
        // etcd leaves out a value that was compacted before the change was sent.
        if previous.is_none() && (deletes || kv.create_revision != kv.mod_revision) {
            return Err(Ended::Compacted(Revision(0)));
        }
        Ok(Some(Change { revision, key, value: (!deletes).then_some(kv.value), previous }))
    }
}
