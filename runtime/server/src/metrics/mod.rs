//! Counters and histograms that take a few nanoseconds to record: no lock, no hashing, and no memory that all threads write.
//! Knows no format in which they are shown.

mod admission;
mod controllers;
mod labels;
mod requests;

pub(crate) use admission::{Admission, Step};
pub(crate) use controllers::ControllerState;
pub(crate) use kindsmith_storage::counters::{self as cells, Counter, Histogram, Totals, milliseconds, nanoseconds};
use labels::labels;
pub(crate) use requests::{Cell, DryRun, Endpoint, Requests, Scope, Verb};
