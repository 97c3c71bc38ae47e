//! The annotations by which a definition in a file says which of the roles `view`, `edit` and `admin` read and write its objects.
use crate::{
    kind::{InvalidRoles, UserRoles},
    schema::Document,
};

/// The annotations that name the role for reading and the role for writing.
const ANNOTATIONS: [&str; 2] = ["roles.kindsmith.dev/read", "roles.kindsmith.dev/write"];

/// The roles that a definition names, and the usual ones for what it does not say.
pub(super) fn read(document: &Document) -> Result<UserRoles, InvalidRoles> {
    let [read, write] = ANNOTATIONS.map(|name| document["metadata"]["annotations"][name].as_str());
    UserRoles::named(read, write)
}

/// The annotations for roles that are not the usual ones.
pub(super) fn annotations(roles: UserRoles) -> impl Iterator<Item = (&'static str, &'static str)> {
    let said = roles != UserRoles::default();
    ANNOTATIONS.into_iter().zip(roles.names()).filter(move |_| said)
}
