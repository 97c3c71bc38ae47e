//! Every watcher gets every matching change once and in order, every past state is exact, and only what is gone has
//! expired. Random histories, subscriptions, filters, speeds, resumptions, restarts and breaks of the connection to the
//! store are compared with what follows from the log of all commits.

use std::{
    collections::{BTreeMap, HashMap},
    future::poll_fn,
    time::Duration,
};

use tokio::sync::watch::Receiver;

use super::*;
use crate::storage::{Change, ReadError};

/// A small seeded random generator (xorshift), so that a seed reproduces a run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap()]
    }
}

const APPS: [&str; 3] = ["x", "y", "z"];
const COLORS: [&str; 3] = ["red", "blue", ""];

fn random_key(dice: &mut Dice) -> String {
    format!("{}/{}", dice.of(&["a", "b", "c"]), dice.below(6))
}

/// Random commits of one to three operations over two resources.
async fn write(store: Arc<Relay>, mut dice: Dice, commits: usize) {
    for _ in 0..commits {
        let mut ops: Vec<Op> = Vec::new();
        for _ in 0..=dice.below(3) {
            let key = random_key(&mut dice);
            let mut op = match dice.below(4) {
                0 => delete(&key),
                _ => put(&key, dice.of(&APPS), dice.of(&COLORS)),
            };
            if dice.below(4) == 0 {
                op.key = op.key.replace("things", "others").into();
            }
            if ops.iter().all(|other| other.key != op.key) {
                ops.push(op);
            }
        }
        // Deleting a missing object is a conflict and changes nothing.
        let _ = store.commit(ops.into()).await;
        if dice.below(20) == 0 {
            tokio::time::sleep(Duration::from_micros(dice.below(2000))).await;
        }
    }
}

/// What a watcher subscribes to, and how it behaves.
#[derive(Clone)]
struct Script {
    after: Revision,
    subscription: Subscription,
    app: Option<&'static str>,
    /// It takes frames.
    frames: bool,
    /// After this many events, sleep for this many microseconds.
    slow: Option<(u64, u64)>,
    /// On average one in this many events makes it drop its watch and resume.
    drops: u64,
    seed: u64,
}

impl Script {
    fn random(dice: &mut Dice, head: Revision) -> Self {
        let subscription = match dice.below(5) {
            0 | 1 => Subscription::All,
            2 => Subscription::Namespace(dice.of(&["a", "b", "q"]).into()),
            3 => Subscription::Key(random_key(dice).into()),
            _ => Subscription::Field(0, dice.of(&COLORS).into()),
        };
        Self {
            after: Revision(dice.below(head.0 + 1)),
            subscription,
            app: if dice.below(2) == 0 { None } else { Some(dice.of(&APPS)) },
            frames: dice.below(2) == 0,
            slow: (dice.below(3) == 0).then(|| (1 + dice.below(10), 100 + dice.below(3000))),
            drops: if dice.below(2) == 0 { u64::MAX } else { 2 + dice.below(50) },
            seed: dice.below(u64::MAX - 1) + 1,
        }
    }

    /// The events that follow from the log.
    fn expected(&self, log: &[Change]) -> Vec<(Revision, String)> {
        let mut apps: HashMap<&str, Value> = HashMap::new();
        let mut events = Vec::new();
        for change in log {
            let Some(key) = change.key.strip_prefix(PREFIX) else { continue };
            let new = change.value.as_ref().map(|value| serde_json::from_slice::<Value>(value).unwrap());
            let old = match &new {
                Some(new) => apps.insert(key, new.clone()),
                None => apps.remove(key),
            };
            let covers = |value: &&Value| {
                let covered = match &self.subscription {
                    Subscription::All => true,
                    Subscription::Namespace(namespace) => key.starts_with(&format!("{namespace}/")),
                    Subscription::Key(subscription) => key == &**subscription,
                    Subscription::Field(_, color) => value["spec"]["color"] == **color,
                };
                covered && self.app.is_none_or(|app| value["metadata"]["labels"]["app"] == app)
            };
            let (letter, value) = match (old.as_ref().filter(covers), new.as_ref().filter(covers)) {
                (None, Some(new)) => ("A", new),
                (Some(_), Some(new)) => ("M", new),
                (Some(old), None) => ("D", old),
                (None, None) => continue,
            };
            let app = value["metadata"]["labels"]["app"].as_str().unwrap();
            events.push((change.revision, format!("{letter} {key} {} {app}", change.revision)));
        }
        events
    }

    /// Watches until all events up to the last revision have been returned. `done` sends that revision at the end.
    /// Continues on the resource that replaces this one, and in the newest state if what follows has expired.
    async fn follow(self, things: Arc<Mutex<Arc<Resource>>>, mut done: Receiver<Option<Revision>>) -> Seen {
        let mut dice = Dice(self.seed);
        let filter: Option<Filter> =
            self.app.map(|app| Arc::new(move |object: &Object| object.label("app") == Some(app)) as _);
        let mut seen = Seen { watched: vec![Watched::from(self.after)], ..Seen::default() };
        let mut after = self.after;
        'resume: loop {
            let things = lock(&things).clone();
            seen.look_back(&things, Revision(dice.below(things.snapshot().revision().0 + 1))).await;
            let mut watch = match things.watch(after, self.subscription.clone(), filter.clone()).await {
                Ok(watch) => watch,
                Err(WatchError::Expired(floor)) => {
                    after = seen.start_over(after, floor, &things.snapshot());
                    continue 'resume;
                }
                Err(WatchError::Read(error)) if is_stopping(&error) => {
                    tokio::task::yield_now().await;
                    continue 'resume;
                }
                Err(error) => panic!("{error} after {after}"),
            };
            loop {
                let last = *done.borrow();
                let position = watch.position();
                assert!(position >= after, "a position never decreases");
                after = position;
                if last.is_some_and(|last| position >= last) {
                    seen.last().upto = position;
                    return seen;
                }
                let events = tokio::select! {
                    biased;
                    events = poll_fn(|cx| poll_short(&mut watch, cx, self.frames)) => events,
                    _ = done.changed() => continue,
                    // Like a bookmark timer: skipping changes that do not match produces no event.
                    () = tokio::time::sleep(Duration::from_millis(5)), if last.is_some() => continue,
                };
                match events {
                    Some(Ok((revision, events))) => {
                        after = revision;
                        seen.last().events.extend(events);
                    }
                    Some(Err(WatchError::Lagged)) => {
                        after = watch.position();
                        continue 'resume;
                    }
                    None => {
                        after = if dice.below(2) == 0 { after } else { watch.position() };
                        tokio::task::yield_now().await;
                        continue 'resume;
                    }
                    other => panic!("{other:?} after {after}"),
                }
                if let Some((each, pause)) = self.slow
                    && dice.below(each) == 0
                {
                    tokio::time::sleep(Duration::from_micros(pause)).await;
                }
                if dice.below(self.drops) == 0 {
                    // Resume from its own last event, or from a bookmark.
                    after = if dice.below(2) == 0 { after } else { watch.position() };
                    continue 'resume;
                }
            }
        }
    }
}

/// True if history could not be read because the cache was closed.
fn is_stopping(error: &ReadError) -> bool {
    matches!(error, ReadError::Engine(message) if message == "the server is stopping")
}

/// The observations of a watcher.
#[derive(Default)]
struct Seen {
    watched: Vec<Watched>,
    /// States by revision.
    states: Vec<(Revision, Vec<String>)>,
    /// Revisions that had expired, each with the oldest revision to resume from.
    expired: Vec<(Revision, Revision)>,
}

/// Events without a gap.
struct Watched {
    after: Revision,
    upto: Revision,
    events: Vec<String>,
}

impl Watched {
    fn from(after: Revision) -> Self {
        Self { after, upto: after, events: Vec::new() }
    }
}

impl Seen {
    fn last(&mut self) -> &mut Watched {
        self.watched.last_mut().unwrap()
    }

    /// Continues in the newest state, because a revision has expired.
    fn start_over(&mut self, expired: Revision, floor: Revision, newest: &Snapshot) -> Revision {
        self.expired.push((expired, floor));
        self.last().upto = expired;
        self.watched.push(Watched::from(newest.revision()));
        self.states.push((newest.revision(), content(newest)));
        newest.revision()
    }

    /// Reads a past state.
    async fn look_back(&mut self, things: &Arc<Resource>, revision: Revision) {
        match things.snapshot_at(revision).await {
            Ok(snapshot) => self.states.push((snapshot.revision(), content(&snapshot))),
            Err(ReadError::Compacted(floor)) => self.expired.push((revision, floor)),
            Err(error) => assert!(is_stopping(&error), "{error} at {revision}"),
        }
    }

    /// Compares everything with the log. Up to `unknown`, history was compacted.
    fn check(mut self, script: &Script, log: &[Change], unknown: Revision) {
        let all = script.expected(log);
        for watched in &self.watched {
            let position = |revision| all.partition_point(|(event, _)| *event <= revision);
            let expected = &all[position(watched.after)..position(watched.upto)];
            let expected: Vec<_> = expected.iter().map(|(_, event)| event.clone()).collect();
            let differ = watched.events.iter().zip(&expected).find(|(seen, expected)| seen != expected);
            let (seen, whom) = (&watched.events, (&script.subscription, script.app));
            assert!(*seen == expected, "{whom:?}: {differ:?}, {} and {}", seen.len(), expected.len());
        }
        let of_things: Vec<_> =
            log.iter().filter_map(|change| Some((change, change.key.strip_prefix(PREFIX)?))).collect();
        let (mut passed, mut expected) = (of_things.iter().peekable(), BTreeMap::new());
        self.states.sort();
        for (revision, state) in &self.states {
            while let Some((change, key)) = passed.next_if(|(change, _)| change.revision <= *revision) {
                match change.value {
                    Some(_) => expected.insert(key, change.revision),
                    None => expected.remove(key),
                };
            }
            assert_eq!(
                *state,
                expected.iter().map(|(key, at)| format!("{key} {at}")).collect::<Vec<_>>(),
                "{revision}"
            );
        }
        for (revision, floor) in &self.expired {
            let next = of_things.partition_point(|(change, _)| change.revision <= *revision);
            let is_gone = of_things.get(next).is_some_and(|(change, _)| change.revision <= *floor);
            assert!(is_gone || revision < &unknown, "nothing after {revision} was lost up to {floor}");
        }
    }
}

/// What happens besides writes and watches.
#[derive(Clone, Copy, PartialEq)]
enum Also {
    Nothing,
    /// The resource is replaced repeatedly.
    Replaces,
    /// The server starts again repeatedly: a new cache over the same store.
    Restarts,
    /// The connection to the store breaks repeatedly.
    Breaks,
}

/// A cache with both resources.
fn start(store: &Arc<Relay>, room: usize) -> (Arc<Cache>, Arc<Resource>) {
    let cache = Cache::new(store.clone(), room_for(room));
    let things = serve(&cache, PREFIX, reader());
    serve(&cache, "/registry/others/", reader());
    (cache, things)
}

/// Watchers of all kinds start before and during the writes, in a world that begins with a restart.
async fn run(seed: u64, room: usize, also: Also) {
    let mut dice = Dice(seed);
    let store = Arc::new(Relay::default());
    write(store.clone(), Dice(seed + 1), 150).await;
    let (mut cache, things) = start(&store, room);
    let things = Arc::new(Mutex::new(things));
    let (done, told) = tokio::sync::watch::channel(None);
    let mut watchers = Vec::new();
    let mut begin = |head| {
        for _ in 0..40 {
            let script = Script::random(&mut dice, head);
            let following = tokio::spawn(script.clone().follow(things.clone(), told.clone()));
            watchers.push((script, following));
        }
    };
    begin(store.head());
    let writers: Vec<_> = (2..5).map(|n| tokio::spawn(write(store.clone(), Dice(seed * 31 + n), 400))).collect();
    tokio::time::sleep(Duration::from_millis(5)).await;
    begin(store.head());
    let mut rounds = 0;
    while also != Also::Nothing && (rounds < 3 || writers.iter().any(|writer| !writer.is_finished())) {
        match also {
            Also::Nothing => {}
            Also::Replaces => {
                let cache = cache.clone();
                let load = move || cache.load(PREFIX, reader()).unwrap().serve(|| ());
                *lock(&things) = tokio::task::spawn_blocking(load).await.unwrap();
            }
            Also::Restarts => {
                cache.close();
                let (again, new) = start(&store, room);
                cache = again;
                *lock(&things) = new;
                // The cache loaded everything that was committed while it started.
                store.skip_to(Revision(0));
            }
            Also::Breaks => {
                store.cut();
                tokio::time::sleep(Duration::from_micros(dice.below(2000))).await;
                store.reconnect();
            }
        }
        rounds += 1;
        tokio::time::sleep(Duration::from_millis(dice.below(5))).await;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    done.send(Some(store.head())).unwrap();
    let (log, unknown) = (store.log(), store.compacted());
    for (script, following) in watchers {
        let seen = tokio::time::timeout(Duration::from_mins(1), following).await.expect("watchers end").unwrap();
        seen.check(&script, &log, unknown);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_watcher_gets_every_matching_change_once_and_in_order() {
    for seed in 1..=2 {
        run(seed * 7919, 10_000, Also::Nothing).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn so_do_watchers_that_a_small_budget_leaves_behind() {
    for (seed, room) in [(1, 40), (2, 400), (3, 0)] {
        run(seed * 104_729, room, Also::Nothing).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn so_do_watchers_that_resume_across_replacements() {
    for (seed, room) in [(1, 10_000), (2, 40), (3, 1)] {
        run(seed * 15_485_863, room, Also::Replaces).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn so_do_watchers_that_resume_after_restarts() {
    for (seed, room) in [(1, 10_000), (2, 100), (3, 1_000)] {
        run(seed * 32_452_843, room, Also::Restarts).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn so_do_watchers_of_a_store_whose_connection_breaks() {
    for (seed, room) in [(1, 10_000), (2, 100)] {
        run(seed * 49_979_687, room, Also::Breaks).await;
    }
}
