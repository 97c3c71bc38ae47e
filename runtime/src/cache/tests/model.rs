//! Every watcher gets every matching change once and in order. Random histories, subscriptions, filters, speeds and
//! resumptions are compared with the events that follow from the store's log.

use std::{collections::HashMap, time::Duration};

use tokio::sync::watch::Receiver;

use super::*;
use crate::storage::Change;

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
async fn write(store: Arc<Memory>, mut dice: Dice, commits: usize) {
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
            slow: (dice.below(3) == 0).then(|| (1 + dice.below(10), 100 + dice.below(3000))),
            drops: if dice.below(2) == 0 { u64::MAX } else { 2 + dice.below(50) },
            seed: dice.below(u64::MAX - 1) + 1,
        }
    }

    /// The events that follow from the log.
    fn expected(&self, log: &[Change]) -> Vec<String> {
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
            if change.revision > self.after {
                let app = value["metadata"]["labels"]["app"].as_str().unwrap();
                events.push(format!("{letter} {key} {} {app}", change.revision));
            }
        }
        events
    }

    /// Watches until all events up to the last revision have been returned. `done` sends that revision at the end. If
    /// the resource is replaced, continues on its replacement.
    async fn follow(self, things: Arc<Mutex<Arc<Resource>>>, mut done: Receiver<Option<Revision>>) -> Vec<String> {
        let mut dice = Dice(self.seed);
        let filter: Option<Filter> =
            self.app.map(|app| Arc::new(move |object: &Object| object.label("app") == Some(app)) as _);
        let mut seen = Vec::new();
        let mut after = self.after;
        'resume: loop {
            let things = lock(&things).clone();
            let mut watch = things.watch(after, self.subscription.clone(), filter.clone()).await.unwrap();
            loop {
                let last = *done.borrow();
                let position = watch.position();
                assert!(position >= after, "a position never decreases");
                after = position;
                if last.is_some_and(|last| position >= last) {
                    return seen;
                }
                let event = tokio::select! {
                    biased;
                    event = watch.next() => event,
                    _ = done.changed() => continue,
                    // Like a bookmark timer: skipping changes that do not match produces no event.
                    () = tokio::time::sleep(Duration::from_millis(5)), if last.is_some() => continue,
                };
                match event {
                    Some(Ok(event)) => {
                        after = event.object.revision();
                        seen.push(short(&event));
                    }
                    Some(Err(WatchError::Lagged)) => {
                        after = watch.position();
                        continue 'resume;
                    }
                    None if things.has_ended() => {
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

/// Watchers of all kinds start before and during the writes, in a world that begins with a restart. With `replaces`,
/// the resource is replaced repeatedly during the writes.
async fn run(seed: u64, window: usize, replaces: bool) {
    let mut dice = Dice(seed);
    let store = Arc::new(Memory::new());
    write(store.clone(), Dice(seed + 1), 150).await;
    let world = World::over(store.clone(), Limits { window, ..Limits::default() });
    world.cache.register("/registry/others/", reader()).unwrap();
    let things = Arc::new(Mutex::new(world.things.clone()));
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
    let mut replaced = 0;
    while replaces && (replaced < 3 || writers.iter().any(|writer| !writer.is_finished())) {
        let cache = world.cache.clone();
        let new =
            tokio::task::spawn_blocking(move || cache.load(PREFIX, reader()).unwrap().serve(|| ())).await.unwrap();
        *lock(&things) = new;
        replaced += 1;
        tokio::time::sleep(Duration::from_millis(dice.below(5))).await;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    done.send(Some(store.head())).unwrap();
    let log = store.changes(Revision(0), usize::MAX).unwrap();
    for (script, following) in watchers {
        let told = tokio::time::timeout(Duration::from_mins(1), following).await.expect("watchers end").unwrap();
        let expected = script.expected(&log);
        let differ = told.iter().zip(&expected).find(|(told, expected)| told != expected);
        assert!(
            told == expected,
            "{:?} {:?}: {differ:?}, {} and {}",
            script.subscription,
            script.app,
            told.len(),
            expected.len()
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_watcher_gets_every_matching_change_once_and_in_order() {
    for seed in 1..=2 {
        run(seed * 7919, 10_000, false).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn so_do_watchers_that_a_small_window_leaves_behind() {
    for seed in 1..=2 {
        run(seed * 104_729, 40, false).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn so_do_watchers_that_resume_across_replacements() {
    for (seed, window) in [(1, 10_000), (2, 40), (3, 1)] {
        run(seed * 15_485_863, window, true).await;
    }
}
