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
pub(super) const NAME: Parameter = Parameter::new("path", "name", "string", "name of the object");
/// The namespace in a path.
pub(super) const NAMESPACE: Parameter =
    Parameter::new("path", "namespace", "string", "object name and auth scope, such as for teams and projects");
/// `pretty`.
pub(super) const PRETTY: Parameter =
    Parameter::text("pretty", "If 'true', the answer is indented. Browsers and curl get it so unless it is 'false'.");
const WATCH_BOOKMARKS: Parameter = Parameter::flag(
    "allowWatchBookmarks",
    "Watches may hold events of type BOOKMARK, which carry a resourceVersion to resume from.",
);
const CONTINUE: Parameter = Parameter::text("continue", "The token of an earlier answer, to get the rest of its list.");
const DRY_RUN: Parameter = Parameter::text("dryRun", "'All' checks and answers as always, and stores nothing.");
const FIELD_MANAGER: Parameter = Parameter::text("fieldManager", "Who makes the change.");
const FIELD_SELECTOR: Parameter =
    Parameter::text("fieldSelector", "Selects objects by fields. All objects by default.");
const FIELD_VALIDATION: Parameter = Parameter::text(
    "fieldValidation",
    "What is done about unknown and duplicate fields: 'Ignore' drops them, 'Warn' (the default) drops them with a warning, 'Strict' refuses the request.",
);
const GRACE_PERIOD: Parameter =
    Parameter::number("gracePeriodSeconds", "Seconds that the object is given to end. Zero deletes at once.");
const IGNORE_READ_ERRORS: Parameter = Parameter::flag(
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "Deletes an object that cannot be read from the store, whatever holds it. Nothing else may be asked for beside it.",
);
const LABEL_SELECTOR: Parameter =
    Parameter::text("labelSelector", "Selects objects by labels. All objects by default.");
const LIMIT: Parameter = Parameter::number(
    "limit",
    "The most items of one answer. Where there are more, the answer has a token for the rest.",
);
const ORPHAN: Parameter = Parameter::flag("orphanDependents", "Deprecated: use propagationPolicy.");
const PROPAGATION: Parameter =
    Parameter::text("propagationPolicy", "What happens to dependents: 'Orphan', 'Background' or 'Foreground'.");
const RESOURCE_VERSION: Parameter = Parameter::text(
    "resourceVersion",
    "The state to answer from. See https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions",
);
const VERSION_MATCH: Parameter =
    Parameter::text("resourceVersionMatch", "How resourceVersion is meant: 'Exact' or 'NotOlderThan'.");
const INITIAL_EVENTS: Parameter = Parameter::flag(
    "sendInitialEvents",
    "A watch begins with the state as ADDED events, and a bookmark that ends them.",
);
const TIMEOUT: Parameter = Parameter::number("timeoutSeconds", "When to end the request.");
const WATCH: Parameter = Parameter::flag("watch", "Stream changes rather than answer with a list.");
const FORCE: Parameter =
    Parameter::flag("force", "An apply takes fields over from other managers. Must be unset for other patches.");

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
