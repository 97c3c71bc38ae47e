//! Figures of a round: latencies of successful operations, and counts of the others.
use std::{collections::BTreeMap, time::Duration};

use hdrhistogram::Histogram;

use crate::client::Failed;

/// The figures of a round, or of a part of it.
#[derive(Clone)]
pub(crate) struct Measure {
    /// Latencies of successful operations in nanoseconds, exact to three digits.
    pub(crate) latency: Histogram<u64>,
    /// Bytes of the bodies of successful answers.
    pub(crate) bytes: u64,
    /// Refused operations by status code.
    pub(crate) refused: BTreeMap<u16, u64>,
    /// Operations that failed otherwise, by reason.
    pub(crate) errors: BTreeMap<String, u64>,
    /// The first refusal, for the report of a scenario without any success.
    pub(crate) first: Option<String>,
    /// Operations of an open loop that were due and not begun.
    pub(crate) unsent: u64,
    /// The length of the round.
    pub(crate) elapsed: Duration,
}

impl Measure {
    pub(crate) fn new() -> Self {
        Self {
            latency: Histogram::new(3).expect("a histogram may have three digits"),
            bytes: 0,
            refused: BTreeMap::new(),
            errors: BTreeMap::new(),
            first: None,
            unsent: 0,
            elapsed: Duration::ZERO,
        }
    }

    /// Counts a success.
    pub(crate) fn succeeded(&mut self, latency: Duration, bytes: u64) {
        let nanoseconds = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.latency.record(nanoseconds.max(1)).expect("a histogram that grows takes any latency");
        self.bytes += bytes;
    }

    /// Counts an operation that did not succeed.
    pub(crate) fn failed(&mut self, failed: Failed) {
        self.first.get_or_insert_with(|| failed.to_string());
        match failed {
            Failed::Refused(code, _) => *self.refused.entry(code).or_default() += 1,
            Failed::Broken(reason) => *self.errors.entry(reason).or_default() += 1,
        }
    }

    /// Adds what another connection, or another round, measured.
    pub(crate) fn add(&mut self, other: &Self) {
        self.latency.add(&other.latency).expect("a histogram that grows takes those of the same precision");
        self.bytes += other.bytes;
        self.unsent += other.unsent;
        self.elapsed += other.elapsed;
        for (code, count) in &other.refused {
            *self.refused.entry(*code).or_default() += count;
        }
        for (reason, count) in &other.errors {
            *self.errors.entry(reason.clone()).or_default() += count;
        }
        self.first = self.first.take().or_else(|| other.first.clone());
    }

    /// Successful operations.
    pub(crate) fn count(&self) -> u64 {
        self.latency.len()
    }

    /// Successful operations a second.
    pub(crate) fn rate(&self) -> f64 {
        if self.elapsed.is_zero() { 0.0 } else { number(self.count()) / self.elapsed.as_secs_f64() }
    }

    /// The latency in milliseconds that this part of the operations did not exceed.
    pub(crate) fn latency_ms(&self, quantile: f64) -> f64 {
        number(self.latency.value_at_quantile(quantile)) / 1e6
    }
}

/// A count as a number to calculate with.
#[expect(clippy::cast_precision_loss, reason = "counts and nanoseconds of a run are far below 2^53")]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}

/// The median; zero of no values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        length if length % 2 == 1 => sorted[length / 2],
        length => f64::midpoint(sorted[length / 2 - 1], sorted[length / 2]),
    }
}

/// How the first of two servers compares with the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    /// The ratio of the two medians.
    pub(crate) of_medians: f64,
    /// The lowest and the highest ratio of two rounds that followed each other.
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
}

impl Ratio {
    /// Compares figures that were measured in turn; none if one of the medians is zero.
    pub(crate) fn of(first: &[f64], second: &[f64]) -> Option<Self> {
        let of_medians = median(first.iter().copied()) / median(second.iter().copied());
        if !of_medians.is_normal() {
            return None;
        }
        let pairs = first.iter().zip(second).map(|(a, b)| a / b).filter(|ratio| ratio.is_finite());
        let (lowest, highest) = pairs.fold((f64::INFINITY, 0.0_f64), |(low, high), r| (low.min(r), high.max(r)));
        Some(Self { of_medians, lowest, highest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_by_code_and_have_no_latency() {
        let mut measure = Measure::new();
        measure.succeeded(Duration::from_millis(2), 10);
        measure.failed(Failed::Refused(429, "too many".into()));
        let mut other = Measure::new();
        other.failed(Failed::Refused(429, "too many".into()));
        other.failed(Failed::Broken("reset".into()));
        other.succeeded(Duration::from_secs(90), 5);
        measure.add(&other);
        assert_eq!((measure.count(), measure.bytes), (2, 15));
        assert_eq!(measure.refused, BTreeMap::from([(429, 2)]));
        assert_eq!(measure.errors, BTreeMap::from([("reset".to_owned(), 1)]));
        assert_eq!(measure.first.as_deref(), Some("the server answered 429: too many"));
        assert!((measure.latency_ms(0.5) - 2.0).abs() < 0.01, "{}", measure.latency_ms(0.5));
        assert!((measure.latency_ms(1.0) - 90_000.0).abs() < 90.0, "a histogram grows: {}", measure.latency_ms(1.0));
    }

    #[test]
    fn medians_and_ratios_of_rounds_in_turn() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} and {b}");
        close(median([3.0, 1.0, 2.0]), 2.0);
        close(median([4.0, 1.0, 2.0, 3.0]), 2.5);
        close(median([]), 0.0);
        let ratio = Ratio::of(&[100.0, 300.0, 200.0], &[100.0, 100.0, 400.0]).unwrap();
        close(ratio.of_medians, 2.0);
        close(ratio.lowest, 0.5);
        close(ratio.highest, 3.0);
        assert_eq!(Ratio::of(&[1.0], &[0.0]), None);
    }
}
