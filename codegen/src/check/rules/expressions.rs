//! Validation rules in CEL.
use kindsmith::schema::{Document, Schema};
use serde_json::json;

use crate::check::{
    node::has_field,
    rule::{Field, Notes, listed},
};

pub(super) fn added(field: &Field<'_>, notes: &mut Notes) {
    for rule in rules(field).added.into_iter().filter(|_| !field.is_status) {
        notes.here(format!("the rule {rule:?} is added"));
    }
}

pub(super) fn added_about_new(field: &Field<'_>, notes: &mut Notes) {
    for rule in rules(field).about_new {
        notes.here(format!("the rule {rule:?} is added, for a field that is new"));
    }
}

pub(super) fn changed(field: &Field<'_>, notes: &mut Notes) {
    for (old, new) in rules(field).changed.into_iter().filter(|_| !field.is_status) {
        notes.here(format!("the rule was {old:?}, is {new:?}"));
    }
}

pub(super) fn removed(field: &Field<'_>, notes: &mut Notes) {
    for rule in rules(field).removed {
        notes.here(format!("the rule {rule:?} is removed"));
    }
}

pub(super) fn message_changed(field: &Field<'_>, notes: &mut Notes) {
    let (old, new) = (said(&field.old), said(&field.new));
    for new in new {
        let is_found = old.iter().any(|old| old["rule"] == new["rule"] && *old != new);
        notes.when(is_found, format!("the rule {} reports otherwise", new["rule"]));
    }
}

#[derive(Default)]
struct Rules {
    added: Vec<String>,
    /// Added, and met by all values without the new fields.
    about_new: Vec<String>,
    removed: Vec<String>,
    changed: Vec<(String, String)>,
}

fn said(schema: &Schema) -> Vec<Document> {
    schema.rules.iter().map(|rule| json!(rule)).collect()
}

/// The rules by what became of them. One that is gone and one that is new are the same rule if they have the same message, or if
/// there is no other.
fn rules(field: &Field<'_>) -> Rules {
    if !field.has_same_type() {
        return Rules::default();
    }
    let (old, new) = (said(&field.old), said(&field.new));
    let text = |rule: &Document| rule["rule"].as_str().unwrap_or_default().trim().to_owned();
    let [old_texts, new_texts] = [&old, &new].map(|rules| rules.iter().map(text).collect::<Vec<_>>());
    let mut removed: Vec<&Document> = old.iter().filter(|rule| !new_texts.contains(&text(rule))).collect();
    let mut added: Vec<&Document> = new.iter().filter(|rule| !old_texts.contains(&text(rule))).collect();
    let mut found = Rules::default();
    let is_one = removed.len() == 1 && added.len() == 1;
    added.retain(|new| {
        let same = |old: &&Document| is_one || !old["message"].is_null() && old["message"] == new["message"];
        let Some(place) = removed.iter().position(same) else { return true };
        found.changed.push((text(removed.remove(place)), text(new)));
        false
    });
    let added = added.into_iter().map(text);
    (found.about_new, found.added) = added.partition(|rule| is_about_new(rule, field));
    found.removed = removed.into_iter().map(text).collect();
    found
}

/// The rules for the status that are added, or other ones.
pub(super) fn tightened(field: &Field<'_>) -> Option<String> {
    let found = rules(field);
    let rules: Vec<_> = found.added.into_iter().chain(found.changed.into_iter().map(|(_, new)| new)).collect();
    (!rules.is_empty()).then(|| format!("the rules {} are new", listed(rules)))
}

/// True if the form of a rule shows that all values without one of the new fields meet it: `!has(self.new) || …`,
/// `has(self.new) ? … : true`, or `!(… && has(self.new))`.
fn is_about_new(rule: &str, field: &Field<'_>) -> bool {
    let rule: String = rule.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut added = field.new.properties().map(|(name, _)| name).filter(|name| !has_field(field.old, name));
    added.any(|name| {
        let has = format!("has(self.{name})");
        if let Some(rest) = rule.strip_prefix(&format!("!{has}")) {
            return rest.is_empty() || rest.trim_start().starts_with("||") && !rest.contains('?');
        }
        if let Some(rest) = rule.strip_prefix(&has) {
            let is_choice = rest.trim_start().starts_with('?') && rest.matches('?').count() == 1;
            return is_choice && rest.trim_end().ends_with(": true");
        }
        // A conjunction, which is false without the field, is negated.
        let all = rule.strip_prefix("!(").and_then(|rest| rest.strip_suffix(')'));
        all.is_some_and(|all| {
            let others = all.split("has(self.").map(|part| part.split_once(')').map_or(part, |(_, rest)| rest));
            let is_plain = !others.collect::<String>().contains(['|', '?', '(', ')']);
            is_plain && all.split("&&").any(|part| part.trim() == has)
        })
    })
}
