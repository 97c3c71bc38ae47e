//! Searches in texts.
use std::time::Instant;

use super::Pattern;
use crate::{Error, Meter};

/// The steps of a search in the worst case up to which it is not timed.
const UNTIMED: u64 = 2_000;
/// How many steps of the worst case such a search usually takes one of.
const USUALLY: u64 = 16;
/// The steps in the worst case from which a search is refused if the meter has not even few of them.
const LONG: u64 = 100_000_000;
/// How many steps of the worst case a long search takes one of, at the least.
const LEAST: u64 = 4;
/// The nanoseconds of a step.
const NANOSECONDS: u128 = 10;

impl Pattern {
    /// True if it matches somewhere in a text, and can be compiled.
    pub fn is_match(&self, text: &str) -> bool {
        self.matches(text) == Ok(true)
    }

    /// True if it matches somewhere in a text.
    ///
    /// # Errors
    /// It cannot be compiled.
    pub fn matches(&self, text: &str) -> Result<bool, String> {
        self.0.with(text, |regex| regex.is_match(text))
    }

    /// True if it matches somewhere in a text.
    ///
    /// # Errors
    /// It cannot be compiled, or the meter ends the evaluation.
    pub fn search(&self, text: &str, meter: &dyn Meter) -> Result<bool, Error> {
        self.metered(text, meter, || self.matches(text))
    }

    /// The first match in a text, as Go's `FindString` has it.
    ///
    /// # Errors
    /// It cannot be compiled, or the meter ends the evaluation.
    pub fn find<'t>(&self, text: &'t str, meter: &dyn Meter) -> Result<Option<&'t str>, Error> {
        self.metered(text, meter, || self.0.with(text, |regex| regex.find(text).map(|found| found.as_str())))
    }

    /// The matches in a text, at most so many, as Go's `FindAllString` has them.
    ///
    /// # Errors
    /// It cannot be compiled, or the meter ends the evaluation.
    pub fn find_all<'t>(&self, text: &'t str, most: usize, meter: &dyn Meter) -> Result<Vec<&'t str>, Error> {
        // Each match may be searched for in all of the text.
        let found = self.0.with(text, |regex| {
            let (mut found, mut start) = (Vec::new(), Instant::now());
            for one in regex.find_iter(text).take(most) {
                meter.reserve(size_of::<&str>())?;
                meter.spend(steps_since(start))?;
                start = Instant::now();
                found.push(one.as_str());
            }
            meter.spend(steps_since(start))?;
            Ok(found)
        });
        found.map_err(Error::new)?
    }

    /// Does a search. Its worst case is known; usually it takes far fewer steps, and those that it has taken are reported.
    fn metered<T>(
        &self,
        text: &str,
        meter: &dyn Meter,
        search: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, Error> {
        let spend = |steps: u64| meter.spend(usize::try_from(steps).unwrap_or(usize::MAX));
        let worst = self.cost(text.len());
        if worst <= UNTIMED {
            spend(1 + worst / USUALLY)?;
            return search().map_err(Error::new);
        }
        if worst > LONG {
            spend(worst / LEAST)?;
        }
        let start = Instant::now();
        let result = search();
        meter.spend(steps_since(start))?;
        result.map_err(Error::new)
    }
}

/// The steps that the time since an instant is worth, and one for the search itself.
fn steps_since(start: Instant) -> usize {
    usize::try_from(1 + start.elapsed().as_nanos() / NANOSECONDS).unwrap_or(usize::MAX)
}
