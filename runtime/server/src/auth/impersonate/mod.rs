//! Impersonation: whom a request wants to be, whether its sender may, and the resulting user.
//!
//! There are two ways to be allowed. The older one is the verb `impersonate` on each user, group, uid and extra value.
//! The newer one is narrower: the verb `impersonate:user-info` on each of them, and in addition the verb
//! `impersonate-on:user-info:<verb>` on the subject of the request.
#[cfg(test)]
mod tests;

use super::{Attributes, Authorize, Decision, User};

/// The name of users without credentials.
const ANONYMOUS: &str = "system:anonymous";
/// The prefix of service account names: `system:serviceaccount:<namespace>:<name>`.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";
/// The prefix of node names.
const NODE: &str = "system:node:";

/// The requested user, from the request's headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Impersonation {
    /// The name, the uid, the groups and the extra values.
    pub user: User,
}

/// One item that the sender must be allowed to impersonate.
struct Part<'a> {
    resource: &'static str,
    subresource: &'a str,
    namespace: &'a str,
    name: &'a str,
}

impl Impersonation {
    /// The user as which the request is served once that is allowed. Without requested groups, a service account gets
    /// its own groups. Everyone except an anonymous user counts as authenticated, unless a group says otherwise.
    pub(crate) fn become_user(&self) -> User {
        let mut user = self.user.clone();
        if let (Some((namespace, _)), true) = (self.service_account(), user.groups.is_empty()) {
            user.groups = vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
        }
        if user.name == ANONYMOUS {
            if !user.is_in(User::UNAUTHENTICATED) {
                user.groups.push(User::UNAUTHENTICATED.to_owned());
            }
        } else if !user.is_in(User::AUTHENTICATED) && !user.is_in(User::UNAUTHENTICATED) {
            user.groups.push(User::AUTHENTICATED.to_owned());
        }
        user
    }

    /// Checks that the sender may be this user for the subject of the request.
    ///
    /// # Errors
    /// The message for the client, and the attributes that were denied.
    pub(crate) async fn allow<'a>(
        &'a self,
        authorizer: &dyn Authorize,
        attributes: &Attributes<'a>,
        on_verb: &'a str,
    ) -> Result<(), (Attributes<'a>, Decision)> {
        let Err(refusal) = self.each(authorizer, attributes.user, "impersonate", "").await else { return Ok(()) };
        if !self.is_plain() {
            return Err(refusal);
        }
        let on = Attributes { verb: on_verb, ..*attributes };
        match authorizer.authorize(&on).await {
            Decision::Allow(_) => {}
            refusal => return Err((on, refusal)),
        }
        self.each(authorizer, attributes.user, "impersonate:user-info", "authentication.k8s.io").await
    }

    /// The verb that the narrow way requires on the subject of the request.
    pub(crate) fn on_verb(verb: &str) -> String {
        format!("impersonate-on:user-info:{verb}")
    }

    /// The narrow way is for users only. Service accounts and nodes have ways of their own, and it never grants
    /// `system:masters`.
    fn is_plain(&self) -> bool {
        !self.user.name.starts_with(NODE)
            && self.service_account().is_none()
            && !self.user.is_in(User::MASTERS)
            && self.user.groups.iter().all(|group| !group.is_empty())
    }

    fn service_account(&self) -> Option<(&str, &str)> {
        let (namespace, name) = self.user.name.strip_prefix(SERVICE_ACCOUNT)?.split_once(':')?;
        (!namespace.is_empty() && !name.is_empty() && !name.contains(':')).then_some((namespace, name))
    }

    fn parts(&self) -> Vec<Part<'_>> {
        let plain = |resource, name| Part { resource, subresource: "", namespace: "", name };
        let mut parts = Vec::new();
        parts.push(match self.service_account() {
            Some((namespace, name)) => Part { namespace, ..plain("serviceaccounts", name) },
            None => plain("users", &self.user.name),
        });
        parts.extend(self.user.groups.iter().map(|group| plain("groups", group.as_str())));
        for (key, values) in &self.user.extra {
            parts.extend(values.iter().map(|value| Part { subresource: key, ..plain("userextras", value) }));
        }
        if !self.user.uid.is_empty() {
            parts.push(plain("uids", &self.user.uid));
        }
        parts
    }

    /// Authorizes each item. The older way has users and groups in the core group.
    async fn each<'a>(
        &'a self,
        authorizer: &dyn Authorize,
        user: &'a User,
        verb: &'a str,
        group: &'a str,
    ) -> Result<(), (Attributes<'a>, Decision)> {
        for part in self.parts() {
            let Part { resource, subresource, namespace, name } = part;
            let own = matches!(resource, "uids" | "userextras");
            let group = if own { "authentication.k8s.io" } else { group };
            let attributes = Attributes {
                group,
                version: "v1",
                resource,
                subresource,
                namespace,
                name,
                ..Attributes::new(user, verb, "")
            };
            match authorizer.authorize(&attributes).await {
                Decision::Allow(_) => {}
                refusal => return Err((attributes, refusal)),
            }
        }
        Ok(())
    }
}
