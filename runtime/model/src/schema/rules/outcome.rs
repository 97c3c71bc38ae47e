//! The errors and warnings of an object's rules.
use crate::{
    meta::{
        FieldError, FieldErrorKind, FieldPath,
        field::{MOST_ERROR_BYTES, MOST_ERRORS},
    },
    schema::Document,
};

/// The errors and warnings of rules.
#[derive(Debug)]
pub struct Outcome {
    /// The errors, in the order in which the values are.
    pub errors: Vec<FieldError>,
    /// Errors about unchanged values, as texts.
    pub warnings: Vec<String>,
    /// The rest of the budget; less than zero if it is used up.
    pub budget: i64,
    /// The room for texts of errors in bytes.
    room: usize,
    /// Errors that were found when there was no room any more.
    omitted: usize,
}

impl Outcome {
    pub(super) fn new(budget: i64) -> Self {
        Self { errors: Vec::new(), warnings: Vec::new(), budget, room: MOST_ERROR_BYTES, omitted: 0 }
    }

    /// Takes costs from the budget. False if there is too little left, and then nothing is left.
    pub(super) fn pay(&mut self, cost: u64) -> bool {
        match i64::try_from(cost) {
            Ok(cost) if cost <= self.budget => self.budget -= cost,
            _ => self.end(),
        }
        self.budget >= 0
    }

    /// Leaves nothing of the budget.
    pub(super) fn end(&mut self) {
        self.budget = -1;
    }

    pub(super) fn add(&mut self, error: FieldError, is_warning: bool) {
        if self.room == 0 || self.errors.len().max(self.warnings.len()) >= MOST_ERRORS {
            self.omitted += usize::from(!is_warning);
            return;
        }
        self.room = self.room.saturating_sub(error.size());
        if is_warning {
            self.warnings.push(error.to_string());
        } else {
            self.errors.push(error);
        }
    }

    /// The same with what further rules have found within the rest of the budget.
    pub(super) fn and(mut self, further: Self) -> Self {
        self.errors.extend(further.errors);
        self.warnings.extend(further.warnings);
        Self { budget: further.budget, ..self }
    }

    pub(super) fn finish(mut self) -> Self {
        if self.omitted > 0 {
            self.errors.push(FieldError::omitted(self.omitted));
        }
        self
    }
}

/// True for errors after which no rules are evaluated: the object may not have the types that rules rely on, or may be too large.
fn blocks(error: &FieldError) -> bool {
    matches!(
        error.kind,
        FieldErrorKind::NotSupported { .. }
            | FieldErrorKind::Required
            | FieldErrorKind::TooLong { .. }
            | FieldErrorKind::TooMany { .. }
            | FieldErrorKind::TypeInvalid(_)
            | FieldErrorKind::Omitted(_)
    )
}

/// The error that says that rules were not evaluated because of others; none if others allow that they are.
pub fn not_checked(errors: &[FieldError]) -> Option<FieldError> {
    let detail = "some validation rules were not checked because the object was invalid; correct the existing errors to \
                  complete validation";
    let kind = FieldErrorKind::Invalid(Document::Null);
    errors.iter().any(blocks).then(|| FieldError::new(&FieldPath::root(), kind, detail))
}
