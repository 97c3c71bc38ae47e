//! Impersonation: whom a request wants to be, whether its sender may, and the resulting user.
//!
//! There are several [ways](Way) to be allowed. The oldest is the verb `impersonate` on each user, group, uid and extra value. The
//! others are narrower: each is for one sort of user, and needs its own verb on each of these, such as `impersonate:user-info`, and
//! also a verb on the subject of the request, such as `impersonate-on:user-info:list`.
mod way;

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, PoisonError},
};

use way::Way;

use super::{Attributes, Authorize, Decision, User};
use crate::meta::{go, validate};

/// The prefix of service account names: `system:serviceaccount:<namespace>:<name>`.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";
/// The prefix of node names.
const NODE: &str = "system:node:";
/// The most senders whose last way is known.
const MOST_SENDERS: usize = 10_000;

/// The way by which each sender was last allowed, by name. It is tried first, and if all fail, its refusal is the answer.
#[derive(Default)]
pub(crate) struct LastWays(Mutex<HashMap<String, Way>>);

impl LastWays {
    fn of(&self, sender: &User) -> Option<Way> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&sender.name).copied()
    }

    fn set(&self, sender: &User, way: Way) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_SENDERS && !known.contains_key(&sender.name) {
            known.clear();
        }
        known.insert(sender.name.clone(), way);
    }
}

/// The requested user, from the request's headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Impersonation {
    /// The name, the uid, the groups and the extra values.
    pub user: User,
}

/// Makes the answer to a denied question.
pub(crate) type Refuse<'f, E> = &'f (dyn Fn(&Attributes<'_>, &Decision) -> E + Sync);

impl Impersonation {
    /// The user as which the request with these attributes is served, if its sender may be this user.
    ///
    /// # Errors
    /// The first refusal, or that of the way by which the sender was last allowed.
    pub(crate) async fn allow<E>(
        &self,
        authorizer: &dyn Authorize,
        attributes: &Attributes<'_>,
        last: &LastWays,
        refuse: Refuse<'_, E>,
    ) -> Result<User, E> {
        let sender = attributes.user;
        let before = last.of(sender);
        let others = Way::ALL.into_iter().filter(|way| Some(*way) != before);
        let mut refusal = None;
        for way in before.into_iter().chain(others).filter(|way| way.is_for(&self.user, sender)) {
            match way.allow(&self.user, authorizer, attributes, refuse).await {
                Ok(user) => {
                    if before != Some(way) {
                        last.set(sender, way);
                    }
                    return Ok(user);
                }
                Err(why) => refusal = refusal.or(Some(why)),
            }
        }
        Err(refusal.expect("the oldest way is for everyone"))
    }
}

/// The user as Go prints it with `%#v`, for kube-apiserver's messages.
impl fmt::Display for Impersonation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let User { name, uid, groups, extra } = &self.user;
        let list = |texts: &[String]| {
            let quoted: Vec<String> = texts.iter().map(|text| go::quoted(text)).collect();
            format!("[]string{{{}}}", quoted.join(", "))
        };
        let groups = if groups.is_empty() { "[]string(nil)".to_owned() } else { list(groups) };
        let entries: Vec<String> =
            extra.iter().map(|(key, values)| format!("{}:{}", go::quoted(key), list(values))).collect();
        let extra = match entries.as_slice() {
            [] => "map[string][]string(nil)".to_owned(),
            entries => format!("map[string][]string{{{}}}", entries.join(", ")),
        };
        let (name, uid) = (go::quoted(name), go::quoted(uid));
        write!(f, "&user.DefaultInfo{{Name:{name}, UID:{uid}, Groups:{groups}, Extra:{extra}}}")
    }
}

/// The namespace and the name of a service account, from its name as a user.
fn service_account(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix(SERVICE_ACCOUNT)?.split_once(':')?;
    let is_valid = validate::label(namespace, false).is_empty() && validate::subdomain(name, false).is_empty();
    is_valid.then_some((namespace, name))
}

/// The name of a node, from its name as a user.
fn node(user: &str) -> Option<&str> {
    user.strip_prefix(NODE).filter(|name| validate::subdomain(name, false).is_empty())
}
