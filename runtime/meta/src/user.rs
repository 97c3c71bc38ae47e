//! Users.
use std::collections::BTreeMap;

/// An authenticated user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name, such as `admin` or `system:anonymous`.
    pub name: String,
    /// A unique id; may be empty.
    pub uid: String,
    /// The groups, such as `system:masters`.
    pub groups: Vec<String>,
    /// Further information of the authenticator, such as scopes, by key. Keys are lower-case.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// The name of users without credentials.
    pub const ANONYMOUS: &'static str = "system:anonymous";
    /// The group whose members may do everything.
    pub const MASTERS: &'static str = "system:masters";
    /// The group of all authenticated users.
    pub const AUTHENTICATED: &'static str = "system:authenticated";
    /// The group of all unauthenticated users.
    pub const UNAUTHENTICATED: &'static str = "system:unauthenticated";

    /// A user with a name and groups, who also belongs to [`Self::AUTHENTICATED`].
    pub fn new(name: impl Into<String>, groups: &[&str]) -> Self {
        let groups = groups.iter().chain([&Self::AUTHENTICATED]).map(|group| (*group).to_owned()).collect();
        Self { name: name.into(), groups, ..Self::default() }
    }

    /// The name that a service account has as a user.
    pub fn service_account_name(namespace: &str, name: &str) -> String {
        format!("system:serviceaccount:{namespace}:{name}")
    }

    /// True if the user is in a group.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|g| g == group)
    }

    /// The server itself, as which its controllers act.
    pub fn system() -> Self {
        Self {
            name: "system:apiserver".to_owned(),
            groups: vec![Self::MASTERS.to_owned(), Self::AUTHENTICATED.to_owned()],
            ..Self::default()
        }
    }
}
