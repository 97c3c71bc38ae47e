//! Who asks, and may they: the traits called on every request, and the authenticators and authorizers that come along.

/// An authenticated user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name, such as `admin` or `system:anonymous`.
    pub name: String,
    /// A unique id; may be empty.
    pub uid: String,
    /// The groups, such as `system:masters`.
    pub groups: Vec<String>,
}
