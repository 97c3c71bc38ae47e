//! What is served of a kind: its objects and their subresources, each with its verbs.

use crate::kind::{
    Verb,
    model::{Shared, Version},
};

/// An endpoint.
pub struct Endpoint {
    /// The subresource; empty for the objects themselves.
    pub subresource: String,
    /// Its verbs.
    pub verbs: Vec<Verb>,
    /// It opens a connection, such as `exec`.
    pub connects: bool,
}

/// The endpoints of a version.
pub fn of(shared: &Shared, version: &Version) -> Vec<Endpoint> {
    let endpoint = |subresource: &str, verbs: &[Verb]| Endpoint {
        subresource: subresource.to_owned(),
        verbs: verbs.to_vec(),
        connects: false,
    };
    if !shared.stored {
        return vec![endpoint("", &[Verb::Create])];
    }
    let part = [Verb::Get, Verb::Update, Verb::Patch];
    let mut all = vec![endpoint("", version.verbs.as_deref().unwrap_or(&ALL))];
    if version.status {
        all.push(endpoint("status", &part));
    }
    if version.scale.is_some() {
        all.push(endpoint("scale", &part));
    }
    all.extend(version.subresources.iter().map(|own| Endpoint {
        subresource: own.subresource.to_string(),
        verbs: own.operations.iter().map(|operation| operation.verb).collect(),
        connects: own.operations.iter().any(|operation| operation.connects),
    }));
    all
}

/// The verbs on objects.
const ALL: [Verb; 8] =
    [Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Update, Verb::Patch, Verb::Delete, Verb::DeleteCollection];
