//! Options of requests, read from the query (and for deletions from the body), and the rules among them.

use super::{
    FieldError, GroupKind, Revision,
    selector::{Fields, Labels},
};

/// The query of a request: decoded pairs in the order given.
pub type Query = [(String, String)];

/// Why options were refused.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionsError {
    /// 400.
    BadRequest(String),
    /// 422, naming the options' kind.
    Invalid(GroupKind, Vec<FieldError>),
    /// 500 without a reason: what the reference answers to a resourceVersion that is no number, on get and watch.
    Unknown(String),
}

/// How a list's resourceVersion is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionMatch {
    /// Exactly this state.
    Exact,
    /// This state or a newer one.
    NotOlderThan,
}

/// What is done about unknown and duplicate fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// They are dropped.
    Ignore,
    /// They are dropped with a warning.
    #[default]
    Warn,
    /// They are refused.
    Strict,
}

/// What happens to the objects that depend on a deleted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// They are left.
    Orphan,
    /// They go after it.
    Background,
    /// They go before it.
    Foreground,
}

/// Options of get.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GetOptions {
    /// The state must not be older than this; `None` asks for the newest.
    pub resource_version: Option<Revision>,
}

/// Options of list, watch and deletecollection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListOptions {
    /// Which labels.
    pub labels: Labels,
    /// Which fields; whether the kind has them is not checked here.
    pub fields: Fields,
    /// Stream changes rather than list.
    pub watch: bool,
    /// Send bookmarks.
    pub bookmarks: bool,
    /// The revision asked for; `None` where it is unset.
    pub resource_version: Option<Revision>,
    /// How `resource_version` is meant.
    pub resource_version_match: Option<VersionMatch>,
    /// When to end the request, in seconds.
    pub timeout_seconds: Option<i64>,
    /// The most items of one answer; zero for no limit.
    pub limit: usize,
    /// The token of an earlier answer; empty for a fresh list.
    pub continue_token: String,
    /// Begin a watch with the state as ADDED events; `None` where the client did not say.
    pub initial_events: Option<bool>,
}

/// Options of create and update.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteOptions {
    /// Store nothing.
    pub dry_run: bool,
    /// Who writes, for field ownership; empty where the client did not say.
    pub field_manager: String,
    /// What is done about unknown fields.
    pub field_validation: FieldValidation,
}

/// Options of create.
pub type CreateOptions = WriteOptions;
/// Options of update.
pub type UpdateOptions = WriteOptions;

/// Options of patch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PatchOptions {
    /// What all writes have.
    pub write: WriteOptions,
    /// An apply takes fields over from other managers.
    pub force: bool,
}

/// What must hold of the object for it to be deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// Its uid.
    pub uid: Option<String>,
    /// Its resourceVersion.
    pub resource_version: Option<String>,
}

/// Options of delete and deletecollection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteOptions {
    /// Store nothing.
    pub dry_run: bool,
    /// Seconds that the object is given to end.
    pub grace_period_seconds: Option<i64>,
    /// What must hold of the object.
    pub preconditions: Preconditions,
    /// What happens to dependents; `None` leaves it to the object's finalizers and the kind.
    pub propagation: Option<Propagation>,
}

impl GetOptions {
    /// Reads the options.
    ///
    /// # Errors
    /// [`OptionsError::Unknown`] for a resourceVersion that is no number.
    pub fn parse(_query: &Query) -> Result<Self, OptionsError> {
        todo!()
    }
}

impl ListOptions {
    /// Reads and checks the options. `watch` is true for the old `/watch/` paths.
    ///
    /// # Errors
    /// [`OptionsError`].
    pub fn parse(_query: &Query, _watch: bool) -> Result<Self, OptionsError> {
        todo!()
    }
}

impl WriteOptions {
    /// Reads and checks the options of a create.
    ///
    /// # Errors
    /// [`OptionsError`].
    pub fn for_create(_query: &Query) -> Result<Self, OptionsError> {
        todo!()
    }

    /// Reads and checks the options of an update.
    ///
    /// # Errors
    /// [`OptionsError`].
    pub fn for_update(_query: &Query) -> Result<Self, OptionsError> {
        todo!()
    }
}

impl PatchOptions {
    /// Reads and checks the options; an apply needs a field manager, other patches may not be forced.
    ///
    /// # Errors
    /// [`OptionsError`].
    pub fn parse(_query: &Query, _apply: bool) -> Result<Self, OptionsError> {
        todo!()
    }
}

impl DeleteOptions {
    /// Reads and checks the options: a body that is there replaces the query altogether.
    ///
    /// # Errors
    /// [`OptionsError`].
    pub fn parse(_query: &Query, _body: Option<&serde_json::Value>) -> Result<Self, OptionsError> {
        todo!()
    }
}
