//! Options of get, list and watch, and the rules for combining them with resourceVersion.
use super::{OptionsError, Query, refuse, revision, unsupported};
use crate::{
    FieldError, FieldErrorKind, FieldPath, Revision,
    selector::{FieldTerm, Fields, Labels},
};

/// The option for how resourceVersion is matched.
const MATCH: &str = "resourceVersionMatch";

/// The match of a list's resourceVersion (`resourceVersionMatch`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionMatch {
    /// Exactly this state.
    Exact,
    /// This state or a newer one.
    NotOlderThan,
}

/// Options of get.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GetOptions {
    /// The state must not be older than this; `None` requests the newest.
    pub resource_version: Option<Revision>,
}

/// Options of list, watch and deletecollection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListOptions {
    /// The label selector.
    pub labels: Labels,
    /// The field selector. Whether the kind has its fields is checked elsewhere.
    pub fields: Fields,
    /// Stream changes instead of listing.
    pub watch: bool,
    /// Send bookmarks.
    pub bookmarks: bool,
    /// The requested revision; `None` if unset. Zero accepts any state.
    pub resource_version: Option<Revision>,
    /// How `resource_version` is matched.
    pub resource_version_match: Option<VersionMatch>,
    /// The maximum duration of the request in seconds.
    pub timeout_seconds: Option<i64>,
    /// The maximum number of items in one answer; zero for no limit.
    pub limit: usize,
    /// The token from an earlier answer; empty for a new list.
    pub continue_token: String,
    /// Begin a watch with the state as ADDED events; `None` if the client did not set it.
    pub initial_events: Option<bool>,
}

impl ListOptions {
    /// The objects with labels that a selector matches.
    pub fn labelled(labels: Labels) -> Self {
        Self { labels, ..Self::default() }
    }
}

impl GetOptions {
    /// Reads the options.
    ///
    /// # Errors
    /// [`OptionsError::Unknown`] for a resourceVersion that is not a number.
    pub fn parse(query: &Query) -> Result<Self, OptionsError> {
        let given = query.single("resourceVersion")?.unwrap_or_default();
        let resource_version = revision::parse(given).map_err(OptionsError::Unknown)?;
        Ok(Self { resource_version })
    }
}

impl ListOptions {
    /// Options that select the object of a name.
    pub fn named(name: &str) -> Self {
        let name = FieldTerm { field: "metadata.name".into(), equal: true, value: name.into() };
        Self { fields: Fields::new(vec![name]), ..Self::default() }
    }

    /// Reads and checks the options. `watch` is true for the old `/watch/` paths.
    ///
    /// # Errors
    /// [`OptionsError`].
    pub fn parse(query: &Query, watch: bool) -> Result<Self, OptionsError> {
        let text = |name| Ok(query.single(name)?.unwrap_or_default());
        let mut options = Self {
            labels: Labels::parse(text("labelSelector")?).map_err(OptionsError::BadRequest)?,
            fields: Fields::parse(text("fieldSelector")?).map_err(OptionsError::BadRequest)?,
            watch: watch || query.switch("watch")?.unwrap_or_default(),
            bookmarks: query.switch("allowWatchBookmarks")?.unwrap_or_default(),
            timeout_seconds: query.number("timeoutSeconds")?,
            // A limit that is not positive means no limit.
            limit: usize::try_from(query.number("limit")?.unwrap_or_default()).unwrap_or_default(),
            continue_token: text("continue")?.to_owned(),
            initial_events: query.switch("sendInitialEvents")?,
            ..Self::default()
        };
        let (version, matching) = (text("resourceVersion")?, text(MATCH)?);
        refuse("ListOptions", options.check(version, matching))?;
        options.resource_version_match = match matching {
            "Exact" => Some(VersionMatch::Exact),
            "NotOlderThan" => Some(VersionMatch::NotOlderThan),
            _ => None,
        };
        options.resource_version = options.revision(version)?;
        Ok(options)
    }

    /// Invalid versions get the same answer from a watch as from a get, and 400 from a list. A continued list has its
    /// revision in the token.
    fn revision(&self, version: &str) -> Result<Option<Revision>, OptionsError> {
        if self.watch {
            return revision::parse(version).map_err(OptionsError::Unknown);
        }
        if !self.continue_token.is_empty() && !matches!(version, "" | "0") {
            let message = "specifying resource version is not allowed when using continue";
            return Err(OptionsError::BadRequest(message.to_owned()));
        }
        revision::parse(version).map_err(|why| OptionsError::BadRequest(format!("invalid resource version: {why}")))
    }

    fn check(&self, version: &str, matching: &str) -> Vec<FieldError> {
        if self.watch { self.check_watch(matching) } else { self.check_list(version, matching) }
    }

    fn check_list(&self, version: &str, matching: &str) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if !matching.is_empty() {
            if version.is_empty() {
                errors.push(forbidden_match("resourceVersionMatch is forbidden unless resourceVersion is provided"));
            }
            if !self.continue_token.is_empty() {
                errors.push(forbidden_match("resourceVersionMatch is forbidden when continue is provided"));
            }
            if !matches!(matching, "Exact" | "NotOlderThan") {
                errors.push(unsupported(MATCH, matching.into(), &["Exact", "NotOlderThan", ""]));
            }
            if matching == "Exact" && version == "0" {
                errors.push(forbidden_match("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
            }
        }
        if self.initial_events.is_some() {
            let path = FieldPath::new("sendInitialEvents");
            let why = "sendInitialEvents is forbidden for list";
            errors.push(FieldError::new(&path, FieldErrorKind::Forbidden, why));
        }
        errors
    }

    fn check_watch(&self, matching: &str) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if self.initial_events.is_some() && matching != "NotOlderThan" {
            errors.push(forbidden_match("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
        }
        if matching.is_empty() {
            return errors;
        }
        if self.initial_events.is_none() {
            let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            errors.push(forbidden_match(why));
        }
        if matching != "NotOlderThan" {
            errors.push(unsupported(MATCH, matching.into(), &["NotOlderThan"]));
        }
        if !self.continue_token.is_empty() {
            errors.push(forbidden_match("resourceVersionMatch is forbidden when continue is provided"));
        }
        errors
    }
}

fn forbidden_match(why: &str) -> FieldError {
    FieldError::new(&FieldPath::new(MATCH), FieldErrorKind::Forbidden, why)
}
