//! `allOf`, `anyOf`, `oneOf` and `not`, validated and reported as in kube-openapi (`pkg/validation/validate`).
//!
//! The schemas in them, the branches, only validate, and only fields that the surrounding schema declares. They do not
//! affect defaulting, pruning, merging or ratcheting.
use super::{
    At, Document, Schema,
    model::{ListType, PatchStrategy, Type},
    place::Place,
    validate::Walk,
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
pub(super) fn check(walk: &mut Walk<'_>, at: At<'_>, junctors: &Junctors, value: &Document, place: &Place<'_>) {
    if walk.is_full() {
        return;
    }
    any_of(walk, at, &junctors.any_of, value, place);
    one_of(walk, at, &junctors.one_of, value, place);
    all_of(walk, at, &junctors.all_of, value, place);
    if let Some(branch) = &junctors.not
        && walk.alone(at.branch(branch), value, place).is_valid()
    {
        walk.invalid_nowhere(format!("{} must not validate the schema (not)", go::quoted(&place.text())));
    }
}

fn any_of(walk: &mut Walk<'_>, at: At<'_>, branches: &[Schema], value: &Document, place: &Place<'_>) {
    let mut best = None;
    for branch in branches {
        let judged = walk.alone(at.branch(branch), value, place);
        if judged.is_valid() {
            return walk.take(judged);
        }
        best = Some(better(best, judged));
    }
    if let Some(best) = best {
        walk.invalid_nowhere(format!("{} must validate at least one schema (anyOf)", go::quoted(&place.text())));
        walk.take(best);
    }
}

fn one_of(walk: &mut Walk<'_>, at: At<'_>, branches: &[Schema], value: &Document, place: &Place<'_>) {
    let (mut valid, mut best) = (Vec::new(), None);
    for branch in branches {
        let judged = walk.alone(at.branch(branch), value, place);
        if judged.is_valid() {
            valid.push(judged);
        } else {
            best = Some(better(best, judged));
        }
    }
    let found = match valid.len() {
        0 if branches.is_empty() => return,
        0 => "Found none valid".to_owned(),
        1 => return valid.into_iter().for_each(|judged| walk.take(judged)),
        several => format!("Found {several} valid alternatives"),
    };
    let text = go::quoted(&place.text());
    walk.invalid_nowhere(format!("{text} must validate one and only one schema (oneOf). {found}"));
    if let Some(best) = best.filter(|_| valid.is_empty()) {
        walk.take(best);
    }
}

fn all_of(walk: &mut Walk<'_>, at: At<'_>, branches: &[Schema], value: &Document, place: &Place<'_>) {
    let mut valid = 0;
    for branch in branches {
        let judged = walk.alone(at.branch(branch), value, place);
        valid += usize::from(judged.is_valid());
        walk.take(judged);
    }
    if valid < branches.len() {
        let none = if valid == 0 { ". None validated" } else { "" };
        walk.invalid_nowhere(format!("{} must validate all the schemas (allOf){none}", go::quoted(&place.text())));
    }
}

/// The failed branch whose errors are reported: the one with the most checks, and the first of equal ones.
fn better<'m>(best: Option<Walk<'m>>, judged: Walk<'m>) -> Walk<'m> {
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
