//! Counters and histograms that take a few nanoseconds to record: no lock, no hashing, and no memory that all threads write.
//! Knows no format in which they are shown.

use std::time::Duration;

mod admission;
mod cells;
mod labels;
mod requests;

pub(crate) use admission::{Admission, Step};
pub(crate) use cells::{Counter, Histogram, Totals, milliseconds};
use labels::labels;
pub(crate) use requests::{Cell, DryRun, Endpoint, Requests, Scope, Series, Verb};

/// A duration as histograms take it.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
