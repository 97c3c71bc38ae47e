//! Which of the user-facing roles `view`, `edit` and `admin` may read and write objects of a kind.
use std::fmt;

/// A user-facing role. Each may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UserRole {
    /// Reads objects.
    View,
    /// Also creates, changes and deletes them, but does not write the status.
    Edit,
    /// May do everything.
    Admin,
}

impl UserRole {
    /// All of them, the least first.
    pub const ALL: [Self; 3] = [Self::View, Self::Edit, Self::Admin];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Edit => "edit",
            Self::Admin => "admin",
        }
    }
}

/// The least roles that read and write objects of a kind; `None` if none of them does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserRoles {
    /// The role that gets, lists and watches objects.
    pub read: Option<UserRole>,
    /// The role that creates, changes and deletes them, and that connects to subresources. Not less than the one that reads.
    pub write: Option<UserRole>,
}

impl Default for UserRoles {
    fn default() -> Self {
        Self { read: Some(UserRole::View), write: Some(UserRole::Edit) }
    }
}

/// The word for a role or none.
const NONE: &str = "none";

impl UserRoles {
    /// Roles by their names, or `none`. Who reads is `view` if it is not said, and who writes `edit`, or the one who reads if that is more.
    ///
    /// # Errors
    /// An unknown name, or a role that may write and not read.
    pub fn named(read: Option<&str>, write: Option<&str>) -> Result<Self, InvalidRoles> {
        let role = |name: &str| {
            let role = UserRole::ALL.into_iter().find(|role| role.as_str() == name);
            if role.is_none() && name != NONE { Err(InvalidRoles::Name(name.to_owned())) } else { Ok(role) }
        };
        let read = read.map_or(Ok(Some(UserRole::View)), role)?;
        let write = write.map_or(Ok(read.map(|read| read.max(UserRole::Edit))), role)?;
        match (read, write) {
            (None, Some(_)) => Err(InvalidRoles::WritesUnread),
            (Some(read), Some(write)) if write < read => Err(InvalidRoles::WritesUnread),
            _ => Ok(Self { read, write }),
        }
    }

    /// The names of the roles that read and write.
    pub fn names(self) -> [&'static str; 2] {
        [self.read, self.write].map(|role| role.map_or(NONE, UserRole::as_str))
    }
}

/// Why names are no roles of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidRoles {
    /// No role has this name.
    Name(String),
    /// A role that may write could not read.
    WritesUnread,
}

impl fmt::Display for InvalidRoles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "no role is named {name:?}; the roles are view, edit, admin and none"),
            Self::WritesUnread => f.write_str("a role that writes objects could not read them"),
        }
    }
}

impl std::error::Error for InvalidRoles {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_have_names_and_who_writes_can_read() {
        let named = |read, write| UserRoles::named(read, write).map(UserRoles::names);
        assert_eq!(named(None, None), Ok(["view", "edit"]));
        assert_eq!(UserRoles::named(None, None), Ok(UserRoles::default()));
        assert_eq!(named(Some("admin"), None), Ok(["admin", "admin"]));
        assert_eq!(named(Some("none"), None), Ok(["none", "none"]));
        assert_eq!(named(None, Some("none")), Ok(["view", "none"]));
        assert_eq!(named(None, Some("view")), Ok(["view", "view"]));
        assert_eq!(named(Some("edit"), Some("view")), Err(InvalidRoles::WritesUnread));
        assert_eq!(named(Some("none"), Some("admin")), Err(InvalidRoles::WritesUnread));
        assert_eq!(named(Some("veiw"), None), Err(InvalidRoles::Name("veiw".to_owned())));
    }
}
