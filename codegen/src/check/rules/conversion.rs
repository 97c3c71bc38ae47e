//! Rules about conversion between versions: what a version has and another does not.
use kindsmith::{
    kind::{
        Definition,
        crd::{Conversion, Webhook},
    },
    schema::Schema,
};

use kindsmith_model::schema::At;

use super::versions::version;
use crate::check::{
    node,
    rule::{
        Check, Kind, Notes,
        Party::{Appliers, Json, Stored, Watchers},
        Rule, only_in, source,
    },
};

pub(super) static RULES: [Rule; 8] = [
    Check::Kind(|kind, notes| {
        if let (Conversion::None, Conversion::Webhook(_)) = (&kind.old.conversion, &kind.new.conversion) {
            notes.here("a webhook converts between the versions");
        }
    })
    .warning("conversion-added", &[Json, Stored], source::CUSTOM)
    .about("A webhook converts between versions that had the same fields before.")
    .harm("what is stored is now read by way of the webhook: without an answer, reads and writes fail")
    .instead("Test the webhook with the stored objects of all versions before it is used."),
    Check::Kind(|kind, notes| {
        let is_removed =
            matches!((&kind.old.conversion, &kind.new.conversion), (Conversion::Webhook(_), Conversion::None));
        if is_removed && kind.new.versions.len() > 1 {
            notes.here("no webhook converts between the versions any more");
        }
    })
    .breaking("conversion-removed", &[Json, Stored], source::CUSTOM)
    .about("No webhook converts any more between several versions.")
    .harm("fields that the other version does not have are dropped, and no value is translated")
    .instead("Keep the webhook until one version is left and all objects are stored in it."),
    Check::Kind(|kind, notes| {
        if let Some((old, new)) = webhooks(kind)
            && (&old.url, &old.service) != (&new.url, &new.service)
        {
            notes.here("the webhook for conversion is another one");
        }
    })
    .warning("conversion-webhook-changed", &[Json, Stored], source::CUSTOM)
    .about("Another webhook converts between the versions.")
    .harm("if it is not there when the definition is applied, reads and writes fail")
    .instead("Start the new webhook before the definition is applied."),
    Check::Kind(|kind, notes| {
        if let Some((old, new)) = webhooks(kind) {
            notes.names("no longer reviews in the versions", &only_in(&old.review_versions, &new.review_versions));
        }
    })
    .warning("conversion-review-removed", &[Stored], source::CUSTOM)
    .about("A version of ConversionReview is no longer sent to the webhook.")
    .harm("a webhook that knows only this version cannot answer")
    .instead("Check that the webhook knows one of the versions that are left."),
    Check::Kind(|kind, notes| {
        between(kind, notes, |served, stored| missing(served, stored, "which is stored, does not"));
    })
    .breaking("version-loses-field", &[Json, Stored, Appliers], source::VERSIONS)
    .about("A version has a field that the storage version does not have, and no webhook converts.")
    .harm("its values are dropped when an object is stored")
    .instead("Add the field to the storage version, too, or convert by a webhook."),
    Check::Kind(|kind, notes| {
        between(kind, notes, |served, stored| missing(stored, served, "which is served, does not"));
    })
    .warning("version-hides-field", &[Json, Stored], source::VERSIONS)
    .about("The storage version has a field that another version does not have, and no webhook converts.")
    .harm("a client of that version does not see the field, and drops its value when it replaces an object")
    .instead("Add the field to all versions, or convert by a webhook."),
    Check::Kind(|kind, notes| {
        between(kind, notes, |served, stored| {
            common(served, stored, |served, stored| {
                let differs = served.kind != stored.kind;
                differs.then(|| format!("{:?} here, {:?} in the storage version", served.kind, stored.kind))
            })
        });
    })
    .breaking("version-type-differs", &[Json, Stored, Watchers], source::VERSIONS)
    .about("A field has different types in two versions, and no webhook converts.")
    .harm("a version shows values of the type of the other, which its clients do not decode")
    .instead("Give the field another name in one of the versions, or convert by a webhook."),
    Check::Kind(|kind, notes| {
        between(kind, notes, |served, stored| {
            common(served, stored, |served, stored| {
                let shown = |node: At<'_>| node.default.as_ref().map_or("absent".to_owned(), ToString::to_string);
                let differs = served.default != stored.default;
                differs
                    .then(|| format!("the default is {}, and {} in the storage version", shown(served), shown(stored)))
            })
        });
    })
    .warning("version-default-differs", &[Json, Watchers], source::GOTCHAS)
    .about("A field has a default in one version, and another or none in another version.")
    .harm("an object means something else, depending on the version that it was written in")
    .instead("Give the field the same default in all versions."),
];

fn webhooks<'k>(kind: &Kind<'k>) -> Option<(&'k Webhook, &'k Webhook)> {
    match (&kind.old.conversion, &kind.new.conversion) {
        (Conversion::Webhook(old), Conversion::Webhook(new)) => Some((old, new)),
        _ => None,
    }
}

/// Differences between a version and the storage version: paths and descriptions.
type Differences = Vec<(String, String)>;

/// Compares each version that is served with the storage version, and notes what was not so before.
fn between(kind: &Kind<'_>, notes: &mut Notes, find: impl Fn(At<'_>, At<'_>) -> Differences) {
    if !kind.is_stated {
        return;
    }
    for served in kind.new.versions.iter().filter(|version| version.served) {
        let differences = in_definition(kind.new, &served.name, &find);
        let before = in_definition(kind.old, &served.name, &find);
        for (path, what) in differences.into_iter().filter(|(path, _)| !before.iter().any(|(other, _)| other == path)) {
            notes.field(&served.name, path, what);
        }
    }
}

fn in_definition(definition: &Definition, served: &str, find: impl Fn(At<'_>, At<'_>) -> Differences) -> Differences {
    let stored = &definition.storage_version;
    if definition.conversion != Conversion::None || served == stored {
        return Differences::new();
    }
    let (Some(served), Some(stored)) = (version(definition, served), version(definition, stored)) else {
        return Differences::new();
    };
    find(At::of(&served.schema), At::of(&stored.schema))
}

/// The fields that one has and the other has not.
fn missing(having: At<'_>, lacking: At<'_>, how: &str) -> Differences {
    let mut differences = Differences::new();
    pairs(having, lacking, &mut Vec::new(), "", &mut |having, lacking, path| {
        for (name, _) in having.properties() {
            if lacking.property(name).is_none() && node::values(lacking).is_none() && !node::is_open(lacking) {
                differences
                    .push((format!("{path}{}", node::step(name)), format!("one version has it, and the other, {how}")));
            }
        }
    });
    differences
}

/// The differences of fields that both have.
fn common(one: At<'_>, other: At<'_>, differ: impl Fn(At<'_>, At<'_>) -> Option<String>) -> Differences {
    let mut differences = Differences::new();
    pairs(one, other, &mut Vec::new(), "", &mut |one, other, path| {
        differences.extend(differ(one, other).map(|what| (path.to_owned(), what)));
    });
    differences
}

/// Walks the locations that both have.
fn pairs(
    one: At<'_>,
    other: At<'_>,
    passed: &mut Vec<(*const Schema, *const Schema)>,
    path: &str,
    each: &mut impl FnMut(At<'_>, At<'_>, &str),
) {
    let pair = (node::identity(one), node::identity(other));
    if one == other || passed.contains(&pair) {
        return;
    }
    each(one, other, path);
    if one.kind != other.kind {
        return;
    }
    passed.push(pair);
    for (step, one, other) in node::common(one, other) {
        pairs(one, other, passed, &format!("{path}{step}"), each);
    }
    passed.pop();
}
