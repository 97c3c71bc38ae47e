//! Limits the work and the text of the cells of one object.
use std::cell::Cell;

/// The number of values that the cells of an object may visit, in addition to one for each of its bytes.
const VISITS: usize = 2_000;
/// The bytes of text that the cells of an object may have, in addition to [`TEXT_TIMES`] its own size.
const TEXT: usize = 16 << 10;
const TEXT_TIMES: usize = 4;

/// The remaining budget for the cells of one object: visits of values, and bytes of text. Ordinary columns need a small part of it.
/// Cells that exceed it are empty, and so are those after them.
#[derive(Debug)]
pub struct CellMeter {
    visits: Cell<usize>,
    text: Cell<usize>,
    is_exhausted: Cell<bool>,
}

impl CellMeter {
    /// The meter for an object of this many bytes.
    pub fn of(bytes: usize) -> Self {
        Self {
            visits: Cell::new(VISITS.saturating_add(bytes)),
            text: Cell::new(TEXT.saturating_add(bytes.saturating_mul(TEXT_TIMES))),
            is_exhausted: Cell::new(false),
        }
    }

    /// Takes the visit of a value. False if none is left.
    pub(super) fn visit(&self) -> bool {
        self.take(&self.visits, 1)
    }

    /// Takes bytes of text. False if fewer are left.
    pub fn text(&self, bytes: usize) -> bool {
        self.take(&self.text, bytes)
    }

    /// True once more was needed than was left.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted.get()
    }

    fn take(&self, from: &Cell<usize>, count: usize) -> bool {
        match from.get().checked_sub(count) {
            Some(left) if !self.is_exhausted() => from.set(left),
            _ => self.is_exhausted.set(true),
        }
        !self.is_exhausted()
    }
}
