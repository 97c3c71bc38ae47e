//! Parameters of operations. Their descriptions say what this server does.

use std::borrow::Cow;

use serde_json::json;

use crate::schema::{
    Schema,
    model::Type,
    openapi::{Version, json::Json},
};

/// One parameter.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub name: Cow<'static, str>,
    /// `query` or `path`.
    pub location: &'static str,
    /// `string`, `integer`, `number` or `boolean`.
    pub kind: &'static str,
    /// What it does.
    pub description: Cow<'static, str>,
}

impl Parameter {
    const fn new(location: &'static str, name: &'static str, kind: &'static str, description: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), location, kind, description: Cow::Borrowed(description) }
    }

    const fn text(name: &'static str, description: &'static str) -> Self {
        Self::new("query", name, "string", description)
    }

    const fn number(name: &'static str, description: &'static str) -> Self {
        Self::new("query", name, "integer", description)
    }

    const fn flag(name: &'static str, description: &'static str) -> Self {
        Self::new("query", name, "boolean", description)
    }

    /// An option of a subresource.
    pub(super) fn option(name: &str, schema: &Schema) -> Self {
        let is_plain = matches!(schema.kind, Type::Boolean | Type::Integer | Type::Number);
        let kind = schema.kind.name().filter(|_| is_plain).unwrap_or("string");
        Self { name: name.to_owned().into(), location: "query", kind, description: schema.description.clone().into() }
    }

    /// Writes it.
    pub(super) fn write(&self, version: Version, out: &mut Json) {
        out.object(|out| {
            out.put("name", &self.name);
            out.put("in", self.location);
            out.put("description", &self.description);
            out.put_some("required", (self.location == "path").then_some(true));
            match version {
                Version::V2 => {
                    out.put("type", self.kind);
                    out.put("uniqueItems", &true);
                }
                Version::V3 => out.put("schema", &json!({"type": self.kind, "uniqueItems": true})),
            }
        });
    }
}

/// The name in a path.
pub(super) const NAME: Parameter = Parameter::new("path", "name", "string", "Name of the object.");
/// The namespace in a path.
pub(super) const NAMESPACE: Parameter = Parameter::new("path", "namespace", "string", "Namespace of the objects.");
/// `pretty`.
pub(super) const PRETTY: Parameter =
    Parameter::text("pretty", "If 'true', the answer is indented, as it is for browsers and curl by default.");
const WATCH_BOOKMARKS: Parameter = Parameter::flag(
    "allowWatchBookmarks",
    "If true, a watch also sends events of type BOOKMARK, whose resourceVersion a later watch can start from.",
);
const CONTINUE: Parameter =
    Parameter::text("continue", "Token from an earlier answer, to get the next page of its list.");
const DRY_RUN: Parameter =
    Parameter::text("dryRun", "With 'All', the request is checked and answered as usual, and nothing is stored.");
const FIELD_MANAGER: Parameter = Parameter::text(
    "fieldManager",
    "Name of the field manager that makes the change. By default it is taken from the User-Agent.",
);
const FIELD_SELECTOR: Parameter =
    Parameter::text("fieldSelector", "Selects objects by their fields. By default all objects are selected.");
const FIELD_VALIDATION: Parameter = Parameter::text(
    "fieldValidation",
    "Treatment of unknown and duplicate fields: 'Ignore' drops them, 'Warn' (the default) drops them with a warning, 'Strict' refuses the request.",
);
const GRACE_PERIOD: Parameter = Parameter::number(
    "gracePeriodSeconds",
    "Number of seconds that the object has to terminate. Zero deletes it immediately. By default the kind decides.",
);
const IGNORE_READ_ERRORS: Parameter = Parameter::flag(
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "If true, an object that cannot be read from the store is deleted, regardless of its finalizers. Cannot be combined with other options. This can break programs that depend on the object.",
);
const LABEL_SELECTOR: Parameter =
    Parameter::text("labelSelector", "Selects objects by their labels. By default all objects are selected.");
const LIMIT: Parameter = Parameter::number(
    "limit",
    "Maximum number of items in an answer. If there are more, the answer has a token for the next page.",
);
const ORPHAN: Parameter =
    Parameter::flag("orphanDependents", "Deprecated: use propagationPolicy. True keeps the dependents of the object.");
const PROPAGATION: Parameter = Parameter::text(
    "propagationPolicy",
    "What happens to the dependents of the object: 'Orphan' keeps them, 'Background' deletes them after the object, 'Foreground' deletes them before the object.",
);
const RESOURCE_VERSION: Parameter = Parameter::text(
    "resourceVersion",
    "Version of the state that the answer shows, or that a watch starts from. More info: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions",
);
const VERSION_MATCH: Parameter = Parameter::text(
    "resourceVersionMatch",
    "Whether the state must have exactly the given resourceVersion ('Exact') or may be newer ('NotOlderThan').",
);
const INITIAL_EVENTS: Parameter = Parameter::flag(
    "sendInitialEvents",
    "If true, a watch starts with an ADDED event for each existing object, and a bookmark after them.",
);
const TIMEOUT: Parameter = Parameter::number("timeoutSeconds", "Number of seconds after which a watch ends.");
const WATCH: Parameter = Parameter::flag("watch", "If true, the answer is a stream of changes instead of a list.");
const FORCE: Parameter = Parameter::flag(
    "force",
    "If true, an apply takes over fields that other managers own. Must not be set for other patches.",
);

/// Parameters of list and watch.
pub(super) const LIST: [Parameter; 10] = [
    WATCH_BOOKMARKS,
    CONTINUE,
    FIELD_SELECTOR,
    LABEL_SELECTOR,
    LIMIT,
    RESOURCE_VERSION,
    VERSION_MATCH,
    INITIAL_EVENTS,
    TIMEOUT,
    WATCH,
];
/// Parameters of create.
pub(super) const CREATE: [Parameter; 3] = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION];
/// Parameters of update.
pub(super) const UPDATE: [Parameter; 3] = CREATE;
/// Parameters of patch.
pub(super) const PATCH: [Parameter; 4] = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION, FORCE];
/// Parameters of delete.
pub(super) const DELETE: [Parameter; 5] = [DRY_RUN, GRACE_PERIOD, IGNORE_READ_ERRORS, ORPHAN, PROPAGATION];
/// Parameters of deletecollection.
pub(super) const DELETE_COLLECTION: [Parameter; 13] = [
    CONTINUE,
    DRY_RUN,
    FIELD_SELECTOR,
    GRACE_PERIOD,
    IGNORE_READ_ERRORS,
    LABEL_SELECTOR,
    LIMIT,
    ORPHAN,
    PROPAGATION,
    RESOURCE_VERSION,
    VERSION_MATCH,
    INITIAL_EVENTS,
    TIMEOUT,
];
