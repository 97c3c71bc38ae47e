//! Options of writes: create, update and patch.
use serde_json::json;

use super::{OptionsError, Query, refuse, unsupported};
use crate::{FieldError, FieldErrorKind, FieldPath, validate};

/// The treatment of unknown and duplicate fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// Drop them.
    Ignore,
    /// Drop them with a warning.
    #[default]
    Warn,
    /// Refuse them.
    Strict,
}

/// Options of create and update.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteOptions {
    /// Do not store anything.
    pub dry_run: bool,
    /// The field manager; empty if the client did not set it.
    pub field_manager: String,
    /// The client's name (see [`client_name`]), used as the field manager if none is set.
    pub client: String,
    /// The treatment of unknown fields.
    pub field_validation: FieldValidation,
    /// Fail instead of creating a missing object, because the client may not create it.
    pub must_exist: bool,
}

/// Options of create.
pub type CreateOptions = WriteOptions;
/// Options of update.
pub type UpdateOptions = WriteOptions;

/// Options of patch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PatchOptions {
    /// The options of all writes.
    pub write: WriteOptions,
    /// An apply takes over fields of other managers.
    pub force: bool,
}

impl WriteOptions {
    /// The options of a write by a component of the server, with this name as its manager.
    pub fn of_server(name: &str) -> Self {
        Self { client: name.to_owned(), ..Self::default() }
    }

    /// Reads and checks the options of a create.
    ///
    /// # Errors
    /// [`OptionsError`].
    pub fn for_create(query: &Query) -> Result<Self, OptionsError> {
        let (options, errors) = Self::read(query)?;
        refuse("CreateOptions", errors).map(|()| options)
    }

    /// Reads and checks the options of an update.
    ///
    /// # Errors
    /// [`OptionsError`].
    pub fn for_update(query: &Query) -> Result<Self, OptionsError> {
        let (options, errors) = Self::read(query)?;
        refuse("UpdateOptions", errors).map(|()| options)
    }

    /// Checks the options of a connection, which cannot be a dry run: what happens on it is not known before.
    ///
    /// # Errors
    /// [`OptionsError`].
    pub fn check_connect(query: &Query) -> Result<(), OptionsError> {
        let mut errors = Vec::new();
        let dry_run = dry_run(query.all("dryRun"), &mut errors);
        refuse("ConnectOptions", errors)?;
        if dry_run { Err(OptionsError::BadRequest("connections do not support dry run".to_owned())) } else { Ok(()) }
    }

    fn read(query: &Query) -> Result<(Self, Vec<FieldError>), OptionsError> {
        let manager = query.single("fieldManager")?.unwrap_or_default();
        let mut errors = validate::field_manager(manager, &FieldPath::new("fieldManager"));
        let dry_run = dry_run(query.all("dryRun"), &mut errors);
        let field_validation = match query.single("fieldValidation")?.unwrap_or_default() {
            "Ignore" => FieldValidation::Ignore,
            "" | "Warn" => FieldValidation::Warn,
            "Strict" => FieldValidation::Strict,
            given => {
                errors.push(unsupported("fieldValidation", given.into(), &["", "Ignore", "Strict", "Warn"]));
                FieldValidation::default()
            }
        };
        Ok((Self { dry_run, field_manager: manager.to_owned(), field_validation, ..Self::default() }, errors))
    }

    /// The manager of the fields that this write sets.
    pub fn manager(&self) -> &str {
        [self.field_manager.as_str(), &self.client].into_iter().find(|name| !name.is_empty()).unwrap_or("unknown")
    }
}

/// The name of a client from its `User-Agent`: the printable text before the first `/`, truncated to the maximum length
/// of manager names.
pub fn client_name(user_agent: &str) -> String {
    let name = user_agent.split('/').next().unwrap_or_default();
    let mut printed = String::new();
    for character in name.chars().filter(|c| validate::is_printable(*c)) {
        if printed.len() + character.len_utf8() > validate::MAX_FIELD_MANAGER {
            break;
        }
        printed.push(character);
    }
    printed
}

/// True for a dry run. Empty values count as absent; a dry run needs `All`.
pub(super) fn dry_run<'v>(given: impl Iterator<Item = &'v str>, errors: &mut Vec<FieldError>) -> bool {
    let values: Vec<&str> = given.filter(|value| !value.is_empty()).collect();
    if values.iter().any(|value| *value != "All") {
        errors.push(unsupported("dryRun", json!(values), &["All"]));
    }
    !values.is_empty()
}

impl PatchOptions {
    /// Reads and checks the options. An apply needs a field manager; other patches must not be forced.
    ///
    /// # Errors
    /// [`OptionsError`].
    pub fn parse(query: &Query, apply: bool) -> Result<Self, OptionsError> {
        let (write, rest) = WriteOptions::read(query)?;
        let force = query.switch("force")?;
        let mut errors = Vec::new();
        if apply && write.field_manager.is_empty() {
            let why = "is required for apply patch";
            errors.push(FieldError::new(&FieldPath::new("fieldManager"), FieldErrorKind::Required, why));
        }
        if !apply && force.is_some() {
            let why = "may not be specified for non-apply patch";
            errors.push(FieldError::new(&FieldPath::new("force"), FieldErrorKind::Forbidden, why));
        }
        errors.extend(rest);
        refuse("PatchOptions", errors).map(|()| Self { write, force: force.unwrap_or_default() })
    }
}
