//! The real work of evaluations, which their caller counts.
use crate::Error;

/// Counts the real work of evaluations, and may end them. Costs are Kubernetes' numbers, and are counted apart.
pub trait Meter {
    /// Reports steps of some ten nanoseconds each. False if the evaluation is to end.
    fn step(&self, steps: usize) -> bool;

    /// Reports steps.
    ///
    /// # Errors
    /// The evaluation is to end.
    fn spend(&self, steps: usize) -> Result<(), Error> {
        if self.step(steps) { Ok(()) } else { Err(Error::interrupted()) }
    }

    /// Reports bytes that are allocated. False if the evaluation is to end. A program counts them itself, up to
    /// [`Program::MEMORY`](crate::Program::MEMORY).
    fn allocate(&self, _bytes: usize) -> bool {
        true
    }

    /// Reports bytes that are allocated.
    ///
    /// # Errors
    /// The evaluation is to end.
    fn reserve(&self, bytes: usize) -> Result<(), Error> {
        if self.allocate(bytes) { Ok(()) } else { Err(Error::interrupted()) }
    }
}

/// A meter that never ends an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Unmetered;

impl Meter for Unmetered {
    fn step(&self, _steps: usize) -> bool {
        true
    }
}
