//! Validation rules in CEL. They are compared as trees, and by what can be shown of them: rules that the old values meet break nothing.
use std::collections::BTreeSet;

use kindsmith::{
    kind::model::Version,
    schema::{Rule as CelRule, Schema},
};
use kindsmith_model::schema::rules::rule_problems;

use crate::{
    check::rule::{Change, Field, Notes, listed},
    logic::{Expression, Place, finding},
};

pub(super) fn added(field: &Field<'_>, notes: &mut Notes) {
    for rule in changes(field).added.into_iter().filter(|_| !field.is_status) {
        notes.here(format!("the rule {rule:?} is added"));
    }
}

pub(super) fn added_about_new(field: &Field<'_>, notes: &mut Notes) {
    for rule in changes(field).about_new {
        notes.here(format!("the rule {rule:?} is added, for a field that is new"));
    }
}

pub(super) fn implied(field: &Field<'_>, notes: &mut Notes) {
    let changes = changes(field);
    for (rules, what) in
        [(changes.implied, "added, which all values met"), (changes.follows, "removed, which all values still meet")]
    {
        for rule in rules {
            notes.here(format!("the rule {rule:?} is {what}"));
        }
    }
}

pub(super) fn changed(field: &Field<'_>, notes: &mut Notes) {
    differ(changes(field).changed, "", field.is_status, notes);
}

pub(super) fn made_stricter(field: &Field<'_>, notes: &mut Notes) {
    differ(changes(field).tightened, ", which is stricter", field.is_status, notes);
}

pub(super) fn made_looser(field: &Field<'_>, notes: &mut Notes) {
    differ(changes(field).loosened, ", which allows more", false, notes);
}

fn differ(all: Vec<(String, String)>, how: &str, is_left_out: bool, notes: &mut Notes) {
    for (old, new) in all.into_iter().filter(|_| !is_left_out) {
        notes.here(format!("the rule was {old:?}, is {new:?}{how}"));
    }
}

pub(super) fn removed(field: &Field<'_>, notes: &mut Notes) {
    for rule in changes(field).removed {
        notes.here(format!("the rule {rule:?} is removed"));
    }
}

pub(super) fn message_changed(field: &Field<'_>, notes: &mut Notes) {
    let (old, new) = (rules(&field.old), rules(&field.new));
    let reports = |rule: &Rule<'_>| CelRule { rule: String::new(), ..rule.stated.clone() };
    for new in new {
        let is_found = old.iter().any(|old| old.key == new.key && reports(old) != reports(&new));
        notes.when(is_found, format!("the rule {:?} reports otherwise", new.stated.rule));
    }
}

/// The rules that cost too much by the new bounds, and did not by the old ones. Definitions with such rules are not read at all.
pub(super) fn too_costly(change: &Change<&Version>, notes: &mut Notes) {
    let costly = |version: &Version| rule_problems(&version.schema).into_iter().filter(|problem| problem.is_costly);
    let known: BTreeSet<_> = costly(change.old).map(|problem| (problem.path, problem.rule)).collect();
    for problem in costly(change.new).filter(|problem| !known.contains(&(problem.path.clone(), problem.rule.clone()))) {
        let (path, message) = finding(&problem);
        notes.below(path, message);
    }
}

/// The rules for the status that are added, or other ones.
pub(super) fn tightened(field: &Field<'_>) -> Option<String> {
    let found = changes(field);
    let others = found.changed.into_iter().chain(found.tightened).map(|(_, new)| new);
    let rules: Vec<_> = found.added.into_iter().chain(others).collect();
    (!rules.is_empty()).then(|| format!("the rules {} are new", listed(rules)))
}

/// The rules by what became of them.
#[derive(Default)]
struct Changes {
    added: Vec<String>,
    /// Added, and met by all values without the new fields.
    about_new: Vec<String>,
    /// Added, and met by all values that were valid.
    implied: Vec<String>,
    removed: Vec<String>,
    /// Removed, and met by all values that are valid.
    follows: Vec<String>,
    /// Other ones, of which nothing can be shown.
    changed: Vec<(String, String)>,
    /// Other ones, which allow nothing that the old ones did not.
    tightened: Vec<(String, String)>,
    /// Other ones, which allow all that the old ones did.
    loosened: Vec<(String, String)>,
}

/// A rule.
struct Rule<'s> {
    stated: &'s CelRule,
    /// The same for rules that differ in layout, or in what they report.
    key: String,
    /// None for a rule with wrong syntax.
    expression: Option<Expression>,
}

impl Rule<'_> {
    fn text(&self) -> String {
        let text = self.stated.rule.trim();
        if self.is_optional() { format!("{text} (optionalOldSelf)") } else { text.to_owned() }
    }

    fn is_optional(&self) -> bool {
        self.stated.optional_old_self == Some(true)
    }

    /// True if all values of a place that meet other rules meet it.
    fn follows(&self, place: Place<'_>, from: &[Rule<'_>]) -> bool {
        let Some(expression) = &self.expression else { return false };
        let is_transition = expression.uses_old_self();
        let given = from.iter().filter_map(|rule| {
            let given = rule.expression.as_ref()?;
            // A transition rule does not apply to objects that are created.
            let applies = !given.uses_old_self() || is_transition && rule.is_optional() == self.is_optional();
            applies.then_some(given)
        });
        expression.outcomes(place, &given.collect::<Vec<_>>()).is_always_true()
    }
}

fn rules(schema: &Schema) -> Vec<Rule<'_>> {
    let rules = schema.rules.iter();
    let all = rules.map(|stated| {
        let expression = Expression::parse(&stated.rule);
        let key = expression.as_ref().map_or_else(|| stated.rule.trim().to_owned(), Expression::key);
        let is_optional = stated.optional_old_self == Some(true);
        Rule { stated, key: format!("{is_optional} {key}"), expression }
    });
    all.collect()
}

/// What became of the rules. One that is gone and one that is new are the same rule if they have the same message, or if there is no
/// other.
fn changes(field: &Field<'_>) -> Changes {
    let mut changes = Changes::default();
    if !field.has_same_type() || field.old.rules.is_empty() && field.new.rules.is_empty() {
        return changes;
    }
    let (old, new) = (rules(&field.old), rules(&field.new));
    let lacks = |rules: &[Rule<'_>], rule: &Rule<'_>| !rules.iter().any(|other| other.key == rule.key);
    let mut removed: Vec<_> = old.iter().filter(|rule| lacks(&new, rule)).collect();
    let added: Vec<_> = new.iter().filter(|rule| lacks(&old, rule)).collect();
    let is_one = removed.len() == 1 && added.len() == 1;
    let before = Place::before(field.old, field.new);
    for rule in added {
        let has_same_message =
            |old: &&Rule<'_>| !old.stated.message.is_empty() && old.stated.message == rule.stated.message;
        let pair = removed.iter().position(|old| is_one || has_same_message(old)).map(|index| removed.remove(index));
        let is_met = rule.follows(before, &old);
        let Some(pair) = pair else {
            let is_about_new = is_met && !rule.follows(Place::of(field.old), &old);
            let all = match (is_met, is_about_new) {
                (false, _) => &mut changes.added,
                (true, true) => &mut changes.about_new,
                (true, false) => &mut changes.implied,
            };
            all.push(rule.text());
            continue;
        };
        let all = match (is_met, pair.follows(Place::of(field.new), &new)) {
            (true, true) => continue,
            (true, false) => &mut changes.loosened,
            (false, true) => &mut changes.tightened,
            (false, false) => &mut changes.changed,
        };
        all.push((pair.text(), rule.text()));
    }
    for rule in removed {
        let follows = rule.follows(Place::of(field.new), &new);
        let all = if follows { &mut changes.follows } else { &mut changes.removed };
        all.push(rule.text());
    }
    changes
}
