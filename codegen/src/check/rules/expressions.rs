//! Rules about validation rules in CEL.
use kindsmith::schema::Document;

use crate::check::rule::{
    Check, Field,
    Level::{Breaking, Warning},
    Party::{Appliers, Json, Stored, Watchers},
    Rule, source,
};

pub(super) static RULES: [Rule; 5] = [
    Rule {
        name: "expression-added",
        level: Breaking,
        breaks: &[Json, Stored, Appliers],
        about: "Values have to meet a further rule in CEL.",
        harm: "requests that do not meet it are refused, and stored objects that do not cannot be written",
        instead: "Warn in admission (a ValidatingAdmissionPolicy with the action Warn).",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| {
            for rule in rules(field).added.into_iter().filter(|_| !field.is_status) {
                notes.here(format!("the rule {rule:?} is added"));
            }
        }),
    },
    Rule::compatible(
        "expression-about-new-field",
        "A rule in CEL is added that values without a new field meet.",
        Check::Field(|field, notes| {
            for rule in rules(field).about_new {
                notes.here(format!("the rule {rule:?} is added, for a field that is new"));
            }
        }),
    ),
    Rule {
        name: "expression-changed",
        level: Breaking,
        breaks: &[Json, Stored, Appliers],
        about: "A rule in CEL is another one, which may refuse what the old one allowed.",
        harm: "requests that only the old rule allows are refused, and stored objects like them cannot be written",
        instead: "If the new rule allows all that the old one does, accept the change with this reason.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| {
            for (old, new) in rules(field).changed.into_iter().filter(|_| !field.is_status) {
                notes.here(format!("the rule was {old:?}, is {new:?}"));
            }
        }),
    },
    Rule {
        name: "expression-removed",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "Values need no longer meet a rule in CEL.",
        harm: "readers that rely on it may meet other values",
        instead: "Check that all readers handle them.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| {
            for rule in rules(field).removed {
                notes.here(format!("the rule {rule:?} is removed"));
            }
        }),
    },
    Rule::compatible(
        "expression-message-changed",
        "The message, the reason or the path of a rule in CEL is another one.",
        Check::Field(|field, notes| {
            let (old, new) = (said(&field.old), said(&field.new));
            for new in new {
                if old.iter().any(|old| old["rule"] == new["rule"] && *old != new) {
                    notes.here(format!("the rule {} reports otherwise", new["rule"]));
                }
            }
        }),
    ),
];

#[derive(Default)]
struct Rules {
    added: Vec<String>,
    /// Added, and met by all values without the new fields.
    about_new: Vec<String>,
    removed: Vec<String>,
    changed: Vec<(String, String)>,
}

fn said(schema: &kindsmith::schema::Schema) -> Vec<Document> {
    schema.unenforced.as_ref().map(|unenforced| unenforced.rules.clone()).unwrap_or_default()
}

/// The rules by what became of them. One that is gone and one that is new are the same rule if they have the same message, or if
/// there is no other.
fn rules(field: &Field<'_>) -> Rules {
    if field.old.kind != field.new.kind {
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
    (!rules.is_empty()).then(|| format!("the rules {} are new", super::listed(rules)))
}

/// True if the form of a rule shows that all values without one of the new fields meet it: `!has(self.new) || …`,
/// `has(self.new) ? … : true`, or `!(… && has(self.new))`.
fn is_about_new(rule: &str, field: &Field<'_>) -> bool {
    let rule: String = rule.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut added = field.new.fields().keys().filter(|name| !field.old.fields().contains_key(name));
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
