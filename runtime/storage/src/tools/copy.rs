//! The steps of a copy: fill, catch up, follow, verify, finish.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    Comparison, Digest, Place,
    compare::{Pair, Pairs, REPORT, compare_states},
    marker::Marker,
    source::CopySource,
    target::CopyTarget,
};
use crate::{
    Damage, Foreign,
    embedded::tools::{ChangesError, Edit, Error, Object, OnProgress, Progress},
    meta::Revision,
};

/// The size of the objects that are written at a time.
const BATCH_BYTES: usize = 2 << 20;
/// The greatest number of objects that are written at a time.
const BATCH: usize = 1_024;
/// How often the changes of the source are fetched while a copy follows it.
const INTERVAL: Duration = Duration::from_millis(100);
/// How long a copy that follows waits for a source that is stopping.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much the deadlines of a value in two stores may differ.
const DEADLINES_APART_MS: u64 = 120_000;
/// How often a copy goes through all objects because the changes since are compacted.
const ATTEMPTS: u32 = 5;

/// How to copy.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CopyOptions {
    /// Go on to apply the changes of the source, until it is stopped or an interrupt asks for the end.
    pub follow: bool,
    /// Ends the copy early.
    pub interrupt: Arc<Interrupt>,
}

/// Ends a copy from another thread.
#[derive(Debug, Default)]
pub struct Interrupt(AtomicUsize);

impl Interrupt {
    /// Asks for the end. A copy that follows its source completes its target; any other leaves one that a later run
    /// completes. A second request ends the first kind, too.
    pub fn request(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn requests(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A complete copy.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Copied {
    /// The revision of the source that was copied.
    pub source_head: Revision,
    /// The newest revision of the target.
    pub target_head: Revision,
    /// The number of objects with new revisions: all, in etcd; elsewhere the objects that shared a revision in etcd, but one
    /// of them.
    pub renumbered: u64,
    /// The digest of both.
    pub digest: Digest,
    /// True if an earlier run had begun this copy.
    pub resumed: bool,
    /// How often all objects were compared again, because the changes since the beginning were compacted.
    pub restarts: u32,
    /// The number of objects whose values the source cannot read. They are not copied.
    pub damaged: u64,
    /// The first of them.
    pub damages: Vec<(String, Damage)>,
    /// The number of objects that kube-apiserver stored in Protobuf, or encrypted.
    pub foreign: u64,
    /// The first of them.
    pub foreigners: Vec<(String, Foreign)>,
}

/// Copies a store from one place to another that does not exist, or goes on with such a copy.
///
/// Servers may write to the source meanwhile. The target is complete and verified when this returns; before that, it does
/// not exist under its name.
///
/// # Errors
/// [`Error`]. The same call goes on where a failed one ended.
pub fn copy(from: &Place, to: &Place, options: &CopyOptions, progress: OnProgress<'_>) -> Result<Copied, Error> {
    let source = CopySource::open(from, progress)?;
    let name = source.identity(from);
    let mut target = CopyTarget::open(to, &source)?;
    let (marker, resumed) = match target.marker()? {
        None => {
            let marker = Marker::new(name);
            target.write(&[], &marker)?;
            (marker, false)
        }
        Some(text) => {
            let found = Marker::parse(&text).map_err(|message| Error::Place { place: target.unfinished(), message })?;
            if found.source != name {
                let place = target.unfinished();
                return Err(Error::OtherCopy { target: to.to_string(), place, source: found.source });
            }
            (found, true)
        }
    };
    let copy = Copy { from, to, source, target, marker, options, progress, allowed: 0, restarts: 0 };
    copy.run().map(|copied| Copied { resumed, ..copied })
}

struct Copy<'a, 'p> {
    from: &'a Place,
    to: &'a Place,
    source: CopySource,
    target: CopyTarget,
    marker: Marker,
    options: &'a CopyOptions,
    progress: OnProgress<'p>,
    /// How many interrupts do not end the copy.
    allowed: usize,
    restarts: u32,
}

/// What is to be written.
#[derive(Default)]
struct Batch {
    edits: Vec<Edit>,
    bytes: usize,
}

impl Batch {
    /// Adds a change; returns whether the batch is to be written.
    fn push(&mut self, edit: Edit) -> bool {
        self.bytes += edit.key.len() + edit.value.as_ref().map_or(0, bytes::Bytes::len);
        self.edits.push(edit);
        self.bytes >= BATCH_BYTES || self.edits.len() == BATCH
    }

    fn write(&mut self, target: &mut CopyTarget, marker: &Marker) -> Result<(), Error> {
        self.bytes = 0;
        let written = target.write(&self.edits, marker);
        self.edits.clear();
        written
    }

    /// Writes the changes up to a revision. If that fails, the marker stays, and they are fetched again.
    fn apply(&mut self, target: &mut CopyTarget, marker: &mut Marker, upto: u64) -> Result<(), Error> {
        let next = Marker { applied: marker.applied.max(upto), ..marker.clone() };
        self.write(target, &next)?;
        *marker = next;
        Ok(())
    }
}

impl Copy<'_, '_> {
    fn run(mut self) -> Result<Copied, Error> {
        loop {
            let filled = if self.marker.filled { Ok(()) } else { self.fill().map_err(ChangesError::from) };
            let found = filled.and_then(|()| self.catch_up(None)).and_then(|()| self.follow());
            match found.and_then(|()| self.verify()) {
                Ok(found) => return self.finish(found),
                Err(ChangesError::Lost | ChangesError::Failed(Error::Outrun { .. })) if self.restarts == ATTEMPTS => {
                    return Err(Error::Outrun { place: self.from.to_string() });
                }
                Err(ChangesError::Lost | ChangesError::Failed(Error::Outrun { .. })) => {
                    self.restarts += 1;
                    self.marker = Marker::new(self.marker.source.clone());
                }
                Err(ChangesError::Failed(error)) => return Err(error),
            }
        }
    }

    /// Copies each object that the target does not have as it is, and deletes what the source does not have, or what has
    /// expired there.
    fn fill(&mut self) -> Result<(), Error> {
        let after = self.marker.key.clone();
        let state = self.source.state(after.as_deref())?;
        if after.is_none() {
            self.marker.applied = state.head.0;
        }
        // The target's revisions from here on are not those of the source.
        let new_from = if self.target.renumbers() { Revision(0) } else { state.head.next() };
        let mut pairs = Pairs::new(state.objects, self.target.objects(after.as_deref())?);
        let (mut batch, mut seen, mut bytes) = (Batch::default(), self.marker.done, 0);
        let doing = if self.restarts > 0 { "comparing again" } else { "copying" };
        while let Some(Pair { left, right }) = pairs.next()? {
            seen += u64::from(left.is_some());
            let left = left.filter(|left| !left.has_expired());
            let (key, edit) = match (left, right) {
                (Some(left), right) => {
                    let size = left.value.as_ref().map_or(0, bytes::Bytes::len) as u64;
                    bytes += size;
                    let same = right.is_some_and(|right| is_copied(&left, &right, new_from));
                    // A damaged value is reported when the copy is verified.
                    let value = left.value.ok().filter(|_| !same);
                    let edit = value.map(|value| Edit {
                        key: left.key.clone(),
                        value: Some(value),
                        revision: left.revision,
                        deadline_ms: left.deadline_ms,
                    });
                    (left.key, edit)
                }
                (None, Some(right)) => (
                    right.key.clone(),
                    Some(Edit { key: right.key, value: None, revision: Revision(0), deadline_ms: None }),
                ),
                (None, None) => continue,
            };
            let is_full = edit.is_some_and(|edit| batch.push(edit));
            let is_interrupted = self.options.interrupt.requests() > self.allowed;
            if is_full || is_interrupted {
                (self.marker.key, self.marker.done) = (Some(key.to_string()), seen);
                batch.write(&mut self.target, &self.marker)?;
            }
            if is_interrupted {
                return Err(Error::Interrupted);
            }
            if seen % REPORT == 0 {
                (self.progress)(Progress { bytes, ..Progress::new(doing, seen, state.count) });
            }
        }
        (self.marker.key, self.marker.filled) = (None, true);
        batch.write(&mut self.target, &self.marker)
    }

    /// Applies the changes since, up to a revision or to the newest.
    fn catch_up(&mut self, upto: Option<Revision>) -> Result<(), ChangesError> {
        let Self { source, target, marker, options, allowed, progress, .. } = self;
        let (mut batch, mut done) = (Batch::default(), 0_u64);
        let head = source.changes(Revision(marker.applied), &mut |edit| {
            if upto.is_some_and(|upto| edit.revision > upto) {
                return Ok(());
            }
            // Several changes may share a revision, of which the last is not known to be here.
            let before = edit.revision.0.saturating_sub(1);
            if batch.push(edit) {
                batch.apply(target, marker, before)?;
            }
            done += 1;
            if done.is_multiple_of(REPORT) {
                progress(Progress::new("applying changes", done, 0));
            }
            if options.interrupt.requests() > *allowed { Err(Error::Interrupted) } else { Ok(()) }
        })?;
        let applied = upto.map_or(head, |upto| upto.min(head)).0;
        if batch.edits.is_empty() && applied <= self.marker.applied {
            return Ok(());
        }
        Ok(batch.apply(&mut self.target, &mut self.marker, applied)?)
    }

    /// Applies changes as they come, if asked for, until nothing can change or an interrupt asks for the end.
    fn follow(&mut self) -> Result<(), ChangesError> {
        self.allowed = usize::from(self.options.follow);
        let mut failing: Option<Instant> = None;
        while self.options.follow && !self.source.is_final() && self.options.interrupt.requests() < self.allowed {
            thread::sleep(INTERVAL);
            match self.catch_up(None) {
                Ok(()) => failing = None,
                // A server that stops ends its socket first, and its process later.
                Err(ChangesError::Failed(Error::Feed { .. } | Error::Etcd { .. }))
                    if failing.get_or_insert_with(Instant::now).elapsed() < PATIENCE => {}
                Err(error) => return Err(error),
            }
            (self.progress)(Progress::new("following; the newest resourceVersion is", self.marker.applied, 0));
        }
        Ok(())
    }

    /// Compares source and target at one revision.
    fn verify(&mut self) -> Result<Comparison, ChangesError> {
        self.catch_up(None)?;
        let state = self.source.state(None)?;
        let head = state.head;
        self.catch_up(Some(head))?;
        if self.marker.applied > head.0 {
            // The source is not the store that it was.
            return Err(ChangesError::Lost);
        }
        let Self { target, options, allowed, progress, .. } = self;
        let found = compare_states((state, target.objects(None)?), &mut |now| {
            progress(now);
            if options.interrupt.requests() > *allowed { Err(Error::Interrupted) } else { Ok(()) }
        })?;
        if found.different == 0 && found.left.digest == found.right.digest {
            return Ok(found);
        }
        if self.source.may_be_late() && self.restarts < ATTEMPTS {
            return Err(ChangesError::Lost);
        }
        // The next run goes through all objects.
        self.target.write(&[], &Marker::new(self.marker.source.clone()))?;
        Err(Error::Differs { target: self.to.to_string(), count: found.different, keys: found.keys }.into())
    }

    fn finish(self, found: Comparison) -> Result<Copied, Error> {
        let renumbered = self.target.renumbered(found.left.head)?;
        let target_head = self.target.finish(found.left.head)?;
        Ok(Copied {
            source_head: found.left.head,
            target_head,
            renumbered,
            digest: found.right.digest,
            resumed: false,
            restarts: self.restarts,
            damaged: found.left.damaged,
            damages: found.left.damages,
            foreign: found.left.foreign,
            foreigners: found.left.foreigners,
        })
    }
}

/// True if an object of the target is the one of the source. Revisions of the target from `new_from` on are new ones.
fn is_copied(left: &Object, right: &Object, new_from: Revision) -> bool {
    // etcd says how long a value lives in seconds, and counts them anew for each question.
    let deadlines = match (left.deadline_ms, right.deadline_ms) {
        (Some(left), Some(right)) => left.abs_diff(right) <= DEADLINES_APART_MS,
        (left, right) => left == right,
    };
    let revisions = left.revision == right.revision || right.revision >= new_from;
    deadlines && revisions && left.value == right.value
}
