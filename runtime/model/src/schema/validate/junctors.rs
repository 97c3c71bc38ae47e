//! `allOf`, `anyOf`, `oneOf` and `not`, validated and reported as in kube-openapi (`pkg/validation/validate`).
//!
//! The schemas in them, the branches, only validate, and only fields that the surrounding schema declares. They do not
//! affect defaulting, pruning, merging or ratcheting.
use std::sync::LazyLock;

use super::{validator::Validator, value::is_integer};
use crate::{
    meta::go,
    schema::{
        At, Document, Schema,
        location::Location,
        model::{Either, Junctors, Type},
    },
};

/// The branches of `anyOf` for a value that is an integer or text.
static EITHER: LazyLock<[Schema; 2]> = LazyLock::new(|| [Type::Integer, Type::String].map(Schema::of));
static NONE: Junctors = Junctors { all_of: Vec::new(), any_of: Vec::new(), one_of: Vec::new(), not: None };

impl Validator<'_> {
    /// Validates a value that is not null. Each branch is walked once, even if branches are nested.
    pub(super) fn junctors(&mut self, at: At<'_>, value: &Document, location: &Location<'_>) {
        if value.is_null() || self.is_full() {
            return;
        }
        let node = at.node();
        let is_either = matches!(node.either, Either::Unsaid) || is_integer(value) || value.is_string();
        let Some(junctors) = node.junctors.as_deref().or((!is_either).then_some(&NONE)) else { return };
        if !is_either && matches!(node.either, Either::AnyOf) {
            self.any_of(at, &*EITHER, value, location);
        }
        self.any_of(at, &junctors.any_of, value, location);
        self.one_of(at, &junctors.one_of, value, location);
        let said = matches!(node.either, Either::AllOf).then_some(is_either);
        self.all_of(at, &junctors.all_of, said, value, location);
        if let Some(branch) = &junctors.not
            && self.alone(at.branch(branch), value, location).is_valid()
        {
            self.invalid_nowhere(format!("{} must not validate the schema (not)", go::quoted(&location.text())));
        }
    }

    fn any_of(&mut self, at: At<'_>, branches: &[Schema], value: &Document, location: &Location<'_>) {
        let mut best = None;
        for branch in branches {
            let judged = self.alone(at.branch(branch), value, location);
            if judged.is_valid() {
                return self.take(judged);
            }
            best = Some(better(best, judged));
        }
        if let Some(best) = best {
            self.invalid_nowhere(format!("{} must validate at least one schema (anyOf)", go::quoted(&location.text())));
            self.take(best);
        }
    }

    fn one_of(&mut self, at: At<'_>, branches: &[Schema], value: &Document, location: &Location<'_>) {
        let (mut valid, mut best) = (Vec::new(), None);
        for branch in branches {
            let judged = self.alone(at.branch(branch), value, location);
            if judged.is_valid() {
                valid.push(judged);
            } else {
                best = Some(better(best, judged));
            }
        }
        let found = match valid.len() {
            0 if branches.is_empty() => return,
            0 => "Found none valid".to_owned(),
            1 => return valid.into_iter().for_each(|judged| self.take(judged)),
            several => format!("Found {several} valid alternatives"),
        };
        let text = go::quoted(&location.text());
        self.invalid_nowhere(format!("{text} must validate one and only one schema (oneOf). {found}"));
        if let Some(best) = best.filter(|_| valid.is_empty()) {
            self.take(best);
        }
    }

    /// A definition may say in a branch before the others that the value is an integer or text, which then is true or not.
    fn all_of(
        &mut self,
        at: At<'_>,
        branches: &[Schema],
        said: Option<bool>,
        value: &Document,
        location: &Location<'_>,
    ) {
        if said == Some(false) {
            self.any_of(at, &*EITHER, value, location);
        }
        let mut valid = usize::from(said == Some(true));
        for branch in branches {
            let judged = self.alone(at.branch(branch), value, location);
            valid += usize::from(judged.is_valid());
            self.take(judged);
        }
        if valid < branches.len() + usize::from(said.is_some()) {
            let none = if valid == 0 { ". None validated" } else { "" };
            self.invalid_nowhere(format!(
                "{} must validate all the schemas (allOf){none}",
                go::quoted(&location.text())
            ));
        }
    }
}

/// The failed branch whose errors are reported: the one with the most checks, and the first of equal ones.
fn better<'m>(best: Option<Validator<'m>>, judged: Validator<'m>) -> Validator<'m> {
    match best {
        Some(best) if best.checks >= judged.checks => best,
        _ => judged,
    }
}
