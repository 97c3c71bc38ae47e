//! Rules about what can be requested: verbs and subresources.
use kindsmith::kind::{Verb, model::Version};
use kindsmith_model::kind::endpoint::{Answer, Body};

use super::{listed, only_in};
use crate::check::rule::{
    Change, Check,
    Level::{Breaking, Warning},
    Notes,
    Party::{Appliers, Json, Kubectl, Stored, Watchers},
    Rule, source,
};

pub(super) static RULES: [Rule; 20] = [
    Rule {
        name: "status-subresource-removed",
        level: Breaking,
        breaks: &[Json, Watchers],
        about: "The status subresource is removed.",
        harm: "controllers that write /status get 404, and every writer of the object can change its status",
        instead: "Keep the subresource.",
        source: source::SPEC_AND_STATUS,
        check: Check::Version(|change, notes| {
            if change.old.status && !change.new.status {
                notes.here("without the status subresource");
            }
        }),
    },
    Rule {
        name: "status-subresource-added",
        level: Breaking,
        breaks: &[Json, Watchers],
        about: "The status subresource is added.",
        harm: "a status in writes of the object is ignored without an error, so controllers have to write /status",
        instead: "Add it with a new version, or change all controllers to write /status before.",
        source: source::SPEC_AND_STATUS,
        check: Check::Version(|change, notes| {
            if !change.old.status && change.new.status {
                notes.here("with a status subresource");
            }
        }),
    },
    Rule {
        name: "generation-stopped",
        level: Breaking,
        breaks: &[Watchers],
        about: "metadata.generation no longer counts changes.",
        harm: "controllers that compare it with observedGeneration do not notice a change",
        instead: "Keep counting.",
        source: source::METADATA,
        check: Check::Version(|change, notes| {
            if change.old.generation && !change.new.generation {
                notes.here("metadata.generation no longer counts changes");
            }
        }),
    },
    Rule::compatible(
        "generation-started",
        "metadata.generation counts changes.",
        Check::Version(|change, notes| {
            if !change.old.generation && change.new.generation {
                notes.here("metadata.generation counts changes");
            }
        }),
    ),
    Rule {
        name: "scale-removed",
        level: Breaking,
        breaks: &[Json, Kubectl],
        about: "The scale subresource is removed.",
        harm: "autoscalers and kubectl scale get 404",
        instead: "Keep the subresource.",
        source: source::URIS,
        check: Check::Version(|change, notes| {
            if change.old.scale.is_some() && change.new.scale.is_none() {
                notes.here("without the scale subresource");
            }
        }),
    },
    Rule::compatible(
        "scale-added",
        "The scale subresource is added.",
        Check::Version(|change, notes| {
            if change.old.scale.is_none() && change.new.scale.is_some() {
                notes.here("with a scale subresource");
            }
        }),
    ),
    Rule {
        name: "scale-path-changed",
        level: Breaking,
        breaks: &[Json, Stored, Appliers],
        about: "The scale subresource shows another field.",
        harm: "stored objects have no value there, so autoscalers read 0 replicas, and own another field than before",
        instead: "Keep the path.",
        source: source::URIS,
        check: Check::Version(|change, notes| {
            if let (Some(old), Some(new)) = (&change.old.scale, &change.new.scale) {
                for (name, old, new) in
                    [("replicas", &old.replicas, &new.replicas), ("status", &old.status_replicas, &new.status_replicas)]
                {
                    if old != new {
                        notes.here(format!("the path of the scale's {name} was .{old}, is .{new}"));
                    }
                }
            }
        }),
    },
    Rule {
        name: "scale-selector-removed",
        level: Breaking,
        breaks: &[Json],
        about: "The scale subresource has no label selector any more, or that of another field.",
        harm: "horizontal autoscalers find no pods, and scale no further",
        instead: "Keep the path of the selector.",
        source: source::URIS,
        check: Check::Version(|change, notes| {
            let [old, new] = [change.old, change.new].map(|of| of.scale.as_ref().map(|scale| &scale.selector));
            if let (Some(Some(old)), Some(new)) = (old, new)
                && new.as_ref() != Some(old)
            {
                let new = new.as_ref().map_or_else(|| "absent".to_owned(), |new| format!(".{new}"));
                notes.here(format!("the path of the scale's selector was .{old}, is {new}"));
            }
        }),
    },
    Rule {
        name: "subresource-removed",
        level: Breaking,
        breaks: &[Json, Kubectl],
        about: "A subresource is removed.",
        harm: "its requests are answered with 404",
        instead: "Keep the subresource until the version is removed.",
        source: source::DEPRECATION,
        check: Check::Version(|change, notes| {
            let gone = subresources(change.old).filter(|name| !subresources(change.new).any(|other| other == *name));
            gone.for_each(|name| notes.below(format!("/{name}"), "removed"));
        }),
    },
    Rule::compatible(
        "subresource-added",
        "A subresource is added.",
        Check::Version(|change, notes| {
            let new = subresources(change.new).filter(|name| !subresources(change.old).any(|other| other == *name));
            new.for_each(|name| notes.below(format!("/{name}"), "added"));
        }),
    ),
    Rule {
        name: "subresource-verb-removed",
        level: Breaking,
        breaks: &[Json],
        about: "A verb of a subresource is removed.",
        harm: "its requests are answered with 405",
        instead: "Keep the verb until the version is removed.",
        source: source::VERBS,
        check: Check::Version(|change, notes| subresource_verbs(change, true, notes)),
    },
    Rule::compatible(
        "subresource-verb-added",
        "A verb of a subresource is added.",
        Check::Version(|change, notes| subresource_verbs(change, false, notes)),
    ),
    Rule {
        name: "subresource-kind-changed",
        level: Breaking,
        breaks: &[Json],
        about: "A subresource takes or answers documents of another kind.",
        harm: "clients send documents that are refused, or do not decode the answers",
        instead: "Add another subresource.",
        source: source::KINDS,
        check: Check::Version(subresource_kinds),
    },
    Rule {
        name: "verb-removed",
        level: Breaking,
        breaks: &[Json, Watchers],
        about: "A verb on objects is removed.",
        harm: "its requests are answered with 405",
        instead: "Keep the verb until the version is removed.",
        source: source::VERBS,
        check: Check::Version(|change, notes| {
            let gone = only_in(&verbs(change.old), &verbs(change.new))
                .into_iter()
                .map(|verb| verb.as_str())
                .collect::<Vec<_>>();
            if !gone.is_empty() {
                notes.here(format!("without the verbs {}", listed(gone)));
            }
        }),
    },
    Rule::compatible(
        "verb-added",
        "A verb on objects is added.",
        Check::Version(|change, notes| {
            let new = only_in(&verbs(change.new), &verbs(change.old))
                .into_iter()
                .map(|verb| verb.as_str())
                .collect::<Vec<_>>();
            if !new.is_empty() {
                notes.here(format!("with the verbs {}", listed(new)));
            }
        }),
    ),
    Rule {
        name: "unconditional-update-refused",
        level: Breaking,
        breaks: &[Json],
        about: "An update must have metadata.resourceVersion.",
        harm: "clients that replace objects without it are refused",
        instead: "Keep allowing it in this version.",
        source: source::CONCURRENCY,
        check: Check::Version(|change, notes| {
            if change.old.update_without_version && !change.new.update_without_version {
                notes.here("updates must have a resourceVersion");
            }
        }),
    },
    Rule {
        name: "unconditional-update-allowed",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "An update may leave out metadata.resourceVersion.",
        harm: "a client that forgets it overwrites the changes of others, where it got an error before",
        instead: "Keep it required, if clients read and write.",
        source: source::CONCURRENCY,
        check: Check::Version(|change, notes| {
            if !change.old.update_without_version && change.new.update_without_version {
                notes.here("updates may leave out the resourceVersion");
            }
        }),
    },
    Rule {
        name: "create-on-update-removed",
        level: Breaking,
        breaks: &[Json],
        about: "PUT no longer creates an object that is not there.",
        harm: "clients that create objects with PUT get 404",
        instead: "Keep allowing it in this version.",
        source: source::VERBS,
        check: Check::Version(|change, notes| {
            if change.old.create_on_update && !change.new.create_on_update {
                notes.here("PUT no longer creates objects");
            }
        }),
    },
    Rule::compatible(
        "create-on-update-added",
        "PUT creates an object that is not there.",
        Check::Version(|change, notes| {
            if !change.old.create_on_update && change.new.create_on_update {
                notes.here("PUT creates objects");
            }
        }),
    ),
    Rule {
        name: "deletion-answer-changed",
        level: Warning,
        breaks: &[Json],
        about: "A deletion answers with the deleted object instead of a Status, or the other way round.",
        harm: "clients that read the answer take one for the other",
        instead: "Keep the answer in this version.",
        source: source::VERBS,
        check: Check::Version(|change, notes| match (change.old.returns_deleted, change.new.returns_deleted) {
            (false, true) => notes.here("deletions answer with the deleted object"),
            (true, false) => notes.here("deletions answer with a Status"),
            _ => {}
        }),
    },
];

fn verbs(version: &Version) -> Vec<Verb> {
    version.verbs.clone().unwrap_or_else(|| Verb::BY_NAME.to_vec())
}

fn subresources(version: &Version) -> impl Iterator<Item = &str> {
    version.subresources.iter().map(|endpoint| &*endpoint.subresource)
}

fn subresource_verbs(change: &Change<&Version>, removed: bool, notes: &mut Notes) {
    for new in &change.new.subresources {
        let Some(old) = change.old.subresources.iter().find(|old| old.subresource == new.subresource) else { continue };
        let (having, lacking) = if removed { (old, new) } else { (new, old) };
        let found = having.operations.iter().map(|operation| operation.verb);
        let found: Vec<_> = found.filter(|verb| lacking.operation(*verb).is_none()).map(Verb::as_str).collect();
        if !found.is_empty() {
            let how = if removed { "without" } else { "with" };
            notes.below(format!("/{}", new.subresource), format!("{how} the verbs {}", listed(found)));
        }
    }
}

fn subresource_kinds(change: &Change<&Version>, notes: &mut Notes) {
    for new in &change.new.subresources {
        let Some(old) = change.old.subresources.iter().find(|old| old.subresource == new.subresource) else { continue };
        for operation in &new.operations {
            let Some(before) = old.operation(operation.verb) else { continue };
            for (what, before, now) in [
                ("takes", body(&before.body), body(&operation.body)),
                ("answers", answer(&before.answer), answer(&operation.answer)),
            ] {
                if before != now {
                    let verb = operation.verb.as_str();
                    notes.below(format!("/{}", new.subresource), format!("{verb} {what} {now}, before {before}"));
                }
            }
        }
    }
}

/// The name of a body. The schemas of documents are compared apart.
fn body(body: &Body) -> String {
    match body {
        Body::None => "nothing".to_owned(),
        Body::Own => "the object".to_owned(),
        Body::Scale => "a Scale".to_owned(),
        Body::DeleteOptions => "DeleteOptions".to_owned(),
        Body::Patch(_) => "a patch".to_owned(),
        Body::Document(document) => format!("{} of {}", document.kind, document.group_version),
    }
}

/// The name of an answer.
fn answer(answer: &Answer) -> String {
    match answer {
        Answer::Own => "the object".to_owned(),
        Answer::List => "a list".to_owned(),
        Answer::Scale => "a Scale".to_owned(),
        Answer::Status => "a Status".to_owned(),
        Answer::Text => "text".to_owned(),
        Answer::Document(document) => format!("{} of {}", document.kind, document.group_version),
    }
}
