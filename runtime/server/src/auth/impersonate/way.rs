//! The ways to be allowed to impersonate, in kube-apiserver's order.
use serde_json::json;

use super::{Attributes, Authorize, Decision, Refuse, User, node, service_account};
use crate::meta::{FieldError, FieldErrorKind, FieldPath, validate};

/// The extra value of a service account's token with the node that it was issued for.
const NODE_OF_TOKEN: &str = "authentication.kubernetes.io/node-name";
/// What authorizers see of the extra values of a service account that acts as its node: their keys.
const ASSOCIATED: &str = "authentication.kubernetes.io/associated-node-keys";
/// The group of what is impersonated.
const AUTHENTICATION: &str = "authentication.k8s.io";
/// The characters besides letters and digits that the path of an extra value's key may have.
const PATH_CHARACTERS: &str = "/-._~%!$&'()*+,;=:";
/// From this number of groups or extra values on, it is first asked whether all are allowed.
const MANY: usize = 4;

/// A way to be allowed to impersonate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A service account acts as the node that its token was issued for.
    AssociatedNode,
    /// As any node.
    ArbitraryNode,
    /// As a service account.
    ServiceAccount,
    /// As another user.
    UserInfo,
    /// The oldest one, by the verb `impersonate` alone.
    Legacy,
}

impl Way {
    /// All ways, in the order in which they are tried.
    pub(super) const ALL: [Self; 5] =
        [Self::AssociatedNode, Self::ArbitraryNode, Self::ServiceAccount, Self::UserInfo, Self::Legacy];

    /// The verb on what is impersonated, and the beginning of the verb on the subject of the request, which the oldest way
    /// does not need.
    fn verbs(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::AssociatedNode => ("impersonate:associated-node", Some("impersonate-on:associated-node:")),
            Self::ArbitraryNode => ("impersonate:arbitrary-node", Some("impersonate-on:arbitrary-node:")),
            Self::ServiceAccount => ("impersonate:serviceaccount", Some("impersonate-on:serviceaccount:")),
            Self::UserInfo => ("impersonate:user-info", Some("impersonate-on:user-info:")),
            Self::Legacy => ("impersonate", None),
        }
    }

    /// True if a sender may try to be a user in this way.
    pub(super) fn is_for(self, wanted: &User, sender: &User) -> bool {
        let only_name = wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty();
        match self {
            Self::AssociatedNode => {
                let own = sender.extra.get(NODE_OF_TOKEN).map(Vec::as_slice);
                let is_own = |name: &str| service_account(&sender.name).is_some() && own == Some(&[name.to_owned()]);
                only_name && node(&wanted.name).is_some_and(is_own)
            }
            Self::ArbitraryNode => only_name && node(&wanted.name).is_some(),
            Self::ServiceAccount => only_name && service_account(&wanted.name).is_some(),
            Self::UserInfo => node(&wanted.name).is_none() && service_account(&wanted.name).is_none(),
            Self::Legacy => true,
        }
    }

    /// The resulting user, if the sender of a request may be that user in this way. Fails with the first refusal.
    pub(super) async fn allow<E>(
        self,
        wanted: &User,
        authorizer: &dyn Authorize,
        request: &Attributes<'_>,
        refuse: Refuse<'_, E>,
    ) -> Result<User, E> {
        let mut known = request.user.clone();
        if self == Self::AssociatedNode {
            known.extra = [(ASSOCIATED.to_owned(), known.extra.into_keys().collect())].into();
        }
        let (verb, on) = self.verbs();
        let asking = Asking { way: self, verb, sender: &known, authorizer, refuse };
        if let Some(on) = on {
            let on = format!("{on}{}", request.verb);
            asking.ask(&Attributes { verb: &on, user: &known, ..*request }).await?;
        }
        asking.name(wanted).await?;
        if !wanted.uid.is_empty() {
            asking.ask(&asking.about(AUTHENTICATION, "uids", &wanted.uid)).await?;
        }
        asking.groups(wanted).await?;
        asking.extra(wanted).await?;
        Ok(self.result(wanted))
    }

    /// The user after the wish was granted. Without requested groups, a service account gets its own groups, and a node that of
    /// nodes if it is known for one. Everyone except an anonymous user counts as authenticated, unless a group says otherwise.
    fn result(self, wanted: &User) -> User {
        let mut user = wanted.clone();
        if user.groups.is_empty() {
            if let Some((namespace, _)) = service_account(&user.name) {
                user.groups = vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
            } else if self != Self::Legacy && node(&user.name).is_some() {
                user.groups = vec!["system:nodes".to_owned()];
            }
        }
        let group = if user.name == User::ANONYMOUS { User::UNAUTHENTICATED } else { User::AUTHENTICATED };
        if !user.is_in(group) && !user.is_in(User::UNAUTHENTICATED) {
            user.groups.push(group.to_owned());
        }
        user
    }
}

/// The questions of one way.
struct Asking<'a, E> {
    way: Way,
    verb: &'static str,
    sender: &'a User,
    authorizer: &'a dyn Authorize,
    refuse: Refuse<'a, E>,
}

impl<E> Asking<'_, E> {
    async fn ask(&self, attributes: &Attributes<'_>) -> Result<(), E> {
        match self.authorizer.authorize(attributes).await {
            Decision::Allow(_) => Ok(()),
            refusal => Err((self.refuse)(attributes, &refusal)),
        }
    }

    /// A refusal that no authorizer is asked for.
    fn never(&self, attributes: &Attributes<'_>, why: impl Into<String>) -> E {
        (self.refuse)(attributes, &Decision::Deny(why.into()))
    }

    fn about<'b>(&'b self, group: &'b str, resource: &'b str, name: &'b str) -> Attributes<'b> {
        Attributes { group, version: "v1", resource, name, ..Attributes::new(self.sender, self.verb, "") }
    }

    /// The group of users, groups, nodes and service accounts.
    fn group(&self) -> &'static str {
        if self.way == Way::Legacy { "" } else { AUTHENTICATION }
    }

    async fn name(&self, wanted: &User) -> Result<(), E> {
        let group = self.group();
        let attributes = if let Some((namespace, name)) = service_account(&wanted.name) {
            Attributes { namespace, ..self.about(group, "serviceaccounts", name) }
        } else if let Some(name) = node(&wanted.name).filter(|_| self.way != Way::Legacy) {
            // A grant for one's own node is one for whatever node that is.
            self.about(group, "nodes", if self.way == Way::AssociatedNode { "*" } else { name })
        } else {
            self.about(group, "users", &wanted.name)
        };
        self.ask(&attributes).await
    }

    async fn groups(&self, wanted: &User) -> Result<(), E> {
        let about = |name| self.about(self.group(), "groups", name);
        if self.way != Way::Legacy {
            if wanted.groups.iter().any(String::is_empty) {
                return Err(self.never(&about(""), "impersonating the empty string group is not allowed"));
            }
            if wanted.is_in(User::MASTERS) {
                return Err(self.never(&about(User::MASTERS), "impersonating the system:masters group is not allowed"));
            }
            if wanted.groups.len() >= MANY && self.ask(&about("*")).await.is_ok() {
                return Ok(());
            }
        }
        for group in &wanted.groups {
            self.ask(&about(group)).await?;
        }
        Ok(())
    }

    async fn extra(&self, wanted: &User) -> Result<(), E> {
        let about = |key, value| Attributes { subresource: key, ..self.about(AUTHENTICATION, "userextras", value) };
        if self.way != Way::Legacy {
            if let Some(why) = wanted.extra.iter().find_map(|(key, values)| unfit(key, values)) {
                return Err(self.never(&about("", ""), why));
            }
            let is_large = wanted.extra.len() >= MANY || wanted.extra.values().map(Vec::len).sum::<usize>() >= MANY;
            if is_large && self.ask(&about("*", "*")).await.is_ok() {
                return Ok(());
            }
        }
        for (key, values) in &wanted.extra {
            for value in values {
                self.ask(&about(key, value)).await?;
            }
        }
        Ok(())
    }
}

/// Why an extra value may not be impersonated.
fn unfit(key: &str, values: &[String]) -> Option<String> {
    if key.is_empty() {
        return Some("impersonating the empty string key in extra is not allowed".to_owned());
    }
    let wrong: Vec<String> = wrong_key(key).iter().map(ToString::to_string).collect();
    match wrong.as_slice() {
        [] if values.is_empty() => Some("impersonating empty values in extra is not allowed".to_owned()),
        [] if values.iter().any(String::is_empty) => {
            Some("impersonating the empty string value in extra is not allowed".to_owned())
        }
        [] => None,
        [why] => Some(format!("impersonating an invalid key in extra is not allowed: {why}")),
        all => Some(format!("impersonating an invalid key in extra is not allowed: [{}]", all.join(", "))),
    }
}

/// The problem with the key of an extra value, which is a domain and a path.
fn wrong_key(key: &str) -> Vec<FieldError> {
    let invalid = |given: &str, why: String| {
        FieldError::new(&FieldPath::new("extra.key"), FieldErrorKind::Invalid(json!(given)), why)
    };
    let (domain, path) = key.split_once('/').unwrap_or_default();
    if domain.is_empty() || path.is_empty() {
        let why = "must be a domain-prefixed path (such as \"acme.io/foo\")";
        return vec![invalid(key, why.to_owned())];
    }
    if !path.chars().all(|c| c.is_ascii_alphanumeric() || PATH_CHARACTERS.contains(c)) {
        let why = r"Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')";
        return vec![invalid(path, why.to_owned())];
    }
    validate::subdomain(domain, false).into_iter().map(|why| invalid(domain, why)).collect()
}
