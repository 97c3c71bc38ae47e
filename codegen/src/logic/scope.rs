//! The variables that an expression sees.
use kindsmith_cel::syntax::ast::Expr;

use super::{key, place::Place};

/// The variables at a node.
#[derive(Clone)]
pub(super) struct Scope<'e> {
    place: Place<'e>,
    /// Those of the loops around it.
    pub(super) names: Vec<&'e str>,
    pub(super) places: Vec<Option<Place<'e>>>,
}

impl<'e> Scope<'e> {
    pub(super) fn of(place: Place<'e>) -> Self {
        Self { place, names: Vec::new(), places: Vec::new() }
    }

    /// The place of a variable's values.
    pub(super) fn place(&self, name: &str) -> Option<Place<'e>> {
        match self.names.iter().rposition(|known| *known == name) {
            Some(index) => self.places[index],
            None if name == "self" => Some(self.place),
            None if name == "oldSelf" => Some(self.place.old()),
            None => None,
        }
    }

    /// It is a variable of a loop.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    pub(super) fn key(&self, expr: &Expr) -> String {
        key::of(expr, &self.names)
    }
}
