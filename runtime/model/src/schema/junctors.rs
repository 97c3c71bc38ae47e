//! `allOf`, `anyOf`, `oneOf` and `not`, validated and reported as in kube-openapi (`pkg/validation/validate`).
//!
//! The schemas in them, the branches, only validate, and only fields that the surrounding schema declares. They do not
//! affect defaulting, pruning, merging or ratcheting.
use super::{
    At, Document, Schema,
    location::Location,
    model::{ListType, PatchStrategy, Type},
    validate::Validator,
};
use crate::meta::go;

/// The rules of a schema that are other schemas for the same value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Junctors {
    /// The value matches all of these.
    pub all_of: Vec<Schema>,
    /// The value matches at least one of these; no rule if empty.
    pub any_of: Vec<Schema>,
    /// The value matches exactly one of these; no rule if empty.
    pub one_of: Vec<Schema>,
    /// The value does not match this.
    pub not: Option<Schema>,
}

impl Junctors {
    /// The branches with their keywords.
    pub(crate) fn branches(&self) -> [(&'static str, &[Schema]); 4] {
        [("allOf", &self.all_of), ("anyOf", &self.any_of), ("oneOf", &self.one_of), ("not", self.not.as_slice())]
    }
}

/// Validates a value. Each branch is walked once, even if branches are nested.
pub(super) fn check(
    validator: &mut Validator<'_>,
    at: At<'_>,
    junctors: &Junctors,
    value: &Document,
    location: &Location<'_>,
) {
    if validator.is_full() {
        return;
    }
    any_of(validator, at, &junctors.any_of, value, location);
    one_of(validator, at, &junctors.one_of, value, location);
    all_of(validator, at, &junctors.all_of, value, location);
    if let Some(branch) = &junctors.not
        && validator.alone(at.branch(branch), value, location).is_valid()
    {
        validator.invalid_nowhere(format!("{} must not validate the schema (not)", go::quoted(&location.text())));
    }
}

fn any_of(validator: &mut Validator<'_>, at: At<'_>, branches: &[Schema], value: &Document, location: &Location<'_>) {
    let mut best = None;
    for branch in branches {
        let judged = validator.alone(at.branch(branch), value, location);
        if judged.is_valid() {
            return validator.take(judged);
        }
        best = Some(better(best, judged));
    }
    if let Some(best) = best {
        validator
            .invalid_nowhere(format!("{} must validate at least one schema (anyOf)", go::quoted(&location.text())));
        validator.take(best);
    }
}

fn one_of(validator: &mut Validator<'_>, at: At<'_>, branches: &[Schema], value: &Document, location: &Location<'_>) {
    let (mut valid, mut best) = (Vec::new(), None);
    for branch in branches {
        let judged = validator.alone(at.branch(branch), value, location);
        if judged.is_valid() {
            valid.push(judged);
        } else {
            best = Some(better(best, judged));
        }
    }
    let found = match valid.len() {
        0 if branches.is_empty() => return,
        0 => "Found none valid".to_owned(),
        1 => return valid.into_iter().for_each(|judged| validator.take(judged)),
        several => format!("Found {several} valid alternatives"),
    };
    let text = go::quoted(&location.text());
    validator.invalid_nowhere(format!("{text} must validate one and only one schema (oneOf). {found}"));
    if let Some(best) = best.filter(|_| valid.is_empty()) {
        validator.take(best);
    }
}

fn all_of(validator: &mut Validator<'_>, at: At<'_>, branches: &[Schema], value: &Document, location: &Location<'_>) {
    let mut valid = 0;
    for branch in branches {
        let judged = validator.alone(at.branch(branch), value, location);
        valid += usize::from(judged.is_valid());
        validator.take(judged);
    }
    if valid < branches.len() {
        let none = if valid == 0 { ". None validated" } else { "" };
        validator
            .invalid_nowhere(format!("{} must validate all the schemas (allOf){none}", go::quoted(&location.text())));
    }
}

/// The failed branch whose errors are reported: the one with the most checks, and the first of equal ones.
fn better<'m>(best: Option<Validator<'m>>, judged: Validator<'m>) -> Validator<'m> {
    match best {
        Some(best) if best.checks() >= judged.checks() => best,
        _ => judged,
    }
}

/// A keyword of a branch that only the surrounding schema may have.
pub(super) fn misplaced(branch: &Schema) -> impl Iterator<Item = &'static str> {
    let found = [
        ("type", !matches!(branch.kind, Type::Any | Type::IntOrString)),
        ("x-kubernetes-int-or-string", branch.kind == Type::IntOrString),
        ("title", branch.name.is_some()),
        ("description", !branch.description.is_empty()),
        ("default", branch.default.is_some()),
        ("nullable", branch.nullable),
        ("additionalProperties", branch.additional.is_some()),
        ("x-kubernetes-preserve-unknown-fields", branch.preserve_unknown),
        ("x-kubernetes-embedded-resource", branch.embedded),
        ("x-kubernetes-list-type", branch.list != ListType::Atomic),
        ("x-kubernetes-map-type", branch.map_atomic),
        ("x-kubernetes-patch-strategy", branch.patch != PatchStrategy::default()),
        ("what an empty value means", branch.omit_empty || branch.zero_is_absent),
        ("immutability", branch.immutable),
        ("a union", branch.union),
        ("a Protobuf number", branch.protobuf.is_some()),
        ("a back reference", branch.definition.is_some()),
    ];
    found.into_iter().filter_map(|(keyword, said)| said.then_some(keyword))
}
