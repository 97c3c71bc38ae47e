//! Validation: reports all errors of a document, with kube-apiserver's wording.

mod bounds;
mod embedded;
mod junctors;
mod unique;
mod validator;
mod value;
mod wording;

use super::{
    At, Document, Exceeded, Meter, Schema,
    correlate::{Before, rest_is_kept},
    immutable,
    location::Location,
};
use crate::meta::FieldError;
use validator::Validator;

/// All errors of a document, as far as there is room for them: those of embedded objects, then duplicates in sets and maps come last, as
/// in kube-apiserver.
///
/// # Errors
/// The limit of the meter that was exceeded.
pub fn validate(schema: &Schema, document: &Document, meter: &Meter) -> Result<Vec<FieldError>, Exceeded> {
    let errors = validate_at(At::of(schema), document, meter);
    meter.check().map(|()| errors)
}

/// The same at a location in a schema. Of no use if the meter is exceeded.
pub(super) fn validate_at(at: At<'_>, document: &Document, meter: &Meter) -> Vec<FieldError> {
    let mut validator = whole(at, document, meter);
    validator.errors.append(&mut validator.embedded);
    validator.errors.append(&mut validator.duplicates);
    validator.finish()
}

/// The errors of a change, given the errors of the new document (see [`validate`]): the ones that the change causes
/// (KEP-4008), and changed immutable fields.
///
/// If only metadata and status change, only the status is checked, and if it changes, the junctors of the object itself, which may be
/// about it. Otherwise unchanged values have no errors, except in embedded objects. For a changed value, its own rules are
/// checked, and its content is compared with its counterparts. Junctors of a changed value are checked completely. If the old document has
/// duplicates, those of the new one are not reported.
///
/// # Errors
/// The limit of the meter that was exceeded.
pub fn validate_change(
    schema: &Schema,
    found: Vec<FieldError>,
    document: &Document,
    old: &Document,
    meter: &Meter,
) -> Result<Vec<FieldError>, Exceeded> {
    let mut errors = if found.is_empty() { found } else { brought_about(schema, document, old, meter) };
    errors.extend(immutable::changes(schema, document, old, meter));
    meter.check().map(|()| errors)
}

fn brought_about(schema: &Schema, document: &Document, old: &Document, meter: &Meter) -> Vec<FieldError> {
    let (at, before) = (At::of(schema), Before::of(old));
    let mut validator = Validator::new(meter);
    if rest_is_kept(schema, document, old) {
        let status = document.get("status");
        if status != old.get("status") {
            validator.junctors(at, document, &Location::Root);
        }
        if let Some((at, status)) = at.property("status").zip(status) {
            validator.value(at, status, &Location::Root.field("status"), before.field("status"));
        }
    } else {
        validator.value(at, document, &Location::Root, before);
        validator.errors.append(&mut whole(at, document, meter).embedded);
    }
    if !validator.duplicates.is_empty() && whole(at, old, meter).duplicates.is_empty() {
        validator.errors.append(&mut validator.duplicates);
    }
    validator.finish()
}

/// The results of a whole walk.
fn whole<'m>(at: At<'_>, document: &Document, meter: &'m Meter) -> Validator<'m> {
    let mut validator = Validator::new(meter);
    validator.value(at, document, &Location::Root, Before::NOTHING);
    validator
}
