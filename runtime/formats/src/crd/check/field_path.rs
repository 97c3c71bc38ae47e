//! Paths to fields that a schema declares, as selectable fields and rules name them: `.spec.color`, `.spec['a.b']`.
use super::super::{Additional, Fields};
use crate::schema::{Document, rules::steps};

/// The schema of values of which nothing is said.
static ANYTHING: Document = Document::Null;

/// The fields on the way, and the schema of the last one.
///
/// # Errors
/// Why it leads nowhere, in kube-apiserver's words.
pub(super) fn resolve<'d>(
    path: &str,
    root: Fields<'d>,
    takes_brackets: bool,
) -> Result<(Vec<String>, Fields<'d>), String> {
    let (mut names, mut schema) = (Vec::new(), root);
    for name in steps(path, takes_brackets) {
        let name = name?;
        let nowhere = "does not refer to a valid field";
        schema = match (schema.object("properties"), schema.additional()) {
            (Some(properties), _) => properties.object(&name).ok_or(nowhere)?,
            (None, Some(Additional::Schema(values))) => values,
            // kube-apiserver asks no more of the last step of a rule's path.
            (None, Some(Additional::Any(_))) if takes_brackets => Fields::of(&ANYTHING),
            (None, _) => return Err(nowhere.to_owned()),
        };
        names.push(name);
    }
    Ok((names, schema))
}
