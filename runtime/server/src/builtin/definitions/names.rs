//! Which names a definition may use, and the conditions that say so, in kube-apiserver's words.
use std::collections::HashSet;

use serde_json::{Value, json};

use crate::{meta::Time, schema::Document};

/// The names in use in a group, by other definitions and by kinds that the program declares.
#[derive(Default)]
pub(super) struct NamesInUse {
    /// Plurals, singulars and short names.
    pub resources: HashSet<String>,
    /// Kinds and kinds of lists.
    pub kinds: HashSet<String>,
}

impl NamesInUse {
    /// Adds the names that a definition has, as its `spec.names` or `status.acceptedNames` give them.
    pub(super) fn add(&mut self, names: &Document) {
        let short = names["shortNames"].as_array().into_iter().flatten();
        let resources = [&names["plural"], &names["singular"]].into_iter().chain(short);
        self.resources.extend(resources.filter_map(Value::as_str).map(str::to_owned));
        self.kinds
            .extend([&names["kind"], &names["listKind"]].into_iter().filter_map(Value::as_str).map(str::to_owned));
    }
}

/// The status of a definition whose names were compared with those in use by others.
pub(super) fn status_with_names(definition: &Document, names_in_use: &NamesInUse) -> Document {
    let (asked, mut status) = (&definition["spec"]["names"], definition["status"].clone());
    let mut accepted = status["acceptedNames"].clone();
    let mut conflict: Option<(&str, String)> = None;
    let refused = |name: &str| format!("{name:?} is already in use");
    for (field, reason, taken) in [
        ("plural", "PluralConflict", &names_in_use.resources),
        ("singular", "SingularConflict", &names_in_use.resources),
        ("shortNames", "ShortNamesConflict", &names_in_use.resources),
        ("kind", "KindConflict", &names_in_use.kinds),
        ("listKind", "ListKindConflict", &names_in_use.kinds),
    ] {
        let names = match &asked[field] {
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            Value::String(name) => vec![&**name],
            _ => Vec::new(),
        };
        let clashes: Vec<String> = names.into_iter().filter(|name| taken.contains(*name)).map(refused).collect();
        match &clashes[..] {
            [] => set(&mut accepted, field, asked[field].clone()),
            [one] => conflict = Some((reason, one.clone())),
            several => conflict = Some((reason, format!("[{}]", several.join(", ")))),
        }
    }
    set(&mut accepted, "categories", asked["categories"].clone());
    set(&mut status, "acceptedNames", accepted);
    let is_free = conflict.is_none();
    let (reason, message) = conflict.unwrap_or(("NoConflicts", "no conflicts found".to_owned()));
    put_condition(&mut status, "NamesAccepted", is_free, reason, &message);
    if !is_free && !is_true(&status, "Established") {
        put_condition(&mut status, "Established", false, "NotAccepted", "not all names are accepted");
    }
    status
}

/// True if a status has a condition that is true.
pub(super) fn is_true(status: &Document, kind: &str) -> bool {
    let mut conditions = status["conditions"].as_array().into_iter().flatten();
    conditions.any(|condition| condition["type"] == kind && condition["status"] == "True")
}

/// Sets a condition. Its time changes with its status.
pub(super) fn put_condition(status: &mut Document, kind: &str, is_true: bool, reason: &str, message: &str) {
    let holds = if is_true { "True" } else { "False" };
    if !status.is_object() {
        *status = json!({});
    }
    if !status["conditions"].is_array() {
        status["conditions"] = json!([]);
    }
    let Some(conditions) = status["conditions"].as_array_mut() else { return };
    let at = conditions.iter().position(|condition| condition["type"] == kind);
    let since = at.map(|at| &conditions[at]).filter(|before| before["status"] == holds);
    let since = since.map_or_else(|| json!(Time::now()), |before| before["lastTransitionTime"].clone());
    let condition =
        json!({"type": kind, "status": holds, "lastTransitionTime": since, "reason": reason, "message": message});
    match at {
        Some(at) => conditions[at] = condition,
        None => conditions.push(condition),
    }
}

/// Sets a field, or removes it where it is null.
fn set(object: &mut Document, field: &str, value: Document) {
    if !object.is_object() {
        *object = json!({});
    }
    if let Some(fields) = object.as_object_mut() {
        match value {
            Value::Null => drop(fields.remove(field)),
            value => drop(fields.insert(field.to_owned(), value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bolts(names: &Document, status: &Document) -> Document {
        json!({"spec": {"group": "g.io", "names": names}, "status": status})
    }

    fn condition<'s>(status: &'s Document, kind: &str) -> [&'s str; 3] {
        let mut all = status["conditions"].as_array().unwrap().iter();
        let found = all.find(|condition| condition["type"] == kind).unwrap();
        ["status", "reason", "message"].map(|field| found[field].as_str().unwrap())
    }

    #[test]
    fn names_that_are_free_are_accepted_and_others_stay_as_they_were() {
        let names = json!({"plural": "bolts", "singular": "bolt", "shortNames": ["b", "bo"], "kind": "Bolt", "listKind": "BoltList"});
        let first = status_with_names(&bolts(&names, &Value::Null), &NamesInUse::default());
        assert_eq!(first["acceptedNames"], names);
        assert_eq!(condition(&first, "NamesAccepted"), ["True", "NoConflicts", "no conflicts found"]);
        assert_eq!(first["conditions"].as_array().map(Vec::len), Some(1), "it is not served yet");

        let mut first = first;
        put_condition(&mut first, "Established", true, "InitialNamesAccepted", "");
        let mut names_in_use = NamesInUse::default();
        names_in_use.add(&json!({"plural": "nuts", "shortNames": ["n", "u"], "kind": "Nut"}));
        let mut changed = names.clone();
        changed["shortNames"] = json!(["n", "b", "u"]);
        changed["kind"] = json!("Bolts");
        let status = status_with_names(&bolts(&changed, &first), &names_in_use);
        let both = r#"["n" is already in use, "u" is already in use]"#;
        assert_eq!(condition(&status, "NamesAccepted"), ["False", "ShortNamesConflict", both]);
        assert!(is_true(&status, "Established"), "it is served under the names that it had");
        assert_eq!(
            (&status["acceptedNames"]["shortNames"], &status["acceptedNames"]["kind"]),
            (&names["shortNames"], &json!("Bolts"))
        );

        let fresh = status_with_names(&bolts(&json!({"plural": "u", "kind": "Nut"}), &Value::Null), &names_in_use);
        assert_eq!(condition(&fresh, "NamesAccepted"), ["False", "KindConflict", r#""Nut" is already in use"#]);
        assert_eq!(condition(&fresh, "Established"), ["False", "NotAccepted", "not all names are accepted"]);
    }
}
