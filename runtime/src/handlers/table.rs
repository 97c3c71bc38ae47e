//! The table of handlers, by kind and subresource.
use super::{
    Ask, Object, Open, RequestContext, Result, Subresource,
    subresource::{Declared, Exchanged, Handler},
    virtual_kind,
};
use crate::kind::{
    Changes, Kind,
    endpoint::{self, Body, Endpoint, PatchType, RESERVED, Verb},
    resource::Unstored,
};

/// The place at which a kind is served: group, version, plural name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    group: String,
    version: String,
    plural: String,
}

impl Place {
    fn of(kind: &Kind) -> Self {
        let at = &kind.group_version;
        Self { group: at.group.clone(), version: at.version.clone(), plural: kind.names().plural.clone() }
    }

    fn is(&self, kind: &Kind) -> bool {
        let at = &kind.group_version;
        self.plural == kind.names().plural && self.group == at.group && self.version == at.version
    }
}

/// Handlers as declared, before the server starts.
#[derive(Default)]
pub struct Pending {
    virtual_kinds: Vec<(Place, Ask)>,
    subresources: Vec<(Place, &'static str, Declared)>,
}

/// The handlers of a running server.
#[derive(Default)]
pub struct Handlers {
    virtual_kinds: Vec<(Place, Ask)>,
    subresources: Vec<(Place, Mounted)>,
    pub(crate) open: Open,
}

/// A subresource that is served.
pub(crate) struct Mounted {
    /// Its name.
    pub name: &'static str,
    /// Its handler.
    pub handler: Handler,
    /// The input and output of each operation.
    kinds: Vec<(Verb, Exchanged)>,
}

impl Pending {
    /// A virtual kind: the model to register, whose handler is kept here.
    pub fn virtual_kind<R, F, Fut>(&mut self, handler: F) -> Kind
    where
        R: Object + Unstored,
        F: Fn(R, RequestContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R>> + Send + 'static,
    {
        let (kind, ask) = virtual_kind::of(handler);
        self.virtual_kinds.push((Place::of(&kind), ask));
        kind
    }

    /// A custom subresource of a kind.
    pub fn subresource<K: Object>(&mut self, name: &'static str, subresource: Subresource<K>) {
        let own = K::RESOURCE;
        let (group, version, plural) = (own.group.to_owned(), own.version.to_owned(), own.plural.to_owned());
        self.subresources.push((Place { group, version, plural }, name, subresource.declared));
    }

    /// Tells kinds which subresources they have.
    ///
    /// # Errors
    /// A subresource of a kind that is not served, or whose name is taken.
    pub fn declare(&self, kinds: &mut [Kind]) -> std::result::Result<(), String> {
        for (place, name, declared) in &self.subresources {
            let Some(kind) = kinds.iter_mut().find(|kind| place.is(kind)) else {
                let Place { group, version, plural } = place;
                return Err(format!(
                    "the subresource {name:?} is of {plural} of {group}/{version}, which is not served"
                ));
            };
            let taken =
                RESERVED.contains(name) || kind.version.subresources.iter().any(|other| &*other.subresource == *name);
            if taken || !kind.shared.stored {
                let why = if taken { "the name is taken" } else { "the kind is virtual" };
                return Err(format!("{} cannot have the subresource {name:?}: {why}", kind.group_resource()));
            }
            let form = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            if name.is_empty() || !name.chars().all(form) {
                return Err(format!("{name:?} is no name of a subresource: lower-case letters, digits and dashes"));
            }
            if !declared.problems.is_empty() {
                let why = declared.problems.join("; ");
                return Err(format!("{} cannot have the subresource {name:?}: {why}", kind.group_resource()));
            }
            *kind = kind.clone().with(|_, version, _| version.subresources.push(declared.endpoint(name)));
        }
        Ok(())
    }

    /// The handlers, ready to answer.
    pub fn mount(self) -> Handlers {
        let mount = |(place, name, Declared { handler, kinds, .. })| (place, Mounted { name, handler, kinds });
        let subresources = self.subresources.into_iter().map(mount).collect();
        Handlers { virtual_kinds: self.virtual_kinds, subresources, open: Open::default() }
    }
}

impl Declared {
    /// It as it is served. Where it can be read and written, it can be patched.
    fn endpoint(&self, name: &str) -> Endpoint {
        let mut operations = self.operations.clone();
        let of = |verb| operations.iter().find(|operation| operation.verb == verb);
        let written =
            self.kinds.iter().find(|(verb, _)| *verb == Verb::Update).and_then(|(_, kinds)| kinds.body.as_ref());
        if let (Some(_), Some(put), Some(kind)) = (of(Verb::Get), of(Verb::Update), written) {
            let body = Body::Patch(PatchType::of(kind, false));
            let patch = endpoint::Operation { verb: Verb::Patch, body, ..put.clone() };
            operations.push(patch);
        }
        let (group_version, kind) = self.shown.clone();
        let (subresource, options) = (name.into(), self.options.clone());
        let changes = Changes::AllBut(Vec::new());
        Endpoint { subresource, group_version, kind, operations, changes, options }
    }
}

impl Handlers {
    /// Ends streams and connections that handlers keep up.
    pub fn stop(&self) {
        self.open.stop();
    }

    /// Waits for the end of upgraded connections.
    pub async fn ended(&self) {
        self.open.ended().await;
    }

    /// The handler of a virtual kind.
    pub(crate) fn ask(&self, kind: &Kind) -> Option<&Ask> {
        self.virtual_kinds.iter().find(|(place, _)| place.is(kind)).map(|(_, ask)| ask)
    }

    /// A custom subresource of a kind.
    pub(crate) fn subresource(&self, kind: &Kind, name: &str) -> Option<&Mounted> {
        if kind.version.subresources.is_empty() {
            return None;
        }
        self.subresources.iter().find(|(place, found)| found.name == name && place.is(kind)).map(|(_, found)| found)
    }
}

impl Mounted {
    /// The input and output of an operation; those of a patch are the ones of an update. `None` if it is not served.
    pub(crate) fn kinds(&self, verb: Verb) -> Option<&Exchanged> {
        let verb = if verb == Verb::Patch { Verb::Update } else { verb };
        self.kinds.iter().find(|(known, _)| *known == verb).map(|(_, kinds)| kinds)
    }
}
