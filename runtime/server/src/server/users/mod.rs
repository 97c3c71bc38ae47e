//! Lets further users in: certificates or tokens, bindings to roles, and kubeconfigs. The command `kindsmith user` is built on it.
//!
//! Works on a running server, through its API, and on the data directory of a stopped one, whose store it opens.

mod api;
mod binding;
mod credential;
mod kubeconfig;
#[cfg(test)]
mod tests;

use std::{fmt, path::PathBuf, time::Duration};

use self::{api::Api, kubeconfig::NewKubeconfig};
pub use binding::BoundUser;

/// The server for which users are added, listed or removed.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// The data directory. Its kubeconfig leads to a running server, and its `client-ca.key` signs certificates.
    pub data_dir: Option<PathBuf>,
    /// The kubeconfig of an administrator of a running server, if it is not the one in the data directory.
    pub kubeconfig: Option<PathBuf>,
}

/// How a user shows who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// A client certificate with the user's name and groups. It cannot be taken back, only its bindings can.
    Certificate,
    /// A token of a service account of the user's name. Deleting the account ends it.
    Token,
}

/// A user to add.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// The name.
    pub name: String,
    /// The groups in the certificate; a service account has none.
    pub groups: Vec<String>,
    /// Certificate or token.
    pub credential: Credential,
    /// The role: a `ClusterRole`, or a `Role` of the namespace; `None` for no binding.
    pub role: Option<String>,
    /// The namespace in which the role is bound; without one, it is bound in all, and a service account is in `default`.
    pub namespace: Option<String>,
    /// How long the certificate or the token is valid.
    pub valid_for: Duration,
    /// The URL of the server in the user's kubeconfig, if it is not the one that the administrator uses.
    pub server: Option<String>,
}

/// A user that was added.
#[derive(Clone)]
pub struct AddedUser {
    /// The name that the server knows, such as `ada` or `system:serviceaccount:default:ci`.
    pub user: String,
    /// When the certificate or the token expires, as RFC 3339.
    pub expires: String,
    /// The kubeconfig. It is as secret as the key or the token in it.
    pub kubeconfig: String,
    /// What was made, a line each.
    pub changes: Vec<String>,
}

/// Leaves out the kubeconfig.
impl fmt::Debug for AddedUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user, expires, changes, .. } = self;
        f.debug_struct("AddedUser")
            .field("user", user)
            .field("expires", expires)
            .field("changes", changes)
            .finish_non_exhaustive()
    }
}

/// Why a user could not be added, listed or removed, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserError(String);

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UserError {}

impl<E: Into<String>> From<E> for UserError {
    fn from(message: E) -> Self {
        Self(message.into())
    }
}

type Result<T, E = UserError> = std::result::Result<T, E>;

impl Target {
    /// Adds a user: binds the role, makes the certificate or the token, and returns a kubeconfig with it. On a running server the
    /// kubeconfig is tried. A user may be added again, for another role or with a new certificate.
    ///
    /// # Errors
    /// If the name cannot be one, the role or the namespace does not exist, the server refuses, or it cannot be reached.
    pub async fn add(&self, user: &NewUser) -> Result<AddedUser> {
        check(user)?;
        let api = Api::open(self).await?;
        let added = self.add_through(&api, user).await;
        api.close().await;
        added
    }

    async fn add_through(&self, api: &Api, user: &NewUser) -> Result<AddedUser> {
        let server = kubeconfig::cluster(self, user.server.as_deref())?;
        // What may fail comes first, so that a failure leaves nothing behind.
        let role = match &user.role {
            Some(name) => Some(binding::find_role(api, name, user.namespace.as_deref()).await?),
            None => None,
        };
        let issuer = match user.credential {
            Credential::Certificate => Some(credential::issuer(self)?),
            Credential::Token => None,
        };
        let mut changes = Vec::new();
        let issued = match issuer {
            Some(issuer) => credential::certificate(&issuer, user)?,
            None => credential::token(api, user, &mut changes).await?,
        };
        api.check_login(&issued).await?;
        if let Some(role) = role {
            changes.push(binding::bind(api, user, &role).await?);
        }
        let namespace = user.namespace.as_deref();
        let kubeconfig =
            NewKubeconfig { server: &server, user: &user.name, credential: &issued.entry, namespace }.text();
        Ok(AddedUser { user: issued.user, expires: issued.expires, kubeconfig, changes })
    }

    /// The users that were added, with their roles, in the order of names.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub async fn list(&self) -> Result<Vec<BoundUser>> {
        let api = Api::open(self).await?;
        let bound = binding::list(&api).await;
        api.close().await;
        bound
    }

    /// Removes the bindings that adding a user made, and its service account; of one namespace, if it is given. A certificate stays
    /// valid until it expires, with what its groups and other bindings allow. Returns what was removed, a line each.
    ///
    /// # Errors
    /// If there is no such user, or the server refuses or cannot be reached.
    pub async fn remove(&self, name: &str, namespace: Option<&str>) -> Result<Vec<String>> {
        let api = Api::open(self).await?;
        let removed = binding::remove(&api, name, namespace).await;
        api.close().await;
        removed
    }
}

/// Checks what cannot be checked by the server.
fn check(user: &NewUser) -> Result<()> {
    let NewUser { name, groups, .. } = user;
    let is_text = |text: &str| !text.is_empty() && !text.chars().any(char::is_control) && text.trim() == text;
    if !is_text(name) || name.contains(['/', '%']) || name == "." || name == ".." {
        return Err(format!("{name:?} cannot be a user: names are text without slashes and percent signs, such as ada or ada@example.com").into());
    }
    if name.starts_with("system:") {
        return Err(format!("{name:?} cannot be a user: names that begin with system: belong to the server").into());
    }
    if let Some(group) = groups.iter().find(|group| !is_text(group) || group.starts_with("system:")) {
        let why = if group == "system:masters" {
            "its members may do everything, and a certificate cannot be taken back; use --role cluster-admin, whose binding can be removed"
        } else {
            "groups are text, and those that begin with system: belong to the server"
        };
        return Err(format!("{group:?} cannot be a group of a user: {why}").into());
    }
    if user.credential == Credential::Token && !groups.is_empty() {
        return Err("a token is one of a service account, which has no groups of its own; leave out the groups, or use a certificate".into());
    }
    Ok(())
}
