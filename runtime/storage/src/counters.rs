//! Numbers that all threads add to. Each thread adds to one of several copies, so that cores do not take cache lines from
//! each other; readers sum the copies up.

use std::{
    mem,
    sync::{
        LazyLock,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread::available_parallelism,
    time::Duration,
};

/// Numbers between two copies: two cache lines, since processors fetch lines in pairs.
const STRIDE: usize = 16;
/// Most copies: further cores share them, so that memory stays small.
const COPIES: usize = 8;

/// How many copies there are: a power of two.
static COPIES_HERE: LazyLock<usize> =
    LazyLock::new(|| available_parallelism().map_or(1, usize::from).next_power_of_two().min(COPIES));

fn number_of_this_thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed));
    // A thread that is ending may have none any more.
    NUMBER.try_with(|number| *number).unwrap_or_default()
}

/// A row of numbers, in several copies.
pub struct Cells {
    stride: usize,
    mask: usize,
    cells: Box<[AtomicU64]>,
}

impl Cells {
    /// This many numbers, all zero.
    pub fn new(count: usize) -> Self {
        let (stride, copies) = (count.next_multiple_of(STRIDE), *COPIES_HERE);
        Self { stride, mask: copies - 1, cells: (0..stride * copies).map(|_| AtomicU64::new(0)).collect() }
    }

    /// The copy for this thread.
    pub fn copy(&self) -> &[AtomicU64] {
        let at = (number_of_this_thread() & self.mask) * self.stride;
        &self.cells[at..at + self.stride]
    }

    /// The sum of all copies.
    pub fn total(&self, index: usize) -> u64 {
        let copies = self.cells.chunks(self.stride);
        copies.map(|copy| copy[index].load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
    }

    /// The sums of a histogram that begins at an index.
    pub fn totals(&self, bounds: &'static [u64], at: usize) -> Totals {
        let buckets = (0..=bounds.len()).map(|bucket| self.total(at + bucket)).collect();
        Totals { bounds, buckets, sum: self.total(at + bounds.len() + 1) }
    }
}

/// Bounds in nanoseconds, given in milliseconds.
pub const fn milliseconds<const N: usize>(mut bounds: [u64; N]) -> [u64; N] {
    let mut at = 0;
    while at < N {
        bounds[at] *= 1_000_000;
        at += 1;
    }
    bounds
}

/// The numbers that a histogram takes: its buckets, the bucket of larger values, the sum.
pub const fn width(bounds: &[u64]) -> usize {
    bounds.len() + 2
}

/// Adds one to a number.
pub fn count(cell: &AtomicU64) {
    cell.fetch_add(1, Ordering::Relaxed);
}

/// Adds a value to a histogram in a copy.
pub fn observe(copy: &[AtomicU64], bounds: &[u64], value: u64) {
    count(&copy[bucket_of(bounds, value)]);
    copy[bounds.len() + 1].fetch_add(value, Ordering::Relaxed);
}

fn bucket_of(bounds: &[u64], value: u64) -> usize {
    bounds.iter().position(|bound| value <= *bound).unwrap_or(bounds.len())
}

/// A number that grows.
pub struct Counter(Cells);

impl Default for Counter {
    fn default() -> Self {
        Self(Cells::new(1))
    }
}

impl Counter {
    /// Adds one.
    pub fn count(&self) {
        count(&self.0.copy()[0]);
    }

    /// How much it has grown to.
    pub fn total(&self) -> u64 {
        self.0.total(0)
    }
}

/// How many values fell between given bounds, and their sum.
pub struct Histogram {
    bounds: &'static [u64],
    cells: Cells,
}

impl Histogram {
    /// An empty histogram. Each bound, in growing order, is the largest value of a bucket.
    pub fn new(bounds: &'static [u64]) -> Self {
        Self { bounds, cells: Cells::new(width(bounds)) }
    }

    /// Adds a value.
    pub fn observe(&self, value: u64) {
        observe(self.cells.copy(), self.bounds, value);
    }

    /// Adds several values. Neighbours of one bucket cost about as much as one value.
    pub fn observe_all(&self, values: impl Iterator<Item = u64>) {
        let copy = self.cells.copy();
        let (mut bucket, mut count, mut sum) = (0, 0, 0);
        for value in values {
            let next = bucket_of(self.bounds, value);
            if next != bucket {
                copy[bucket].fetch_add(mem::take(&mut count), Ordering::Relaxed);
                bucket = next;
            }
            count += 1;
            sum += value;
        }
        copy[bucket].fetch_add(count, Ordering::Relaxed);
        copy[self.bounds.len() + 1].fetch_add(sum, Ordering::Relaxed);
    }

    /// What was added.
    pub fn totals(&self) -> Totals {
        self.cells.totals(self.bounds, 0)
    }
}

/// The content of a histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// The largest value of each bucket but the last.
    pub bounds: &'static [u64],
    /// The values in each bucket; the last has those above all bounds.
    pub buckets: Vec<u64>,
    /// The sum of all values.
    pub sum: u64,
}

impl Totals {
    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }
}

/// A duration as histograms take it.
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn nothing_is_lost_when_many_threads_add_at_once() {
        let (counter, histogram) = (Counter::default(), Histogram::new(&[10, 20]));
        thread::scope(|scope| {
            for value in 1..=30 {
                let (counter, histogram) = (&counter, &histogram);
                scope.spawn(move || {
                    for _ in 0..1_000 {
                        counter.count();
                        histogram.observe(value);
                    }
                });
            }
        });
        assert_eq!(counter.total(), 30_000);
        let totals = histogram.totals();
        assert_eq!((totals.buckets.as_slice(), totals.sum), (&[10_000, 10_000, 10_000][..], 465_000));
        assert_eq!(totals.count(), 30_000);
    }

    #[test]
    fn several_values_are_added_like_one_by_one() {
        let (several, each) = (Histogram::new(&[10, 20]), Histogram::new(&[10, 20]));
        for values in [&[][..], &[5], &[21, 22, 3, 4, 11, 10, 12]] {
            several.observe_all(values.iter().copied());
            for value in values {
                each.observe(*value);
            }
            assert_eq!(several.totals(), each.totals());
        }
    }

    #[test]
    fn a_bound_belongs_to_its_bucket() {
        let histogram = Histogram::new(&[10, 20]);
        for value in [0, 10, 11, 20, 21] {
            histogram.observe(value);
        }
        assert_eq!(histogram.totals().buckets, [2, 2, 1]);
    }
}
