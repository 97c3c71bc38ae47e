//! Rules about what can be requested: verbs and subresources.
use kindsmith::kind::{Verb, model::Version};
use kindsmith_model::kind::endpoint::{Answer, Body};

use crate::check::rule::{
    Change, Check, Notes,
    Party::{Appliers, Json, Kubectl, Stored, Watchers},
    Rule, listed, only_in, source,
};

pub(super) static RULES: [Rule; 20] = [
    Check::VersionUnset(|of| of.status, "without the status subresource")
        .breaking("status-subresource-removed", &[Json, Watchers], source::SPEC_AND_STATUS)
        .about("The status subresource is removed.")
        .harm("controllers that write /status get 404, and every writer of the object can change its status")
        .instead("Keep the subresource."),
    Check::VersionSet(|of| of.status, "with a status subresource")
        .breaking("status-subresource-added", &[Json, Watchers], source::SPEC_AND_STATUS)
        .about("The status subresource is added.")
        .harm("a status in writes of the object is ignored without an error, so controllers have to write /status")
        .instead("Add it with a new version, or change all controllers to write /status before."),
    Check::VersionUnset(|of| of.generation, "metadata.generation no longer counts changes")
        .breaking("generation-stopped", &[Watchers], source::METADATA)
        .about("metadata.generation no longer counts changes.")
        .harm("controllers that compare it with observedGeneration do not notice a change")
        .instead("Keep counting."),
    Check::VersionSet(|of| of.generation, "metadata.generation counts changes")
        .compatible("generation-started", "metadata.generation counts changes."),
    Check::VersionUnset(|of| of.scale.is_some(), "without the scale subresource")
        .breaking("scale-removed", &[Json, Kubectl], source::URIS)
        .about("The scale subresource is removed.")
        .harm("autoscalers and kubectl scale get 404")
        .instead("Keep the subresource."),
    Check::VersionSet(|of| of.scale.is_some(), "with a scale subresource")
        .compatible("scale-added", "The scale subresource is added."),
    Check::Version(|change, notes| {
        if let (Some(old), Some(new)) = (&change.old.scale, &change.new.scale) {
            for (name, old, new) in
                [("replicas", &old.replicas, &new.replicas), ("status", &old.status_replicas, &new.status_replicas)]
            {
                if old != new {
                    notes.here(format!("the path of the scale's {name} was .{old}, is .{new}"));
                }
            }
        }
    })
    .breaking("scale-path-changed", &[Json, Stored, Appliers], source::URIS)
    .about("The scale subresource shows another field.")
    .harm("stored objects have no value there, so autoscalers read 0 replicas, and own another field than before")
    .instead("Keep the path."),
    Check::Version(|change, notes| {
        let [old, new] = [change.old, change.new].map(|of| of.scale.as_ref().map(|scale| &scale.selector));
        if let (Some(Some(old)), Some(new)) = (old, new)
            && new.as_ref() != Some(old)
        {
            let new = new.as_ref().map_or_else(|| "absent".to_owned(), |new| format!(".{new}"));
            notes.here(format!("the path of the scale's selector was .{old}, is {new}"));
        }
    })
    .breaking("scale-selector-removed", &[Json], source::URIS)
    .about("The scale subresource has no label selector any more, or that of another field.")
    .harm("horizontal autoscalers find no pods, and scale no further")
    .instead("Keep the path of the selector."),
    Check::Version(|change, notes| {
        let gone = subresources(change.old).filter(|name| !subresources(change.new).any(|other| other == *name));
        gone.for_each(|name| notes.below(format!("/{name}"), "removed"));
    })
    .breaking("subresource-removed", &[Json, Kubectl], source::DEPRECATION)
    .about("A subresource is removed.")
    .harm("its requests are answered with 404")
    .instead("Keep the subresource until the version is removed."),
    Check::Version(|change, notes| {
        let new = subresources(change.new).filter(|name| !subresources(change.old).any(|other| other == *name));
        new.for_each(|name| notes.below(format!("/{name}"), "added"));
    })
    .compatible("subresource-added", "A subresource is added."),
    Check::Version(|change, notes| subresource_verbs(change, true, notes))
        .breaking("subresource-verb-removed", &[Json], source::VERBS)
        .about("A verb of a subresource is removed.")
        .harm("its requests are answered with 405")
        .instead("Keep the verb until the version is removed."),
    Check::Version(|change, notes| subresource_verbs(change, false, notes))
        .compatible("subresource-verb-added", "A verb of a subresource is added."),
    Check::Version(subresource_kinds)
        .breaking("subresource-kind-changed", &[Json], source::KINDS)
        .about("A subresource takes or answers documents of another kind.")
        .harm("clients send documents that are refused, or do not decode the answers")
        .instead("Add another subresource."),
    Check::Version(|change, notes| {
        notes.names("without the verbs", &only_in(&verbs(change.old), &verbs(change.new)));
    })
    .breaking("verb-removed", &[Json, Watchers], source::VERBS)
    .about("A verb on objects is removed.")
    .harm("its requests are answered with 405")
    .instead("Keep the verb until the version is removed."),
    Check::Version(|change, notes| {
        notes.names("with the verbs", &only_in(&verbs(change.new), &verbs(change.old)));
    })
    .compatible("verb-added", "A verb on objects is added."),
    Check::VersionUnset(|of| of.update_without_version, "updates must have a resourceVersion")
        .breaking("unconditional-update-refused", &[Json], source::CONCURRENCY)
        .about("An update must have metadata.resourceVersion.")
        .harm("clients that replace objects without it are refused")
        .instead("Keep allowing it in this version."),
    Check::VersionSet(|of| of.update_without_version, "updates may leave out the resourceVersion")
        .warning("unconditional-update-allowed", &[Json, Watchers], source::CONCURRENCY)
        .about("An update may leave out metadata.resourceVersion.")
        .harm("a client that forgets it overwrites the changes of others, where it got an error before")
        .instead("Keep it required, if clients read and write."),
    Check::VersionUnset(|of| of.create_on_update, "PUT no longer creates objects")
        .breaking("create-on-update-removed", &[Json], source::VERBS)
        .about("PUT no longer creates an object that is not there.")
        .harm("clients that create objects with PUT get 404")
        .instead("Keep allowing it in this version."),
    Check::VersionSet(|of| of.create_on_update, "PUT creates objects")
        .compatible("create-on-update-added", "PUT creates an object that is not there."),
    Check::Version(|change, notes| match (change.old.returns_deleted, change.new.returns_deleted) {
        (false, true) => notes.here("deletions answer with the deleted object"),
        (true, false) => notes.here("deletions answer with a Status"),
        _ => {}
    })
    .warning("deletion-answer-changed", &[Json], source::VERBS)
    .about("A deletion answers with the deleted object instead of a Status, or the other way round.")
    .harm("clients that read the answer take one for the other")
    .instead("Keep the answer in this version."),
];

fn verbs(version: &Version) -> Vec<&'static str> {
    version.verbs.as_deref().unwrap_or(&Verb::BY_NAME).iter().map(|verb| verb.as_str()).collect()
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
