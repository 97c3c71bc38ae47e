//! The one thread that writes: takes what has queued up, commits it under one fsync, publishes, acknowledges.
//! Tidies up (history, the engine's notes for a quick start) only when nobody waits, or in steps too short to notice.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError},
    },
    time::Duration,
};

use tokio::sync::oneshot;

use super::{
    group::Group,
    guard::{Engine, guarded},
    head::Witness,
    history::History,
    layout::End,
};
use crate::{
    meta::Revision,
    storage::{Change, CommitError, Op, Sink},
};

/// Commits that one group takes at most; those behind them wait for the next fsync.
const GROUP: usize = 512;

/// For how long nothing must have happened before the writer settles.
const QUIET: Duration = Duration::from_millis(250);

pub(super) type Answer = Result<Vec<Revision>, CommitError>;

/// What the writer is asked to do, in the order of its queue.
pub(super) enum Job {
    Attach(Sink),
    Commit(Pending),
    Compact(Revision, SyncSender<Result<(), String>>),
    Close,
}

/// A commit that waits for its answer.
pub(super) struct Pending {
    pub(super) ops: Vec<Op>,
    pub(super) reply: oneshot::Sender<Answer>,
}

/// What the writer tells readers.
#[derive(Default)]
pub(super) struct Progress {
    head: AtomicU64,
    compacted: AtomicU64,
}

impl Progress {
    pub(super) fn head(&self) -> Revision {
        Revision(self.head.load(Ordering::Acquire))
    }

    pub(super) fn compacted(&self) -> Revision {
        Revision(self.compacted.load(Ordering::Acquire))
    }
}

/// The writer's own state.
pub(super) struct Writer {
    db: Arc<Engine>,
    jobs: Receiver<Job>,
    progress: Arc<Progress>,
    sink: Option<Sink>,
    history: History,
    end: End,
    /// A job that was taken from the queue while gathering a group and comes after it.
    held: Option<Job>,
    /// Requests to forget that are not fulfilled yet.
    forgetting: Vec<(Revision, SyncSender<Result<(), String>>)>,
    /// Whether something was written since the writer last settled.
    unsettled: bool,
    /// What the engine said when it failed; nothing is written after that.
    failed: Option<String>,
    /// Where there is a directory for it.
    witness: Option<Witness>,
}

impl Writer {
    pub(super) fn new(
        db: Arc<Engine>,
        jobs: Receiver<Job>,
        progress: Arc<Progress>,
        (history, end): (History, End),
        witness: Option<Witness>,
    ) -> Self {
        progress.head.store(end.head.0, Ordering::Release);
        progress.compacted.store(history.compacted_for_readers().0, Ordering::Release);
        Self {
            db,
            jobs,
            progress,
            sink: None,
            history,
            end,
            held: None,
            forgetting: Vec::new(),
            unsettled: false,
            failed: None,
            witness,
        }
    }

    /// Works until it is told to close, or until nobody can give it work any more.
    pub(super) fn run(mut self) {
        while let Some(job) = self.next_job() {
            match job {
                Job::Attach(sink) => self.sink = Some(sink),
                Job::Commit(first) => {
                    let group = self.gather(first);
                    self.commit(group);
                }
                Job::Compact(upto, reply) => {
                    self.history.forget(upto.min(self.end.head));
                    self.forgetting.push((upto.min(self.end.head), reply));
                }
                Job::Close => break,
            }
        }
        self.settle();
    }

    /// The next job; tidies up for as long as there is none.
    fn next_job(&mut self) -> Option<Job> {
        loop {
            let busy = self.tidy();
            if let Some(job) = self.held.take() {
                return Some(job);
            }
            if busy {
                match self.jobs.try_recv() {
                    Ok(job) => return Some(job),
                    Err(TryRecvError::Empty) => {}
                    Err(TryRecvError::Disconnected) => return None,
                }
            } else {
                match self.jobs.recv_timeout(self.patience()) {
                    Ok(job) => return Some(job),
                    Err(RecvTimeoutError::Timeout) => self.settle(),
                    Err(RecvTimeoutError::Disconnected) => return None,
                }
            }
        }
    }

    /// How long to wait for a job before looking after the house.
    fn patience(&self) -> Duration {
        const LONG: Duration = Duration::from_hours(1);
        if self.failed.is_some() {
            return LONG;
        }
        if self.unsettled {
            return QUIET;
        }
        self.history.next_due_ms().map_or(LONG, |ms| Duration::from_millis(ms + 1).min(LONG))
    }

    /// Takes what has queued up behind a commit.
    fn gather(&mut self, first: Pending) -> Vec<Pending> {
        let mut group = vec![first];
        while group.len() < GROUP {
            match self.jobs.try_recv() {
                Ok(Job::Commit(next)) => group.push(next),
                Ok(other) => {
                    self.held = Some(other);
                    break;
                }
                Err(_) => break,
            }
        }
        group
    }

    /// Commits a group: durable first, then seen, then acknowledged.
    fn commit(&mut self, group: Vec<Pending>) {
        let (all_ops, replies): (Vec<_>, Vec<_>) =
            group.into_iter().map(|pending| (pending.ops, pending.reply)).unzip();
        let answers = match &self.failed {
            Some(message) => Err(message.clone()),
            None => guarded(|| self.write(all_ops)).map_err(|error| self.fail(&error)),
        };
        match answers {
            Ok((changes, answers)) => {
                self.progress.head.store(self.end.head.0, Ordering::Release);
                if let Some(witness) = self.witness.as_mut().filter(|_| !changes.is_empty()) {
                    witness.testify(self.end.head);
                }
                if let Some(sink) = self.sink.as_mut().filter(|_| !changes.is_empty()) {
                    sink(&changes);
                }
                for (reply, answer) in replies.into_iter().zip(answers) {
                    // A caller that dropped its future does not want the answer.
                    let _ = reply.send(answer);
                }
            }
            Err(message) => {
                for reply in replies {
                    let _ = reply.send(Err(CommitError::Engine(message.clone())));
                }
            }
        }
    }

    /// Writes a group in one transaction; when this returns it is durable.
    fn write(&mut self, all_ops: Vec<Vec<Op>>) -> Result<(Vec<Change>, Vec<Answer>), redb::Error> {
        let transaction = self.db.begin_write()?;
        let mut group = Group::begin(&transaction)?;
        let answers = all_ops.into_iter().map(|ops| group.commit(ops)).collect::<Result<Vec<_>, _>>()?;
        let (changes, end) = group.finish()?;
        if changes.is_empty() {
            transaction.abort()?;
        } else {
            self.history.mark(&transaction, self.end.head.next(), false)?;
            transaction.commit()?;
            self.unsettled = true;
        }
        self.end = end;
        Ok((changes, answers))
    }

    /// Forgets a little of what is too old or too much; says whether there is more to do.
    fn tidy(&mut self) -> bool {
        if self.failed.is_none() && self.history.due(self.end) {
            match guarded(|| self.history.step(&self.db)) {
                Ok(()) => self.unsettled = true,
                Err(error) => _ = self.fail(&error),
            }
            self.progress.compacted.store(self.history.compacted_for_readers().0, Ordering::Release);
        }
        self.answer_forgetting();
        self.failed.is_none() && self.history.due(self.end)
    }

    fn answer_forgetting(&mut self) {
        let (failed, compacted) = (self.failed.clone(), self.history.compacted());
        self.forgetting.retain(|(upto, reply)| {
            let answer = match &failed {
                Some(message) => Err(message.clone()),
                None if *upto <= compacted => Ok(()),
                None => return true,
            };
            let _ = reply.send(answer);
            false
        });
    }

    /// After a burst of writes: makes all durable, and has the engine note down what it would otherwise have to find out
    /// by reading the whole file when it is opened after a crash.
    fn settle(&mut self) {
        if !self.unsettled || self.failed.is_some() {
            return;
        }
        self.unsettled = false;
        if let Err(error) = guarded(|| self.write_settled()) {
            self.fail(&error);
        }
    }

    fn write_settled(&mut self) -> Result<(), redb::Error> {
        let mut transaction = self.db.begin_write()?;
        transaction.set_quick_repair(true);
        self.history.mark(&transaction, self.end.head.next(), true)?;
        transaction.commit()?;
        Ok(())
    }

    /// From here on nothing is written: what a failed write left in the engine's file is known only after it is opened
    /// again. Gives the message that commits are answered with.
    fn fail(&mut self, error: &redb::Error) -> String {
        tracing::error!(%error, "the store failed and refuses writes until it is opened again");
        let message = format!("{error}; the store refuses writes until it is opened again");
        self.failed = Some(message.clone());
        message
    }
}
