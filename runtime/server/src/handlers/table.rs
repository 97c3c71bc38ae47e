//! The table of handlers, by kind and subresource.
use super::{
    Ask, Object, Open, RequestContext, Result, Subresource,
    subresource::{Handler, OperationKinds, SubresourceDecl},
    virtual_kind,
};
use crate::kind::{
    Changes, Kind,
    endpoint::{self, Body, Endpoint, PatchType, RESERVED, Verb},
    resource::{ResourceDecl, Unstored},
};

/// True if a kind is the declared one, in its version.
fn is(kind: &Kind, declared: &ResourceDecl) -> bool {
    let at = &kind.group_version;
    kind.names().plural == declared.plural && at.group == declared.group && at.version == declared.version
}

/// Handlers as declared, before the server starts.
#[derive(Default)]
pub struct Pending {
    virtual_kinds: Vec<(&'static ResourceDecl, Ask)>,
    subresources: Vec<(&'static ResourceDecl, &'static str, SubresourceDecl)>,
    /// The server's own among them, by kind and name. Where documents or the program declare one already, it stays as declared.
    builtin: Vec<(&'static ResourceDecl, &'static str)>,
}

/// The handlers of a running server.
#[derive(Default)]
pub struct Handlers {
    virtual_kinds: Vec<(&'static ResourceDecl, Ask)>,
    subresources: Vec<(&'static ResourceDecl, SubresourceHandler)>,
    pub(crate) open: Open,
}

/// A subresource that is served.
pub(crate) struct SubresourceHandler {
    pub name: &'static str,
    pub handler: Handler,
    /// The input and output of each operation.
    kinds: Vec<(Verb, OperationKinds)>,
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
        self.virtual_kinds.push((R::RESOURCE, ask));
        kind
    }

    /// A custom subresource of a kind.
    pub fn subresource<K: Object>(&mut self, name: &'static str, subresource: Subresource<K>) {
        self.subresources.push((K::RESOURCE, name, subresource.declaration));
    }

    /// A subresource that the server itself answers.
    pub(crate) fn builtin_subresource<K: Object>(&mut self, name: &'static str, subresource: Subresource<K>) {
        self.subresource(name, subresource);
        self.builtin.push((K::RESOURCE, name));
    }

    /// Tells kinds which subresources they have.
    ///
    /// # Errors
    /// A subresource of a kind that is not served, or whose name is taken.
    pub fn declare(&self, kinds: &mut [Kind]) -> std::result::Result<(), String> {
        for (parent, name, declaration) in &self.subresources {
            let Some(kind) = kinds.iter_mut().find(|kind| is(kind, parent)) else {
                let ResourceDecl { group, version, plural, .. } = parent;
                return Err(format!(
                    "the subresource {name:?} is of {plural} of {group}/{version}, which is not served"
                ));
            };
            let taken =
                RESERVED.contains(name) || kind.version.subresources.iter().any(|other| &*other.subresource == *name);
            if taken && self.builtin.iter().any(|(of, own)| std::ptr::eq(*of, *parent) && own == name) {
                continue;
            }
            if taken || !kind.shared.stored {
                let why = if taken { "the name is taken" } else { "the kind is virtual" };
                return Err(format!("{} cannot have the subresource {name:?}: {why}", kind.group_resource()));
            }
            let form = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            if name.is_empty() || !name.chars().all(form) {
                return Err(format!("{name:?} is no name of a subresource: lower-case letters, digits and dashes"));
            }
            if !declaration.problems.is_empty() {
                let why = declaration.problems.join("; ");
                return Err(format!("{} cannot have the subresource {name:?}: {why}", kind.group_resource()));
            }
            *kind = kind.clone().with(|_, version, _| version.subresources.push(declaration.endpoint(name)));
        }
        self.declare_elsewhere(kinds);
        Ok(())
    }

    /// Adds each subresource to the other versions of its resource, unless they have one of this name.
    fn declare_elsewhere(&self, kinds: &mut [Kind]) {
        for (parent, name, declaration) in &self.subresources {
            let Some(own) = kinds.iter().find(|kind| is(kind, parent)).filter(|own| own.version.served).cloned() else {
                continue;
            };
            let endpoint = declaration.endpoint(name).in_terms_of(&own);
            let resource = own.group_resource();
            let has_it = |kind: &Kind| kind.version.subresources.iter().any(|other| &*other.subresource == *name);
            for kind in kinds.iter_mut().filter(|kind| kind.group_resource() == resource && !has_it(kind)) {
                *kind = kind.clone().with(|_, version, _| version.subresources.push(endpoint.clone()));
            }
        }
    }

    /// The handlers, ready to answer.
    pub fn mount(self) -> Handlers {
        let mount = |(parent, name, SubresourceDecl { handler, kinds, .. })| {
            (parent, SubresourceHandler { name, handler, kinds })
        };
        let subresources = self.subresources.into_iter().map(mount).collect();
        Handlers { virtual_kinds: self.virtual_kinds, subresources, open: Open::default() }
    }
}

impl SubresourceDecl {
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
        Endpoint { subresource, group_version, kind, operations, changes, options, takes_paths: false }
    }
}

impl Handlers {
    /// The handler of a virtual kind.
    pub(crate) fn ask(&self, kind: &Kind) -> Option<&Ask> {
        self.virtual_kinds.iter().find(|(declared, _)| is(kind, declared)).map(|(_, ask)| ask)
    }

    /// A custom subresource of a kind, and its version of the resource: that of its own, or the one of another version.
    pub(crate) fn subresource(&self, kind: &Kind, name: &str) -> Option<(&SubresourceHandler, &'static ResourceDecl)> {
        if !kind.version.subresources.iter().any(|known| &*known.subresource == name) {
            return None;
        }
        let of_resource = |parent: &ResourceDecl| {
            let groups = [kind.shared.group.as_str(), kind.group_version.group.as_str()];
            parent.plural == kind.names().plural && groups.contains(&parent.group)
        };
        let named = || self.subresources.iter().filter(|(_, found)| found.name == name);
        let own = named().find(|(parent, _)| is(kind, parent));
        own.or_else(|| named().find(|(parent, _)| of_resource(parent))).map(|(parent, found)| (found, *parent))
    }
}

impl SubresourceHandler {
    /// The input and output of an operation; those of a patch are the ones of an update. `None` if it is not served.
    pub(crate) fn kinds(&self, verb: Verb) -> Option<&OperationKinds> {
        let verb = if verb == Verb::Patch { Verb::Update } else { verb };
        self.kinds.iter().find(|(known, _)| *known == verb).map(|(_, kinds)| kinds)
    }
}
