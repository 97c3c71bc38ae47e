//! The single writer thread: takes queued commits, commits them under one fsync, publishes and acknowledges them.
//!
//! Each group also removes as much old history as it adds, and deletes a few expired values. The rest of both, and the
//! recording of free pages for a quick start, waits until the queue is empty. Disk failures are handled in `recovery.rs`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError},
    },
    time::{Duration, Instant},
};

use arc_swap::ArcSwapOption;
use redb::{Durability, WriteTransaction};

use super::{
    Disk, Options,
    full::Full,
    group::{Group, GroupOutcome},
    guard::guarded,
    handle::Current,
    head::Witness,
    history::History,
    layout::End,
    lifetimes::Lifetimes,
    queue::{Answer, Job, Pending, gather},
    recovery::Trouble,
    reserve::Reserve,
};
use crate::{Change, Commit, CommitError, Delivery, Metrics, Sink, meta::Revision};

/// How long the queue must be empty before the writer settles.
const QUIET: Duration = Duration::from_millis(250);

/// How often an idle writer checks that its file is still there.
const LOOK: Duration = Duration::from_secs(1);

/// The writer's progress, as readers see it.
#[derive(Default)]
pub(super) struct Progress {
    head: AtomicU64,
    compacted: AtomicU64,
    /// Why writes are refused.
    refusal: ArcSwapOption<String>,
}

impl Progress {
    pub(super) fn head(&self) -> Revision {
        Revision(self.head.load(Ordering::Acquire))
    }

    pub(super) fn compacted(&self) -> Revision {
        Revision(self.compacted.load(Ordering::Acquire))
    }

    pub(super) fn refusal(&self) -> Option<String> {
        self.refusal.load().as_deref().cloned()
    }

    pub(super) fn refuses(&self, why: Option<&str>) {
        self.refusal.store(why.map(|why| Arc::new(why.to_owned())));
    }
}

/// The writer's own state.
pub(super) struct Writer {
    pub(super) disk: Arc<dyn Disk>,
    /// The same.
    pub(super) reserve: Arc<Reserve>,
    pub(super) options: Options,
    pub(super) current: Arc<Current>,
    pub(super) progress: Arc<Progress>,
    jobs: Receiver<Job>,
    sink: Option<Sink>,
    pub(super) history: History,
    pub(super) lifetimes: Lifetimes,
    pub(super) end: End,
    /// A job taken from the queue while a group was gathered, to be done after the group.
    held: Option<Job>,
    /// Pending requests to compact.
    pub(super) forgetting: Vec<(Revision, SyncSender<Result<(), String>>)>,
    /// True if something was written since the writer last settled.
    pub(super) unsettled: bool,
    /// Why writes are refused, if they are.
    pub(super) trouble: Option<Trouble>,
    /// The writes that are accepted while the disk is full.
    pub(super) full: Option<Full>,
    /// When the file was last opened again.
    pub(super) reopened: Option<Instant>,
    /// The end of the log if the group with unknown outcome was applied.
    pub(super) doubtful: Option<Revision>,
    /// `None` for a store without a directory.
    witness: Option<Witness>,
    metrics: Arc<Metrics>,
}

/// A group that failed to commit.
struct GroupFailure {
    error: redb::Error,
    /// If the engine had begun to commit: the end of the log and the answers in case the group was applied.
    begun: Option<(End, Vec<Answer>)>,
}

impl Writer {
    pub(super) fn new(
        reserve: Arc<Reserve>,
        options: Options,
        current: Arc<Current>,
        jobs: Receiver<Job>,
        ((history, end), lifetimes): ((History, End), Lifetimes),
        witness: Option<Witness>,
        metrics: Arc<Metrics>,
    ) -> Self {
        let progress = Arc::new(Progress::default());
        progress.head.store(end.head.0, Ordering::Release);
        progress.compacted.store(history.compacted_for_readers().0, Ordering::Release);
        Self {
            disk: reserve.clone(),
            reserve,
            options,
            current,
            progress,
            jobs,
            sink: None,
            history,
            lifetimes,
            end,
            held: None,
            forgetting: Vec::new(),
            unsettled: false,
            trouble: None,
            full: None,
            reopened: None,
            doubtful: None,
            witness,
            metrics,
        }
    }

    /// Works until it gets the request to close, or until all senders are gone.
    pub(super) fn run(mut self) {
        self.set_aside();
        while let Some(job) = self.next_job() {
            match job {
                Job::Attach(sink) => self.sink = Some(sink),
                Job::Commit(first) => {
                    let (group, held) = gather(first, &self.jobs);
                    self.held = held;
                    self.metrics.take(group.len());
                    self.commit(group);
                }
                Job::Compact(upto, reply) => {
                    self.history.forget(upto.min(self.end.head));
                    self.forgetting.push((upto.min(self.end.head), reply));
                }
                Job::Look => self.look_at_handle(),
                Job::Close => break,
            }
        }
        self.settle();
    }

    /// The next job. Does maintenance while the queue is empty.
    fn next_job(&mut self) -> Option<Job> {
        loop {
            if let Some(job) = self.held.take() {
                return Some(job);
            }
            match self.jobs.try_recv() {
                Ok(job) => return Some(job),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return None,
            }
            let expires = self.expire();
            if self.tidy() || expires {
                continue;
            }
            match self.jobs.recv_timeout(self.patience()) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Timeout) => {
                    // `ready` records the result. No caller waits for it.
                    let _ = self.ready();
                    self.settle();
                }
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// How long to wait for a job before doing maintenance.
    fn patience(&self) -> Duration {
        if let Some(trouble) = &self.trouble {
            return trouble.patience();
        }
        let lifetimes = self.lifetimes.next_due_ms(self.history.clock().now_ms());
        let next = self.history.next_due_ms().into_iter().chain(lifetimes).min();
        let longest = if self.unsettled { QUIET } else { LOOK };
        next.map_or(longest, |ms| Duration::from_millis(ms.saturating_add(1)).min(longest))
    }

    /// Commits a group: makes it durable, then publishes it, then acknowledges it.
    fn commit(&mut self, group: Vec<Pending>) {
        let (commits, waiting): (Vec<_>, Vec<_>) =
            group.into_iter().map(|Pending { commit, reply, share }| (commit, (reply, share))).unzip();
        let answers = match self.ready() {
            Ok(()) => {
                let metrics = Arc::clone(&self.metrics);
                Metrics::time(&metrics.commits, || self.write_or_recover(commits))
            }
            Err(refusal) => Err(refusal.into()),
        };
        let answers = answers.unwrap_or_else(|error| vec![Err(error); waiting.len()]);
        for ((reply, share), answer) in waiting.into_iter().zip(answers) {
            drop(share);
            // A caller that dropped its future no longer needs the answer.
            let _ = reply.send(answer);
        }
        self.answer_forgetting();
    }

    /// Writes a group. If that fails, determines whether the group was applied.
    fn write_or_recover(&mut self, commits: Vec<Commit>) -> Result<Vec<Answer>, CommitError> {
        let GroupFailure { error, begun } = match self.write(commits) {
            Ok((GroupOutcome { changes, end, compacted, lifetimes, changed }, answers)) => {
                if changed {
                    self.history.kept_up(compacted);
                    self.look_at_disk();
                }
                self.lifetimes = lifetimes;
                self.publish(&changes, end);
                return Ok(answers);
            }
            Err(failure) => *failure,
        };
        self.doubtful = begun.as_ref().map(|(end, _)| end.head);
        let refusal = self.fail(error);
        self.try_at_once();
        match begun {
            Some(_) if self.doubtful.is_some() => Err(CommitError::Unknown(refusal.message)),
            Some((end, answers)) if self.progress.head() == end.head => Ok(answers),
            _ => Err(refusal.into()),
        }
    }

    /// Writes a group in one transaction. It is durable when this returns.
    fn write(&mut self, commits: Vec<Commit>) -> Result<(GroupOutcome, Vec<Answer>), Box<GroupFailure>> {
        let prepared = guarded(|| self.prepare(commits));
        let (transaction, outcome, answers) =
            prepared.map_err(|error| Box::new(GroupFailure { error, begun: None }))?;
        if let Some(transaction) = transaction {
            let committed = guarded(|| Ok(transaction.commit()?));
            if let Err(error) = committed {
                return Err(Box::new(GroupFailure { error, begun: Some((outcome.end, answers)) }));
            }
            self.unsettled = true;
        }
        Ok((outcome, answers))
    }

    /// Writes a group up to its commit. Returns no transaction if the group changes nothing.
    fn prepare(
        &mut self,
        commits: Vec<Commit>,
    ) -> Result<(Option<WriteTransaction>, GroupOutcome, Vec<Answer>), redb::Error> {
        let transaction = self.current.get().db().begin_write()?;
        let mut group = Group::begin(&transaction, self.history.clock().now_ms())?;
        let answers: Vec<_> = commits
            .into_iter()
            .map(|commit| match self.admit(&commit) {
                Ok(bytes) => group.commit(commit).inspect(|done| self.spend(bytes, done)),
                Err(refused) => Ok(Err(refused)),
            })
            .collect::<Result<_, _>>()?;
        group.expire(!answers.is_empty())?;
        // Age and requests tell it what to remove.
        self.history.due(self.end);
        group.compact(&self.history)?;
        let outcome = group.finish()?;
        if !outcome.changed {
            transaction.abort()?;
            return Ok((None, outcome, answers));
        }
        self.history.mark(&transaction, self.end.head.next(), false)?;
        Ok((Some(transaction), outcome, answers))
    }

    /// Publishes durable changes to readers and the sink.
    pub(super) fn publish(&mut self, changes: &[Change], end: End) {
        self.end = end;
        self.progress.head.store(end.head.0, Ordering::Release);
        self.progress.compacted.store(self.history.compacted_for_readers().0, Ordering::Release);
        if changes.is_empty() {
            return;
        }
        if let Some(witness) = &self.witness {
            witness.testify(end.head);
        }
        if let Some(sink) = &mut self.sink {
            sink(Delivery::Changes(changes, end.head));
        }
    }

    /// Deletes some of the expired values while no commit waits. Returns whether there are more.
    fn expire(&mut self) -> bool {
        let due = |writer: &Self| writer.trouble.is_none() && writer.lifetimes.due(writer.history.clock().now_ms());
        if due(self) && self.ready().is_ok() {
            // No caller waits for an answer, and `recovery.rs` has taken care of an error.
            let _ = self.write_or_recover(Vec::new());
        }
        due(self)
    }

    /// Removes a little expired history while no commit waits. Returns whether more remains.
    fn tidy(&mut self) -> bool {
        if self.trouble.is_none() && self.history.due(self.end) {
            let handle = self.current.get();
            // The engine reuses pages of the last durable commit only after the next one. Without durable steps, compaction
            // would write a new page for each page that it changes, and a full disk has no space for them.
            let durability = if self.full.is_some() { Durability::Immediate } else { Durability::None };
            match guarded(|| self.history.step(handle.db(), durability)) {
                Ok(()) => {
                    self.unsettled = true;
                    self.look_at_disk();
                }
                Err(error) => self.fail_and_try(error),
            }
            self.progress.compacted.store(self.history.compacted_for_readers().0, Ordering::Release);
        }
        self.answer_forgetting();
        self.trouble.is_none() && self.history.due(self.end)
    }

    fn answer_forgetting(&mut self) {
        // A full disk refuses values, but not compaction.
        let (refusal, compacted) = (self.trouble.as_ref().map(Trouble::refusal), self.history.compacted());
        self.forgetting.retain(|(upto, reply)| {
            let answer = match refusal {
                Some(refusal) => Err(refusal.message.clone()),
                None if *upto <= compacted => Ok(()),
                None => return true,
            };
            let _ = reply.send(answer);
            false
        });
    }

    /// Runs after a burst of writes. Makes everything durable, and lets the engine record what it would otherwise have
    /// to find by reading the whole file after a crash.
    fn settle(&mut self) {
        if !self.unsettled || self.trouble.is_some() {
            return;
        }
        self.unsettled = false;
        let handle = self.current.get();
        let settled = guarded(|| {
            let mut transaction = handle.db().begin_write()?;
            transaction.set_quick_repair(true);
            self.history.mark(&transaction, self.end.head.next(), true)?;
            Ok(transaction.commit()?)
        });
        match settled {
            Ok(()) => self.look_at_disk(),
            Err(error) => self.fail_and_try(error),
        }
    }

    /// Handles a reader's error after which the engine may read nothing more.
    fn look_at_handle(&mut self) {
        if self.trouble.is_none() && !self.current.get().is_readable() {
            self.fail_and_try(redb::Error::PreviousIo);
        }
    }

    fn fail_and_try(&mut self, error: redb::Error) {
        self.fail(error);
        self.try_at_once();
    }
}
