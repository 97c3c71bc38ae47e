//! The demand for indexes: what scans in vain have cost, by the term whose index would have saved them.

use std::collections::HashMap;

use super::index::Term;

/// The maximum number of terms without an index that are charged. Clients choose the keys of labels.
const TERMS: usize = 64;

/// The cost of scans, by term.
#[derive(Default)]
pub(super) struct Demand {
    /// Objects examined in vain.
    charges: HashMap<Term, usize>,
    /// Terms whose index is being built or kept.
    kept: Vec<Term>,
}

impl Demand {
    /// Charges a term. Returns true if it has reached the price, and its index is now to be built.
    pub(super) fn charge(&mut self, term: &Term, examined: usize, price: usize) -> bool {
        if self.kept.contains(term) {
            return false;
        }
        if self.charges.len() >= TERMS && !self.charges.contains_key(term) {
            let cheapest = self.charges.iter().min_by_key(|(_, charge)| **charge).map(|(term, _)| term.clone());
            cheapest.map(|term| self.charges.remove(&term));
        }
        let charge = self.charges.entry(term.clone()).or_default();
        *charge = charge.saturating_add(examined);
        let is_due = *charge >= price;
        if is_due {
            self.charges.remove(term);
            self.kept.push(term.clone());
        }
        is_due
    }

    pub(super) fn release(&mut self, term: &Term) {
        self.kept.retain(|kept| kept != term);
    }
}
