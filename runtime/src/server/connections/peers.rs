//! The table of open connections: how many there are, what each is doing, and which gives way when there is no room.

use std::{
    collections::HashMap,
    fs,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep, timeout},
};

use super::Limits;

/// How long is waited for a connection that was told to go, before the next one is.
const GOING: Duration = Duration::from_millis(50);
/// A handshake that takes longer than this gives way before those who are idle.
const SLOW: Duration = Duration::from_secs(1);
/// How often a connection is looked at while the server stops.
const GLANCE: Duration = Duration::from_millis(100);
/// Descriptors that connections leave to everything else, at least.
const RESERVE: usize = 32;

/// The open connections.
pub struct Peers {
    limits: Limits,
    started: Instant,
    open: Mutex<HashMap<u64, Weak<Peer>>>,
    /// Those that have not finished their handshake.
    greeting: AtomicUsize,
    lingering: AtomicUsize,
    next: AtomicU64,
    /// Told when a connection has gone.
    gone: Notify,
    stop: watch::Receiver<bool>,
}

/// One connection, as its parts see it.
pub struct Peer {
    id: u64,
    peers: Arc<Peers>,
    greeted: AtomicBool,
    /// It counts among those that greet.
    greets: AtomicBool,
    /// Requests that have not been answered to the end.
    requests: AtomicUsize,
    /// Requests whose answer has not begun.
    unanswered: AtomicUsize,
    /// Bytes of answers that it has not taken.
    waiting: AtomicUsize,
    /// It takes nothing at the moment.
    blocked: AtomicBool,
    /// When it last took something, in milliseconds.
    active: AtomicU64,
    /// When the answer on an HTTP/1 connection must have ended, in milliseconds.
    ends: AtomicU64,
    going: AtomicBool,
    go: Notify,
    /// It is no connection of HTTP any more, and whoever has it now ends it.
    upgraded: AtomicBool,
}

/// A request of a connection, until its answer has ended.
pub struct Busy {
    peer: Arc<Peer>,
    answered: bool,
}

/// A place among the connections that linger.
pub struct Lingering(Arc<Peers>);

impl Peers {
    /// An empty table.
    pub fn new(limits: Limits, stop: watch::Receiver<bool>) -> Arc<Self> {
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

    /// A connection that was just accepted.
    pub fn welcome(self: &Arc<Self>) -> Arc<Peer> {
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
            upgraded: AtomicBool::new(false),
        });
        self.table().insert(peer.id, Arc::downgrade(&peer));
        if self.greeting.fetch_add(1, Ordering::Relaxed) >= self.limits.greetings {
            self.evict_among(|peer| !peer.greeted.load(Ordering::Relaxed));
        }
        peer
    }

    /// Waits until one more connection may be accepted; others give way for it.
    pub async fn make_room(&self) {
        while self.table().len() >= self.limits.open {
            let gone = self.gone.notified();
            self.evict();
            // Where nobody can go, or the one that was told is slow, it is tried again.
            let _ = timeout(GOING, gone).await;
        }
    }

    /// Tells the connection to go that is needed least: one that is slow to greet, one that is idle for longest.
    pub fn evict(&self) {
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
        // Looked at without the table's lock, which the last holder of a peer takes when it drops it.
        let all: Vec<Arc<Peer>> = self.table().values().filter_map(Weak::upgrade).collect();
        let oldest = all.into_iter().filter(staying).min_by_key(rank);
        if let Some(peer) = oldest {
            tracing::debug!(peer = peer.id, "a connection gives way");
            peer.send_away();
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<u64, Weak<Peer>>> {
        // The table is whole between any two of its operations.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        millis(self.started.elapsed())
    }
}

impl Peer {
    /// How long it is waited for.
    pub fn limits(&self) -> &Limits {
        &self.peers.limits
    }

    /// Its handshake is done.
    pub fn greeted(&self) {
        self.greets_no_more();
        self.greeted.store(true, Ordering::Relaxed);
        self.took();
    }

    fn greets_no_more(&self) {
        if self.greets.swap(false, Ordering::Relaxed) {
            self.peers.greeting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// A request has come.
    pub fn begin(self: &Arc<Self>) -> Busy {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.unanswered.fetch_add(1, Ordering::Relaxed);
        Busy { peer: self.clone(), answered: false }
    }

    /// It took some bytes.
    pub fn took(&self) {
        self.active.store(self.peers.now(), Ordering::Relaxed);
    }

    /// More or fewer bytes of answers wait for it.
    pub fn waits(&self, more: usize, fewer: usize) {
        self.waiting.fetch_add(more, Ordering::Relaxed);
        self.waiting.fetch_sub(fewer, Ordering::Relaxed);
    }

    /// Whether it takes nothing at the moment.
    pub fn set_blocked(&self, blocked: bool) {
        self.blocked.store(blocked, Ordering::Relaxed);
    }

    /// When the answer that it is being sent over HTTP/1 must have ended; `None` for whenever it likes.
    pub fn set_end(&self, at: Option<Instant>) {
        let at = at.map_or(u64::MAX, |at| millis(at.saturating_duration_since(self.peers.started)));
        self.ends.store(at, Ordering::Relaxed);
    }

    /// Until when a peer is waited for that takes nothing since a time.
    pub fn patience_with(&self, since: Instant) -> Instant {
        let patience = since + self.limits().stall;
        match self.ends.load(Ordering::Relaxed) {
            u64::MAX => patience,
            ends => patience.min(self.peers.started + Duration::from_millis(ends) + self.limits().overtime),
        }
    }

    /// HTTP is done with it; where its socket is still open, it speaks something else.
    pub fn leave_http(&self) {
        self.upgraded.store(true, Ordering::Relaxed);
    }

    /// It has to go.
    pub fn send_away(&self) {
        self.greets_no_more();
        self.going.store(true, Ordering::Relaxed);
        self.go.notify_one();
    }

    /// Comes when it has to.
    pub async fn told_to_go(&self) {
        self.go.notified().await;
    }

    /// There is no time for a long goodbye.
    pub fn must_hurry(&self) -> bool {
        self.going.load(Ordering::Relaxed) || *self.peers.stop.borrow()
    }

    /// A place among those that linger, where there is one.
    pub fn linger(&self) -> Option<Lingering> {
        let lingering = &self.peers.lingering;
        let taken = lingering.fetch_add(1, Ordering::Relaxed);
        let place = Lingering(self.peers.clone());
        (taken < self.limits().lingering).then_some(place)
    }

    /// Comes, once the server is stopping, when there is nothing to wait for any more: no request is being worked on, and
    /// what is left is for the peer to take, which it does not.
    pub async fn given_up(&self) {
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
    /// Its answer has begun.
    pub fn answer(&mut self) {
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

impl Drop for Lingering {
    fn drop(&mut self) {
        self.0.lingering.fetch_sub(1, Ordering::Relaxed);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// How many connections the process may have open beside what it has open already, with a reserve.
pub fn descriptors_to_spare() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    // Unlimited, or a system that does not say: then the error of accepting is what tells.
    let Some(soft) = soft else { return usize::MAX };
    let used = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    soft.saturating_sub(used + RESERVE.max(soft / 16)).max(RESERVE.min(soft / 2))
}
