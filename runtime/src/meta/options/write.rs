//! Options of writes: create, update and patch.
use serde_json::json;

use super::{OptionsError, Query, quoted, refuse};
use crate::meta::{FieldError, FieldErrorKind, FieldPath, validate};

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

/// Options of create and update.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteOptions {
    /// Store nothing.
    pub dry_run: bool,
    /// Who writes, for field ownership; empty where the client did not say.
    pub field_manager: String,
    /// What the client calls itself (see [`client_name`]): the manager where it did not say another.
    pub client: String,
    /// What is done about unknown fields.
    pub field_validation: FieldValidation,
    /// An object that is not there is not created, although the write would: the client may not create it.
    pub must_exist: bool,
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

impl WriteOptions {
    /// The options of a write made by a part of the server, known as a manager by this name.
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

    fn read(query: &Query) -> Result<(Self, Vec<FieldError>), OptionsError> {
        let manager = query.single("fieldManager")?.unwrap_or_default();
        let mut errors = validate::field_manager(manager, &FieldPath::new("fieldManager"));
        let dry_run = dry_run(query.all("dryRun"), &mut errors);
        let field_validation = match query.single("fieldValidation")?.unwrap_or_default() {
            "Ignore" => FieldValidation::Ignore,
            "" | "Warn" => FieldValidation::Warn,
            "Strict" => FieldValidation::Strict,
            given => {
                let supported = quoted(&["", "Ignore", "Strict", "Warn"]);
                let kind = FieldErrorKind::NotSupported { given: json!(given), supported };
                errors.push(FieldError::new(&FieldPath::new("fieldValidation"), kind, ""));
                FieldValidation::default()
            }
        };
        Ok((Self { dry_run, field_manager: manager.to_owned(), field_validation, ..Self::default() }, errors))
    }

    /// Who owns the fields that this write sets.
    pub fn manager(&self) -> &str {
        [self.field_manager.as_str(), &self.client].into_iter().find(|name| !name.is_empty()).unwrap_or("unknown")
    }
}

/// The name of a client by its `User-Agent`: what stands before the first `/`, without what cannot be printed, cut to the
/// length that managers may have.
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

/// Whether this is a dry run. Empty values count as absent: a client that means a dry run says `All`.
pub(super) fn dry_run<'v>(given: impl Iterator<Item = &'v str>, errors: &mut Vec<FieldError>) -> bool {
    let values: Vec<&str> = given.filter(|value| !value.is_empty()).collect();
    if values.iter().any(|value| *value != "All") {
        let kind = FieldErrorKind::NotSupported { given: json!(values), supported: quoted(&["All"]) };
        errors.push(FieldError::new(&FieldPath::new("dryRun"), kind, ""));
    }
    !values.is_empty()
}

impl PatchOptions {
    /// Reads and checks the options; an apply needs a field manager, other patches may not be forced.
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
