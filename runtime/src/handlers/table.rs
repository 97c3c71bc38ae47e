//! Which handler answers for which kind.
use super::{Ask, Object, RequestContext, Result, virtual_kind};
use crate::kind::Kind;

/// Where a kind is served: group, version, plural name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    group: String,
    version: String,
    plural: String,
}

impl Place {
    pub(super) fn of(kind: &Kind) -> Self {
        let at = &kind.group_version;
        Self { group: at.group.clone(), version: at.version.clone(), plural: kind.plural.clone() }
    }

    fn is(&self, kind: &Kind) -> bool {
        let at = &kind.group_version;
        self.plural == kind.plural && self.group == at.group && self.version == at.version
    }
}

/// Handlers as declared, before the server starts.
#[derive(Default)]
pub struct Pending {
    virtual_kinds: Vec<(Place, Ask)>,
}

/// The handlers of a server that runs.
#[derive(Default)]
pub struct Handlers {
    virtual_kinds: Vec<(Place, Ask)>,
}

impl Pending {
    /// A virtual kind: the model to register, whose handler is kept here.
    pub fn virtual_kind<R, F, Fut>(&mut self, handler: F) -> Kind
    where
        R: Object,
        F: Fn(R, RequestContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R>> + Send + 'static,
    {
        let (kind, ask) = virtual_kind::of(handler);
        self.virtual_kinds.push((Place::of(&kind), ask));
        kind
    }

    /// The handlers, ready to answer.
    pub fn mount(self) -> Handlers {
        Handlers { virtual_kinds: self.virtual_kinds }
    }
}

impl Handlers {
    /// Who answers for a virtual kind.
    pub(crate) fn ask(&self, kind: &Kind) -> Option<&Ask> {
        self.virtual_kinds.iter().find(|(place, _)| place.is(kind)).map(|(_, ask)| ask)
    }
}
