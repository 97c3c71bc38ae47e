//! How far the sink is, and who waits for it.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, oneshot};

use crate::{Change, meta::Revision};

/// The revisions that matter while the engine runs.
#[derive(Default)]
pub(super) struct Position {
    state: Mutex<State>,
    /// Notified when `wanted` grows.
    asked: Notify,
    /// Notified when `own` has what follows directly on what the sink has.
    follows: Notify,
}

#[derive(Default)]
struct State {
    /// The newest revision that this process has seen, of any key of etcd.
    known: Revision,
    /// The revision that the sink has. `None` without a sink.
    delivered: Option<Revision>,
    /// The newest revision that somebody waits for, though perhaps no key below the prefix changes.
    wanted: Revision,
    /// The newest known change of a key below the prefix.
    changed: Revision,
    /// The revision up to which changes were lost, so that one of them may be newer than `changed`.
    lost: Revision,
    /// The revision up to which history is compacted, as far as known.
    compacted: Revision,
    /// Why nothing that etcd has now may be used, if so.
    replaced: Option<String>,
    /// The changes of this process's commits that the sink does not have.
    own: BTreeMap<Revision, Vec<Change>>,
    /// Commits that wait until the sink has their revision.
    waiting: BTreeMap<Revision, Vec<oneshot::Sender<()>>>,
}

impl Position {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn known(&self) -> Revision {
        self.state().known
    }

    /// The newest change of a key below the prefix, as far as the sink has come. `None` if it is not known.
    pub(super) fn changed(&self) -> Option<Revision> {
        let state = self.state();
        Some(state.changed).filter(|changed| *changed > Revision(0) && *changed >= state.lost)
    }

    pub(super) fn compacted(&self) -> Revision {
        self.state().compacted
    }

    /// The newest known revision, for [`Position::answered`]. Fails after [`Position::replaced`].
    pub(super) fn asking(&self) -> Result<Revision, String> {
        let state = self.state();
        state.replaced.clone().map_or(Ok(state.known), Err)
    }

    /// Takes in the newest revision that the answer to a request has, which was sent when `known` was the newest known one.
    pub(super) fn answered(&self, known: Revision, newest: Revision) -> Result<(), String> {
        if newest < known {
            return Err(self.replaced(&format!("its newest revision is {newest}, and this server has seen {known}")));
        }
        self.saw(newest);
        self.asking().map(drop)
    }

    /// etcd has another history than the one that this process has followed. The same revisions mean something else there, so
    /// that this process uses etcd no more. Returns the reason with the way out.
    pub(super) fn replaced(&self, why: &str) -> String {
        let reason = || format!("{why}: etcd was restored from a backup; restart the servers that use it");
        self.state().replaced.get_or_insert_with(reason).clone()
    }

    /// etcd has reached a revision.
    pub(super) fn saw(&self, revision: Revision) {
        let mut state = self.state();
        state.known = state.known.max(revision);
    }

    /// A key below the prefix has changed.
    pub(super) fn saw_change(&self, revision: Revision) {
        let mut state = self.state();
        state.known = state.known.max(revision);
        state.changed = state.changed.max(revision);
    }

    /// Changes up to a revision were lost, so that it is not known which of them is the newest.
    pub(super) fn lost_changes(&self, upto: Revision) {
        self.state().lost = upto;
    }

    /// History is compacted. Returns the newest known revision of that kind.
    pub(super) fn saw_compaction(&self, revision: Revision) -> Revision {
        let mut state = self.state();
        state.compacted = state.compacted.max(revision);
        state.compacted
    }

    /// Sets a sink that has everything up to the newest known revision, which is returned.
    pub(super) fn attach(&self) -> Revision {
        let mut state = self.state();
        state.delivered = Some(state.known);
        state.known
    }

    /// The sink has everything up to a revision.
    pub(super) fn deliver(&self, upto: Revision) {
        let mut state = self.state();
        state.known = state.known.max(upto);
        state.delivered = Some(upto);
        let later = state.waiting.split_off(&upto.next());
        let reached = std::mem::replace(&mut state.waiting, later);
        state.own = state.own.split_off(&upto.next());
        drop(state);
        for waiter in reached.into_values().flatten() {
            // A waiter may have given up.
            let _ = waiter.send(());
        }
    }

    /// Takes in the changes of a commit of this process, in case that they come here before they come on the watch.
    pub(super) fn committed(&self, revision: Revision, changes: Vec<Change>) {
        let mut state = self.state();
        let Some(delivered) = state.delivered.filter(|delivered| *delivered < revision) else { return };
        state.own.insert(revision, changes);
        drop(state);
        if delivered.next() == revision {
            self.follows.notify_one();
        }
    }

    /// Forgets the changes of a commit that no caller waits for any more.
    pub(super) fn forget(&self, revision: Revision) {
        self.state().own.remove(&revision);
    }

    /// Forgets the changes of all commits.
    pub(super) fn forget_own(&self) {
        self.state().own.clear();
    }

    /// Waits for changes of this process's commits that follow directly on what the sink has, and takes them. Each
    /// transaction of etcd has the revision after that of the one before, so that nothing lies between.
    pub(super) async fn own(&self) -> Vec<Change> {
        loop {
            let following = self.following();
            if !following.is_empty() {
                return following;
            }
            self.follows.notified().await;
        }
    }

    fn following(&self) -> Vec<Change> {
        let (mut state, mut found) = (self.state(), Vec::new());
        let mut next = state.delivered.map(Revision::next);
        while let Some(changes) = next.and_then(|next| state.own.remove(&next)) {
            found.extend(changes);
            next = next.map(Revision::next);
        }
        found
    }

    /// Waits until the sink has a revision that changed a key below the prefix. Without a sink this returns at once.
    pub(super) async fn delivered(&self, revision: Revision) {
        let waiter = {
            let mut state = self.state();
            if state.delivered.is_none_or(|delivered| delivered >= revision) {
                return;
            }
            let (sender, waiter) = oneshot::channel();
            state.waiting.entry(revision).or_default().push(sender);
            waiter
        };
        // The position outlives its waiters.
        let _ = waiter.await;
    }

    /// Asks that the sink reaches a revision, whether a key below the prefix changes or not.
    pub(super) fn want(&self, revision: Revision) {
        let mut state = self.state();
        state.known = state.known.max(revision);
        if revision > state.wanted && state.delivered.is_some_and(|delivered| delivered < revision) {
            state.wanted = revision;
            drop(state);
            self.asked.notify_one();
        }
    }

    /// The revision that the sink does not have, and somebody waits for.
    pub(super) fn missing(&self) -> Option<Revision> {
        let state = self.state();
        Some(state.wanted).filter(|wanted| state.delivered.is_some_and(|delivered| delivered < *wanted))
    }

    /// Waits until somebody wants a revision that the sink does not have.
    pub(super) async fn asked(&self) -> Revision {
        loop {
            if let Some(missing) = self.missing() {
                return missing;
            }
            self.asked.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Previous;

    fn changes(revision: u64) -> Vec<Change> {
        let (revision, key) = (Revision(revision), format!("/registry/things/{revision}").into());
        vec![Change { revision, key, value: None, previous: Previous::Unread }]
    }

    /// The revisions that follow on what the sink has.
    fn following(position: &Position) -> Vec<u64> {
        position.following().iter().map(|change| change.revision.0).collect()
    }

    #[test]
    fn own_changes_come_without_the_watch_up_to_the_first_gap() {
        let position = Position::default();
        position.committed(Revision(1), changes(1));
        assert!(following(&position).is_empty(), "there is no sink");
        position.saw(Revision(3));
        assert_eq!(position.attach(), Revision(3));
        for own in [5, 4, 6, 8] {
            position.committed(Revision(own), changes(own));
        }
        assert_eq!(following(&position), [4, 5, 6]);
        position.deliver(Revision(6));
        assert!(following(&position).is_empty(), "revision 7 is somebody else's");
        position.deliver(Revision(7));
        assert_eq!(following(&position), [8]);
    }

    #[test]
    fn own_changes_come_once() {
        let position = Position::default();
        position.attach();
        for own in [2, 3, 4] {
            position.committed(Revision(own), changes(own));
        }
        // The watch was faster.
        position.deliver(Revision(2));
        position.committed(Revision(1), changes(1));
        position.forget(Revision(4));
        assert_eq!(following(&position), [3]);
        position.deliver(Revision(3));
        position.committed(Revision(4), changes(4));
        position.forget_own();
        assert!(following(&position).is_empty());
    }
}
