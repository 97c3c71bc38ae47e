//! Feeds the sink from one watch, through breaks: the watch is begun again where it ended, and if changes after that are
//! compacted, the sink gets the whole state.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep, sleep_until};

use super::{
    engine::{self, Engine},
    members::ANSWERED_WITHIN,
    pages::Pages,
    position::Position,
    watch::{News, PreviousValues, Sample, Watch, WatchError},
};
use crate::{Change, Delivery, ReadError, Sink, meta::Revision};

/// The number of changes that the sink gets at once, if so many have come.
const MOST_CHANGES: usize = 512;
/// The size of their values from which no more are waited for.
const MOST_BYTES: usize = 4 << 20;
/// The pause after the first break, which doubles up to the longest.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The pause before the same question is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(100);
/// How long a change that is on its way may take before a marker is written to overtake it.
const MARK_AFTER: Duration = Duration::from_millis(10);

/// The sink, and what it has.
pub(super) struct Feed {
    engine: Arc<Engine>,
    sink: Sink,
    at: Revision,
    /// The newest change that it has.
    sample: Option<Sample>,
}

impl Feed {
    /// A feed of a sink that has everything up to a revision.
    pub(super) fn new(engine: Arc<Engine>, sink: Sink, at: Revision) -> Self {
        Self { engine, sink, at, sample: None }
    }

    /// Feeds the sink as long as the engine's threads run, or until etcd has another history.
    pub(super) async fn run(mut self) {
        let mut pause = SHORTEST_PAUSE;
        loop {
            let before = self.at;
            let why = match self.follow().await {
                WatchError::Broken(why) => why,
                // Only the change that it has is compacted.
                WatchError::Compacted(compacted) if self.sample.take().is_some() && compacted <= self.at => {
                    self.engine.position.saw_compaction(compacted);
                    continue;
                }
                WatchError::Compacted(compacted) => {
                    self.engine.position.saw_compaction(compacted);
                    let at = self.at;
                    match self.begin_again().await {
                        Ok(()) => {
                            tracing::warn!(%at, now = %self.at, "changes in etcd were compacted before they came; read the state again");
                            continue;
                        }
                        Err(error) => error.to_string(),
                    }
                }
            };
            if let Err(why) = self.engine.position.asking() {
                tracing::error!(why, at = %self.at, "this server uses etcd no more");
                return;
            }
            pause = if self.at > before { SHORTEST_PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
            tracing::warn!(why, at = %self.at, "the watch of etcd broke; beginning again");
            self.engine.members.changes_stop(why);
            sleep(pause).await;
        }
    }

    /// Follows the changes until the watch ends.
    async fn follow(&mut self) -> WatchError {
        let engine = Arc::clone(&self.engine);
        let mut watch = match open(&engine, self.at, self.sample).await {
            Ok(watch) => watch,
            Err(ended) => return ended,
        };
        // Another session may have answered them, before etcd was restored from a backup.
        engine.position.forget_own();
        let (mut next_question, reports_progress) = (Instant::now(), watch.reports_progress());
        let mut asked: Option<Instant> = None;
        loop {
            tokio::select! {
                news = watch.next() => match news {
                    Ok(news) => {
                        asked = None;
                        engine.members.changes_arrive();
                        if let Err(ended) = self.take(news, &mut watch).await {
                            return ended;
                        }
                        if self.engine.position.missing().is_none() {
                            next_question = Instant::now();
                        }
                    }
                    Err(ended) => return ended,
                },
                changes = engine.position.own() => self.take_own(&changes, &mut watch),
                () = is_asked(&engine.position, next_question, reports_progress) => {
                    // Without an answer, the watch is broken.
                    if asked.get_or_insert_with(Instant::now).elapsed() > ANSWERED_WITHIN {
                        return WatchError::Broken(format!("no news within {ANSWERED_WITHIN:?}"));
                    }
                    next_question = Instant::now() + ASK_AGAIN;
                    if reports_progress {
                        watch.ask();
                    } else {
                        tokio::spawn(engine::mark_once(Arc::clone(&self.engine)));
                    }
                }
            }
        }
    }

    /// Delivers news, together with later news.
    async fn take(&mut self, mut news: News, watch: &mut Watch) -> Result<(), WatchError> {
        let (mut ended, mut bytes) = (Ok(()), news.bytes());
        while news.changes.len() < MOST_CHANGES && bytes < MOST_BYTES {
            match watch.next_now().await {
                Ok(Some(more)) => {
                    bytes += more.bytes();
                    news.changes.extend(more.changes);
                    news.upto = news.upto.max(more.upto);
                    news.changed = news.changed.max(more.changed);
                    news.sample = more.sample.or(news.sample);
                }
                Ok(None) => break,
                Err(error) => {
                    ended = Err(error);
                    break;
                }
            }
        }
        if news.changed > Revision(0) {
            self.engine.position.saw_change(news.changed);
        }
        if news.upto > self.at {
            self.deliver(&news.changes, news.upto, news.sample);
        }
        ended
    }

    /// Delivers changes of this process's commits. They come later on the watch, too: etcd sends a watch what it could not
    /// send at once only every 100 ms, and writers need not wait for that.
    fn take_own(&mut self, changes: &[Change], watch: &mut Watch) {
        let Some(upto) = changes.last().map(|last| last.revision).filter(|_| watch.is_on_the_member_in_use()) else {
            return;
        };
        let newest = &changes[changes.partition_point(|change| change.revision < upto)];
        let stored = self.engine.keys.stored(&newest.key).zip(newest.value.as_ref());
        self.deliver(changes, upto, stored.map(|(key, value)| Sample::of(upto, &key, value)));
        watch.leave_out(upto);
    }

    fn deliver(&mut self, changes: &[Change], upto: Revision, sample: Option<Sample>) {
        (self.sink)(Delivery::Changes(changes, upto));
        self.at = upto;
        self.sample = sample.or(self.sample);
        self.engine.position.deliver(upto);
    }

    /// Delivers the whole state.
    async fn begin_again(&mut self) -> Result<(), ReadError> {
        let (entries, at) = Pages::of([self.engine.keys.all()], None).all(&self.engine).await?;
        // Before readers have the state, and want to know what came before it.
        self.engine.position.lost_changes(at);
        // It takes long, and the connection goes on meanwhile.
        tokio::task::block_in_place(|| (self.sink)(Delivery::State(&entries, at)));
        (self.at, self.sample) = (at, None);
        self.engine.position.deliver(at);
        Ok(())
    }
}

/// Waits until somebody wants a revision that the sink does not have, at the earliest at an instant.
async fn is_asked(position: &Position, earliest: Instant, is_cheap: bool) {
    sleep_until(earliest).await;
    position.asked().await;
    if !is_cheap {
        sleep(MARK_AFTER).await;
        position.asked().await;
    }
}

/// Begins to watch what follows a revision. etcd would accept one that it has not reached, and stay silent.
async fn open(engine: &Arc<Engine>, at: Revision, sample: Option<Sample>) -> Result<Watch, WatchError> {
    engine.newest().await.map_err(|error| WatchError::Broken(error.to_string()))?;
    Watch::open(engine, at, PreviousValues::LeftOut, sample).await
}
