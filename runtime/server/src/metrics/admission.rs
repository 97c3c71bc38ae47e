//! How long admission takes: of each plugin, and of all of them one after the other.

use std::{sync::OnceLock, time::Duration};

use super::{Histogram, Totals, labels, milliseconds, nanoseconds};
use crate::meta::Operation;

labels! {
    /// The label `type`: which step of admission.
    Step {
        /// The object may be changed.
        Admit = "admit",
        /// The result may be refused.
        Validate = "validate",
    }
}

/// Buckets, as kube-apiserver has them.
const BOUNDS: [u64; 6] = milliseconds([5, 25, 100, 500, 1_000, 2_500]);

/// Durations by step, operation, and whether the request was refused.
#[derive(Default)]
pub struct Admission([[[OnceLock<Histogram>; 2]; Operation::ALL.len()]; Step::ALL.len()]);

impl Admission {
    /// A step took this long.
    pub fn observe(&self, step: Step, operation: Operation, rejected: bool, elapsed: Duration) {
        let histogram = &self.0[step as usize][operation as usize][usize::from(rejected)];
        histogram.get_or_init(|| Histogram::new(&BOUNDS)).observe(nanoseconds(elapsed));
    }

    /// The durations that there are, in nanoseconds, and whether the requests were refused.
    pub fn all(&self) -> Vec<(Step, Operation, bool, Totals)> {
        let mut all = Vec::new();
        for step in Step::ALL {
            for operation in &Operation::ALL {
                let of = &self.0[*step as usize][*operation as usize];
                let found = [false, true]
                    .into_iter()
                    .zip(of)
                    .filter_map(|(rejected, histogram)| Some((*step, *operation, rejected, histogram.get()?.totals())));
                all.extend(found);
            }
        }
        all
    }
}
