//! `allOf`, `anyOf`, `oneOf` and `not`, and unions.
use kindsmith::schema::Schema;
use kindsmith_model::schema::At;

use crate::check::{
    node::has_field,
    rule::{Direction, Field, Notes, listed, only_in},
};

/// The members of a union that are new.
pub(super) fn union_member_added(field: &Field<'_>, notes: &mut Notes) {
    let [old, new] =
        [field.old, field.new].map(|node| node.properties().map(|(name, _)| name.clone()).collect::<Vec<_>>());
    if field.old.union && field.new.union {
        notes.names("with the members", &only_in(&new, &old));
    }
}

/// The keywords that allow less, or more.
pub(super) fn changed(field: &Field<'_>, direction: Direction) -> Option<String> {
    let tightens = direction == Direction::Tighter;
    if !field.has_same_type() || field.old.junctors == field.new.junctors || is_same(field) {
        return None;
    }
    let [old, new] = [field.old, field.new].map(|node| node.junctors.as_deref().cloned().unwrap_or_default());
    if let Some(relation) = by_presence(field) {
        return relation.filter(|(is_tighter, _)| *is_tighter == tightens).map(|(_, what)| what);
    }
    let not = |of: &Option<Schema>| of.iter().cloned().collect::<Vec<_>>();
    let turns = [
        ("allOf", all(&old.all_of, &new.all_of)),
        ("anyOf", some(&old.any_of, &new.any_of)),
        ("oneOf", some(&old.one_of, &new.one_of)),
        ("not", all(&not(&old.not), &not(&new.not))),
    ];
    let found: Vec<&str> =
        turns.into_iter().filter(|(_, turn)| *turn == Some(tightens)).map(|(name, _)| name).collect();
    let what = if tightens { "allows less, or something else" } else { "allows more" };
    (!found.is_empty()).then(|| format!("{} {what}", found.join(", ")))
}

/// Both sides have the same rules. A union and a `oneOf` that requires each member alone say the same.
pub(super) fn is_same(field: &Field<'_>) -> bool {
    let [old, new] = [field.old, field.new].map(|node| {
        let mut said = node.junctors.as_deref().cloned().unwrap_or_default();
        if node.union {
            let member =
                |(name, _): (&String, At<'_>)| Schema::default().with(|branch| branch.required.push(name.clone()));
            let members = node.properties().map(member).collect();
            if said.one_of.is_empty() {
                said.one_of = members;
            } else {
                let mut union = said.clone();
                (union.all_of, union.any_of, union.one_of, union.not) = (Vec::new(), Vec::new(), members, None);
                said.all_of.push(Schema::default().with(|rule| rule.junctors = Some(union.into())));
            }
        }
        said
    });
    let is_equal = |old: &[Schema], new: &[Schema]| only_in(old, new).is_empty() && only_in(new, old).is_empty();
    is_equal(&old.all_of, &new.all_of)
        && is_equal(&old.any_of, &new.any_of)
        && is_equal(&old.one_of, &new.one_of)
        && old.one_of.len() == new.one_of.len()
        && old.not == new.not
}

/// True if rules that all have to be met got tighter; `None` if they are the same.
fn all(old: &[Schema], new: &[Schema]) -> Option<bool> {
    match (only_in(old, new).is_empty(), only_in(new, old).is_empty()) {
        (true, true) => None,
        (_, is_subset) => Some(!is_subset),
    }
}

/// True if rules one of which has to be met got tighter; `None` if they are the same. Without any, everything is allowed.
fn some(old: &[Schema], new: &[Schema]) -> Option<bool> {
    match (only_in(old, new).is_empty(), only_in(new, old).is_empty()) {
        (true, true) => None,
        _ if old.is_empty() => Some(true),
        _ if new.is_empty() => Some(false),
        (is_superset, _) => Some(!is_superset),
    }
}

/// Compares rules that only say which fields are there, by trying all choices of these: true if one is refused that was allowed,
/// false if one is allowed that was refused, and the choice. The outer `None` if rules say something else, too.
#[expect(clippy::option_option, reason = "rules that are not understood differ from rules that allow the same")]
fn by_presence(field: &Field<'_>) -> Option<Option<(bool, String)>> {
    let (old, new): (&Schema, &Schema) = (&field.old, &field.new);
    let mut names: Vec<&str> = Vec::new();
    for branch in rules(old).chain(rules(new)) {
        name(branch, &mut names)?;
    }
    names.sort_unstable();
    names.dedup();
    if names.len() > MOST_NAMES {
        return None;
    }
    let mut wider = None;
    for choice in 0..1_u32 << names.len() {
        let bits = names.iter().enumerate();
        let chosen: Vec<&str> = bits.filter(|(bit, _)| choice & (1 << bit) != 0).map(|(_, name)| *name).collect();
        let known: Vec<&str> = chosen.iter().copied().filter(|name| has_field(field.old, name)).collect();
        match (meets(old, &known), meets(new, &chosen)) {
            // Values with a new field are new.
            (true, false) if known == chosen => {
                let refused = if chosen.is_empty() {
                    "without any of its fields".to_owned()
                } else {
                    format!("with {}", listed(chosen))
                };
                return Some(Some((true, format!("refuses values {refused}"))));
            }
            (false, true) if wider.is_none() => {
                let allowed = if chosen.is_empty() {
                    "without any of its fields".to_owned()
                } else {
                    format!("with {}", listed(chosen))
                };
                wider = Some((false, format!("allows values {allowed}")));
            }
            _ => {}
        }
    }
    Some(wider)
}

/// How many fields rules may name: each choice of them is tried.
const MOST_NAMES: usize = 12;

/// The schemas in the rules of a schema.
fn rules(schema: &Schema) -> impl Iterator<Item = &Schema> {
    let all = schema.junctors.as_deref().into_iter();
    all.flat_map(|all| all.all_of.iter().chain(&all.any_of).chain(&all.one_of).chain(&all.not))
}

/// Collects the fields that a rule requires; `None` if it has other keywords.
fn name<'s>(rule: &'s Schema, names: &mut Vec<&'s str>) -> Option<()> {
    let others = rule.clone().with(|rule| {
        rule.required.clear();
        rule.junctors = None;
    });
    if others != Schema::default() {
        return None;
    }
    names.extend(rule.required.iter().map(String::as_str));
    rules(rule).try_for_each(|below| name(below, names))
}

/// True if a value with these fields meets the rules in a schema.
fn meets(schema: &Schema, chosen: &[&str]) -> bool {
    let is_met = |rule: &Schema| rule.required.iter().all(|name| chosen.contains(&&**name)) && meets(rule, chosen);
    schema.junctors.as_deref().is_none_or(|all| {
        all.all_of.iter().all(is_met)
            && (all.any_of.is_empty() || all.any_of.iter().any(is_met))
            && (all.one_of.is_empty() || all.one_of.iter().filter(|rule| is_met(rule)).count() == 1)
            && !all.not.as_ref().is_some_and(is_met)
    })
}
