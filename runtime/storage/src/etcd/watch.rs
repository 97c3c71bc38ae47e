//! A watch of all keys below the prefix: whole revisions, in order, and the replaced values if they are asked for.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::sync::mpsc::UnboundedSender;
use twox_hash::XxHash3_64;

use super::{
    engine::Engine,
    fault::Fault,
    members::texts,
    proto::{self, Event, EventType, WatchCreateRequest, WatchRequest, WatchResponse, path},
    session::Session,
    wire::{Messages, framed},
};
use crate::{Change, Previous, meta::Revision};

/// How long a member may take to begin a watch.
const BEGUN_WITHIN: Duration = Duration::from_secs(5);

/// Why a watch ended.
#[derive(Debug)]
pub(super) enum WatchError {
    /// Changes after the position are compacted, up to this revision; zero if etcd has not said it.
    Compacted(Revision),
    /// Anything else. The watch can be begun again where it ended.
    Broken(String),
}

impl From<Fault> for WatchError {
    fn from(fault: Fault) -> Self {
        Self::Broken(fault.to_string())
    }
}

/// A change that was seen: another history than that has another one at its revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    revision: Revision,
    digest: u64,
}

impl Sample {
    /// The sample of a value that was put.
    pub(super) fn of(revision: Revision, key: &[u8], value: &[u8]) -> Self {
        let digest = XxHash3_64::oneshot(key) ^ XxHash3_64::oneshot_with_seed(1, value);
        Self { revision, digest }
    }

    /// The sample of an event, unless it is a deletion, which a compaction up to its revision removes.
    fn of_event(event: &Event) -> Option<Self> {
        let kv = event.kv.as_ref().filter(|_| event.r#type() == EventType::Put)?;
        Some(Self::of(proto::revision(kv.mod_revision), &kv.key, &kv.value))
    }
}

/// Whether changes come with the values that they replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PreviousValues {
    /// etcd reads each of them, and sends it with the change.
    Read,
    LeftOut,
}

/// A watch.
pub(super) struct Watch {
    engine: Arc<Engine>,
    session: Arc<Session>,
    requests: UnboundedSender<Bytes>,
    messages: Messages,
    previous_values: PreviousValues,
    /// The revision that is followed. All changes after it are new.
    after: Revision,
    /// The change that must come first, if one is known.
    expected: Option<Sample>,
    /// Changes of a revision that is not complete.
    partial: Vec<Event>,
}

/// What came.
#[derive(Default)]
pub(super) struct News {
    pub changes: Vec<Change>,
    /// The revision up to which everything has come. Zero if nothing is known.
    pub upto: Revision,
    /// The revision of the newest change, also of keys that are not the callers'. Zero if nothing changed.
    pub changed: Revision,
    /// The newest change that another watch can begin with.
    pub sample: Option<Sample>,
}

impl News {
    /// The size of the values.
    pub(super) fn bytes(&self) -> usize {
        self.changes.iter().filter_map(|change| change.value.as_ref()).map(Bytes::len).sum()
    }
}

impl Watch {
    /// Begins to watch what follows a revision. If a change up to there is given, it is read once more, to see whether etcd
    /// still has it.
    pub(super) async fn open(
        engine: &Arc<Engine>,
        after: Revision,
        previous_values: PreviousValues,
        expected: Option<Sample>,
    ) -> Result<Self, WatchError> {
        let session = engine.members.session().await.map_err(|errors| WatchError::Broken(texts(&errors)))?;
        let (key, range_end) = engine.keys.all();
        // It begins at the revision itself, whose changes are left out: were it compacted, etcd would not say that a
        // deletion in the revision after it is lost.
        let start_revision = proto::raw(expected.map_or(after, |sample| sample.revision)).max(1);
        let create = WatchCreateRequest {
            key,
            range_end,
            start_revision,
            progress_notify: true,
            prev_kv: previous_values == PreviousValues::Read,
            fragment: true,
        };
        let first = WatchRequest { create: Some(create), progress: None };
        let token = session.token();
        let begun = session.connection.stream(path::WATCH, &first, token.header.as_ref(), BEGUN_WITHIN).await;
        let (requests, messages) = begun?;
        let (engine, partial) = (Arc::clone(engine), Vec::new());
        Ok(Self { engine, session, requests, messages, previous_values, after, expected, partial })
    }

    /// True if [`Watch::ask`] gets a correct answer.
    pub(super) fn reports_progress(&self) -> bool {
        self.session.reports_progress
    }

    /// Asks how far the watch is.
    pub(super) fn ask(&self) {
        let request = WatchRequest { create: None, progress: Some(()) };
        // If the stream has ended, `next` says so.
        let _ = self.requests.send(framed(&request));
    }

    /// True if the calls of the engine go to the member that this watch is on.
    pub(super) fn is_on_the_member_in_use(&self) -> bool {
        self.engine.members.is_in_use(&self.session)
    }

    /// Leaves out what comes of changes up to a revision.
    pub(super) fn leave_out(&mut self, upto: Revision) {
        self.after = self.after.max(upto);
        self.partial.retain(|event| revision_of(event) > upto);
    }

    /// Waits for news. Safe to cancel.
    pub(super) async fn next(&mut self) -> Result<News, WatchError> {
        let response = self.messages.next().await?;
        let response = response.ok_or_else(|| WatchError::Broken("etcd has ended the watch".to_owned()))?;
        self.take(response)
    }

    /// What came meanwhile, if anything.
    pub(super) async fn next_now(&mut self) -> Result<Option<News>, WatchError> {
        match self.messages.next_now().await? {
            Some(response) => self.take(response).map(Some),
            None => Ok(None),
        }
    }

    fn take(&mut self, response: WatchResponse) -> Result<News, WatchError> {
        if response.canceled {
            return Err(self.canceled(&response));
        }
        if response.events.is_empty() {
            let is_progress = !response.created && !response.fragment && self.session.reports_progress;
            let upto = Some(proto::at(response.header.as_ref())).filter(|_| is_progress && self.partial.is_empty());
            return Ok(News { upto: upto.unwrap_or_default(), ..News::default() });
        }
        let is_first =
            |expected: &Sample| response.events.first().and_then(Sample::of_event).as_ref() == Some(expected);
        if let Some(expected) = self.expected.take().filter(|expected| !is_first(expected)) {
            let why = format!("its change of revision {} is not the one that this server has seen", expected.revision);
            return Err(WatchError::Broken(self.engine.position.replaced(&why)));
        }
        self.partial.extend(response.events.into_iter().filter(|event| revision_of(event) > self.after));
        // Fragments may end within a revision, of which the rest comes with the next one.
        let open = self.partial.last().filter(|_| response.fragment).map(revision_of);
        let complete = self.partial.partition_point(|event| open.is_none_or(|open| revision_of(event) < open));
        let complete: Vec<_> = self.partial.drain(..complete).collect();
        let upto = complete.last().map(revision_of).unwrap_or_default();
        self.after = self.after.max(upto);
        let newest = complete.partition_point(|event| revision_of(event) < upto);
        let sample = complete.get(newest).and_then(Sample::of_event);
        let changes =
            complete.into_iter().filter_map(|event| self.change(event).transpose()).collect::<Result<_, _>>()?;
        Ok(News { changes, upto, changed: upto, sample })
    }

    fn canceled(&self, response: &WatchResponse) -> WatchError {
        if response.compact_revision > 0 {
            return WatchError::Compacted(proto::revision(response.compact_revision));
        }
        // A token that has expired looks like a lack of permission. The next watch has a new one; if this waited for it, a
        // caller that stops waiting would lose the end of this watch.
        let (engine, session) = (Arc::clone(&self.engine), Arc::clone(&self.session));
        tokio::spawn(async move { engine.members.authenticate(&session).await });
        WatchError::Broken(format!("etcd has ended the watch: {}", response.cancel_reason))
    }

    /// A change of one of the callers' keys.
    fn change(&self, event: Event) -> Result<Option<Change>, WatchError> {
        let (deletes, revision) = (event.r#type() == EventType::Delete, revision_of(&event));
        let Some(kv) = event.kv else { return Ok(None) };
        let Some(key) = self.engine.keys.of_stored(&kv.key) else { return Ok(None) };
        let previous = match event.prev_kv {
            Some(before) => Previous::Value(proto::revision(before.mod_revision), Ok(before.value)),
            None if !deletes && kv.create_revision == kv.mod_revision => Previous::Absent,
            // etcd leaves out a value that was compacted before the change was sent.
            None if self.previous_values == PreviousValues::Read => return Err(WatchError::Compacted(Revision(0))),
            None => Previous::Unread,
        };
        Ok(Some(Change { revision, key, value: (!deletes).then_some(kv.value), previous }))
    }
}

fn revision_of(event: &Event) -> Revision {
    event.kv.as_ref().map(|kv| proto::revision(kv.mod_revision)).unwrap_or_default()
}
