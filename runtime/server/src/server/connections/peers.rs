//! The table of open connections: their number, their activity, and which to close if there is no room.

use std::{
    collections::HashMap,
    fs,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep, timeout},
};

use super::Limits;
use crate::{http::PeerCertificates, webhook::DESCRIPTORS};

/// How long to wait for a connection to close before the next one is asked.
const GOING: Duration = Duration::from_millis(50);
/// A handshake that takes longer than this is closed before idle connections.
const SLOW: Duration = Duration::from_secs(1);
/// The interval of checks of a connection while the server stops.
const GLANCE: Duration = Duration::from_millis(100);
/// The minimum number of descriptors reserved for everything else.
const RESERVE: usize = 32 + DESCRIPTORS;

/// The open connections.
pub(super) struct Peers {
    limits: Limits,
    started: Instant,
    open: Mutex<HashMap<u64, Weak<Peer>>>,
    /// The number of connections in their handshake.
    greeting: AtomicUsize,
    lingering: AtomicUsize,
    next: AtomicU64,
    /// Notified when a connection has closed.
    gone: Notify,
    stop: watch::Receiver<bool>,
}

/// One connection, shared by its parts.
pub(super) struct Peer {
    id: u64,
    peers: Arc<Peers>,
    greeted: AtomicBool,
    /// True during its handshake.
    greets: AtomicBool,
    /// Requests whose answer has not ended.
    requests: AtomicUsize,
    /// Requests whose answer has not started.
    unanswered: AtomicUsize,
    /// Buffered bytes of answers.
    waiting: AtomicUsize,
    /// True while it takes no data.
    blocked: AtomicBool,
    /// When it last took data, in milliseconds.
    active: AtomicU64,
    /// The deadline of the answer on an HTTP/1 connection, in milliseconds.
    ends: AtomicU64,
    going: AtomicBool,
    go: Notify,
    /// The client's verified certificates, if it sent any.
    pub certificates: OnceLock<PeerCertificates>,
    /// It is no longer an HTTP connection, and its new owner closes it.
    upgraded: AtomicBool,
}

/// A request of a connection, until its answer has ended.
pub(super) struct Busy {
    peer: Arc<Peer>,
    answered: bool,
}

/// A slot among the lingering connections.
pub(super) struct LingerPermit(Arc<Peers>);

impl Peers {
    /// An empty table.
    pub(super) fn new(limits: Limits, stop: watch::Receiver<bool>) -> Arc<Self> {
        Arc::new(Self {
            limits,
            started: Instant::now(),
            open: Mutex::default(),
            greeting: AtomicUsize::new(0),
            lingering: AtomicUsize::new(0),
            next: AtomicU64::new(0),
            gone: Notify::new(),
            stop,
        })
    }

    /// Adds a connection that was just accepted.
    pub(super) fn welcome(self: &Arc<Self>) -> Arc<Peer> {
        let peer = Arc::new(Peer {
            id: self.next.fetch_add(1, Ordering::Relaxed),
            peers: self.clone(),
            greeted: AtomicBool::new(false),
            greets: AtomicBool::new(true),
            requests: AtomicUsize::new(0),
            unanswered: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            blocked: AtomicBool::new(false),
            active: AtomicU64::new(self.now()),
            ends: AtomicU64::new(u64::MAX),
            going: AtomicBool::new(false),
            go: Notify::new(),
            certificates: OnceLock::new(),
            upgraded: AtomicBool::new(false),
        });
        self.table().insert(peer.id, Arc::downgrade(&peer));
        if self.greeting.fetch_add(1, Ordering::Relaxed) >= self.limits.greetings {
            self.evict_among(|peer| !peer.greeted.load(Ordering::Relaxed));
        }
        peer
    }

    /// Waits until another connection may be accepted; closes others if necessary.
    pub(super) async fn make_room(&self) {
        while self.table().len() >= self.limits.open {
            let gone = self.gone.notified();
            self.evict();
            // If none can be closed, or the closing one is slow, try again.
            let _ = timeout(GOING, gone).await;
        }
    }

    /// Closes the least needed connection: one with a slow handshake, or the one that has been idle longest.
    pub(super) fn evict(&self) {
        self.evict_among(|peer| !peer.greeted.load(Ordering::Relaxed) || peer.requests.load(Ordering::Relaxed) == 0);
    }

    fn evict_among(&self, may_go: impl Fn(&Peer) -> bool) {
        let now = self.now();
        let rank = |peer: &Arc<Peer>| {
            let active = peer.active.load(Ordering::Relaxed);
            let slow = now.saturating_sub(active) > millis(SLOW);
            let class = match peer.greeted.load(Ordering::Relaxed) {
                false if slow => 0,
                true => 1,
                false => 2,
            };
            (class, active, peer.id)
        };
        let stays = |flag: &AtomicBool| !flag.load(Ordering::Relaxed);
        let staying = |peer: &Arc<Peer>| stays(&peer.going) && stays(&peer.upgraded) && may_go(peer);
        // Checked without the table's lock, which the last holder of a peer takes when it drops it.
        let all: Vec<Arc<Peer>> = self.table().values().filter_map(Weak::upgrade).collect();
        let oldest = all.into_iter().filter(staying).min_by_key(rank);
        if let Some(peer) = oldest {
            tracing::debug!(peer = peer.id, "a connection gives way");
            peer.send_away();
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<u64, Weak<Peer>>> {
        // The table is consistent between any two of its operations.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        millis(self.started.elapsed())
    }
}

impl Peer {
    /// The time limits.
    pub(super) fn limits(&self) -> &Limits {
        &self.peers.limits
    }

    /// Marks the end of its handshake.
    pub(super) fn greeted(&self) {
        self.greets_no_more();
        self.greeted.store(true, Ordering::Relaxed);
        self.took();
    }

    fn greets_no_more(&self) {
        if self.greets.swap(false, Ordering::Relaxed) {
            self.peers.greeting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Counts a request.
    pub(super) fn begin(self: &Arc<Self>) -> Busy {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.unanswered.fetch_add(1, Ordering::Relaxed);
        Busy { peer: self.clone(), answered: false }
    }

    /// Records that it took data.
    pub(super) fn took(&self) {
        self.active.store(self.peers.now(), Ordering::Relaxed);
    }

    /// Counts further buffered bytes.
    pub(super) fn gave(&self, bytes: usize) {
        self.waiting.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts buffered bytes that were sent.
    pub(super) fn sent(&self, bytes: usize) {
        self.waiting.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// True while it takes no data.
    pub(super) fn set_blocked(&self, blocked: bool) {
        self.blocked.store(blocked, Ordering::Relaxed);
    }

    /// Sets the deadline of its HTTP/1 answer, or `None`.
    pub(super) fn set_end(&self, at: Option<Instant>) {
        let at = at.map_or(u64::MAX, |at| millis(at.saturating_duration_since(self.peers.started)));
        self.ends.store(at, Ordering::Relaxed);
    }

    /// The time limit for a peer that has taken no data since a time.
    pub(super) fn patience_with(&self, since: Instant) -> Instant {
        let patience = since + self.limits().stall;
        match self.ends.load(Ordering::Relaxed) {
            u64::MAX => patience,
            ends => patience.min(self.peers.started + Duration::from_millis(ends) + self.limits().overtime),
        }
    }

    /// HTTP has ended; if its socket is still open, it uses another protocol.
    pub(super) fn leave_http(&self) {
        self.upgraded.store(true, Ordering::Relaxed);
    }

    /// Tells it to close.
    pub(super) fn send_away(&self) {
        self.greets_no_more();
        self.going.store(true, Ordering::Relaxed);
        self.go.notify_one();
    }

    /// Completes when it must close.
    pub(super) async fn told_to_go(&self) {
        self.go.notified().await;
    }

    /// True if there is no time for a long close.
    pub(super) fn must_hurry(&self) -> bool {
        self.going.load(Ordering::Relaxed) || *self.peers.stop.borrow()
    }

    /// A slot among the lingering connections, if one is free.
    pub(super) fn linger(&self) -> Option<LingerPermit> {
        let lingering = &self.peers.lingering;
        let taken = lingering.fetch_add(1, Ordering::Relaxed);
        let permit = LingerPermit(self.peers.clone());
        (taken < self.limits().lingering).then_some(permit)
    }

    /// Completes while the server is stopping when there is nothing to wait for: no request is being processed, and the
    /// peer does not take the rest of the answers.
    pub(super) async fn given_up(&self) {
        let limit = millis(self.limits().last_stall);
        let began = self.peers.now();
        loop {
            sleep(GLANCE.min(self.limits().last_stall)).await;
            let quiet = self.peers.now().saturating_sub(began.max(self.active.load(Ordering::Relaxed)));
            let working = self.unanswered.load(Ordering::Relaxed) > 0;
            let requests = self.requests.load(Ordering::Relaxed);
            let stuck = self.blocked.load(Ordering::Relaxed) || self.waiting.load(Ordering::Relaxed) > 0;
            if !working && (requests == 0 || stuck) && quiet >= limit {
                return;
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.greets_no_more();
        self.peers.table().remove(&self.id);
        self.peers.gone.notify_one();
    }
}

impl Busy {
    /// Marks the start of its answer.
    pub(super) fn answer(&mut self) {
        if !std::mem::replace(&mut self.answered, true) {
            self.peer.unanswered.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.answer();
        self.peer.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for LingerPermit {
    fn drop(&mut self) {
        self.0.lingering.fetch_sub(1, Ordering::Relaxed);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The number of connections that the process may open in addition to its open descriptors, with a reserve.
pub(super) fn descriptors_to_spare() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    // Unlimited or unknown: then the error of accepting shows the limit.
    let Some(soft) = soft else { return usize::MAX };
    let used = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    soft.saturating_sub(used + RESERVE.max(soft / 16)).max(RESERVE.min(soft / 2))
}
