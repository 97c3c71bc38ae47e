//! The work that a request causes, counted while it happens: a short object may cause much, because a stranger's schema may
//! multiply it.
use std::{
    fmt,
    sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed},
    time::Instant,
};

/// The steps after which the time is looked at.
const SLICE: usize = 1 << 16;

/// Counts steps taken and bytes made, up to limits. Walks over documents take a step for each value, and more where one
/// value costs more than a few nanoseconds. Once a limit is exceeded, walks end early and their results are of no use:
/// callers call [`Meter::check`] before they use a result.
///
/// It is shared by the steps of one request, which come one after the other: used from several threads at once, it counts too
/// little.
#[derive(Debug)]
pub struct Meter {
    /// The steps and bytes of one try.
    limits: (usize, usize),
    /// The steps that are left.
    steps: AtomicUsize,
    /// When so many are left, the time is looked at.
    look: AtomicUsize,
    /// The bytes that are left.
    bytes: AtomicUsize,
    deadline: Option<Instant>,
    exceeded: AtomicU8,
}

/// The limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// More steps were taken than [`Meter::STEPS`].
    Steps,
    /// More bytes were made than [`Meter::BYTES`].
    Bytes,
    /// The request's time limit has passed.
    Time,
}

impl Meter {
    /// The most steps of a request: about a second in the worst case, and several times what an object of the maximum size
    /// takes with an ordinary schema.
    pub const STEPS: usize = 50_000_000;

    /// The most bytes that a request may add to documents, as much as a document may take in memory at all.
    pub const BYTES: usize = 28 << 20;

    /// The most steps for an object that is read from the store, of which there may be many.
    const STORED_STEPS: usize = 2_000_000;

    /// The most bytes that defaults may add to such an object: about as much as any object may have.
    const STORED_BYTES: usize = 4 << 20;

    /// The most steps on a thread that serves connections: a few milliseconds.
    const LIGHT_STEPS: usize = 200_000;

    /// The most bytes that are made there.
    const LIGHT_BYTES: usize = 512 << 10;

    /// About how long a step takes.
    const NANOSECONDS: u128 = 10;

    /// Work of fewer steps in the worst case is not timed, which takes longer than most of it.
    const UNTIMED: usize = 2_000;

    /// How many times fewer steps such work takes usually.
    const USUALLY: usize = 16;

    /// How many times longer timed work may take in the worst case than there are steps left.
    const WORST: usize = 4;

    /// For one request, or one object, off the threads that serve connections.
    pub fn new(deadline: Option<Instant>) -> Self {
        Self::of((Self::STEPS, Self::BYTES), deadline)
    }

    /// For the beginning of a request on a thread that serves connections. When it is exceeded, the request begins again
    /// elsewhere, with [`Meter::heavy`].
    pub fn light(deadline: Option<Instant>) -> Self {
        Self::of((Self::LIGHT_STEPS, Self::LIGHT_BYTES), deadline)
    }

    /// For the same request off the threads that serve connections.
    #[must_use]
    pub fn heavy(&self) -> Self {
        Self::new(self.deadline)
    }

    /// For an object that is read from the store.
    pub fn stored() -> Self {
        Self::of((Self::STORED_STEPS, Self::STORED_BYTES), None)
    }

    fn of(limits: (usize, usize), deadline: Option<Instant>) -> Self {
        let look = if deadline.is_some() { limits.0 } else { 0 };
        let [steps, look, bytes] = [limits.0, look, limits.1].map(AtomicUsize::new);
        Self { limits, steps, look, bytes, deadline, exceeded: AtomicU8::new(0) }
    }

    /// Begins to count anew: a request that lost a race does all of its work again.
    pub fn begin_again(&self) {
        if self.goes_on() {
            self.look.store(if self.deadline.is_some() { self.limits.0 } else { 0 }, Relaxed);
            self.steps.store(self.limits.0, Relaxed);
            self.bytes.store(self.limits.1, Relaxed);
        }
    }

    /// Takes steps. Returns false if a limit is exceeded.
    // Without read-modify-write operations, which take as long as visiting several values.
    pub fn step(&self, count: usize) -> bool {
        let left = self.steps.load(Relaxed).saturating_sub(count);
        self.steps.store(left, Relaxed);
        left > self.look.load(Relaxed) || self.look_around(left)
    }

    /// Does work that takes so many steps in the worst case, and usually far fewer: those are counted that it has taken. `None`
    /// if even few of them are too many.
    pub(crate) fn timed<T>(&self, worst: u64, work: impl FnOnce() -> T) -> Option<T> {
        let worst = usize::try_from(worst).unwrap_or(usize::MAX);
        if worst <= Self::UNTIMED {
            return self.step(worst / Self::USUALLY).then(work);
        }
        if worst / Self::WORST > self.steps.load(Relaxed) {
            self.exceed(Exceeded::Steps);
            return None;
        }
        let start = Instant::now();
        let done = work();
        let taken = start.elapsed().as_nanos() / Self::NANOSECONDS;
        // The thread may have waited for a processor meanwhile: that is no work.
        let taken = usize::try_from(taken).unwrap_or(usize::MAX).min(worst);
        self.step(taken).then_some(done)
    }

    /// Makes bytes. Returns false if a limit is exceeded.
    pub(crate) fn make(&self, bytes: usize) -> bool {
        let left = self.bytes.load(Relaxed).checked_sub(bytes);
        match left {
            Some(left) => self.bytes.store(left, Relaxed),
            None => self.exceed(Exceeded::Bytes),
        }
        left.is_some()
    }

    /// The steps that were taken since it began to count.
    pub fn taken(&self) -> usize {
        self.limits.0 - self.steps.load(Relaxed)
    }

    /// True if no limit is exceeded.
    pub fn goes_on(&self) -> bool {
        self.exceeded.load(Relaxed) == 0
    }

    /// Checks that no limit was exceeded.
    ///
    /// # Errors
    /// The first one that was.
    pub fn check(&self) -> Result<(), Exceeded> {
        match self.exceeded.load(Relaxed) {
            0 => Ok(()),
            1 => Err(Exceeded::Steps),
            2 => Err(Exceeded::Bytes),
            _ => Err(Exceeded::Time),
        }
    }

    #[cold]
    fn look_around(&self, left: usize) -> bool {
        if left == 0 {
            self.exceed(Exceeded::Steps);
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.exceed(Exceeded::Time);
        } else {
            self.look.store(left.saturating_sub(SLICE), Relaxed);
        }
        self.goes_on()
    }

    #[cold]
    fn exceed(&self, what: Exceeded) {
        if self.goes_on() {
            let number = match what {
                Exceeded::Steps => 1,
                Exceeded::Bytes => 2,
                Exceeded::Time => 3,
            };
            self.exceeded.store(number, Relaxed);
        }
        // Every further step looks around, and ends.
        self.steps.store(0, Relaxed);
        self.bytes.store(0, Relaxed);
    }
}

impl Default for Meter {
    /// For work without a time limit of its own.
    fn default() -> Self {
        Self::new(None)
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps => write!(
                f,
                "the request takes more than {} steps, which is the limit: its object has too many values for what its schema or the \
                 request does with each",
                Meter::STEPS
            ),
            Self::Bytes => {
                write!(f, "defaults would add more than {} bytes to the object, which is the limit", Meter::BYTES)
            }
            Self::Time => f.write_str("Timeout: request did not complete within the allotted timeout"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_was_exceeded_first_is_reported_and_nothing_goes_on() {
        let meter = Meter::of((10, 10), None);
        assert!(meter.step(9) && meter.make(10) && meter.check().is_ok());
        assert!(!meter.make(1), "no bytes are left");
        assert!(!meter.step(0) && !meter.goes_on());
        assert_eq!(meter.check(), Err(Exceeded::Bytes));
        let meter = Meter::of((10, 10), None);
        assert!(!meter.step(11) && !meter.step(1) && !meter.make(1));
        assert_eq!(meter.check(), Err(Exceeded::Steps));
    }

    #[test]
    fn waiting_for_a_processor_is_no_work() {
        let meter = Meter::of((10_000, 10), None);
        let done = meter.timed(3_000, || std::thread::sleep(Duration::from_millis(2)));
        assert!(done.is_some() && meter.check().is_ok());
        // Work that takes as long as its worst case is counted.
        assert!(meter.timed(30_000, || std::thread::sleep(Duration::from_millis(2))).is_none());
        assert_eq!(meter.check(), Err(Exceeded::Steps));
    }

    #[test]
    fn a_deadline_ends_work_in_progress() {
        let meter = Meter::new(Some(Instant::now() + Duration::from_millis(20)));
        let start = Instant::now();
        while meter.step(1) {
            assert!(start.elapsed() < Duration::from_secs(5));
        }
        assert_eq!(meter.check(), Err(Exceeded::Time));
    }
}
