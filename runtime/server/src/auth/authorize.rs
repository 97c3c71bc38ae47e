//! Authorization: the trait, the attributes of a request, and the included authorizers.
use std::{fmt, sync::Arc};

use super::{PathRule, Reason, ResourceRule, Rules, Soon, User};
use crate::meta::{
    go,
    selector::{Fields, Labels},
};

/// The attributes of the request to authorize.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Attributes<'a> {
    /// The user that sends the request.
    pub user: &'a User,
    /// The verb: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`. For non-resource
    /// paths, the HTTP method in lower case.
    pub verb: &'a str,
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The version.
    pub version: &'a str,
    /// The resource; empty for a non-resource path.
    pub resource: &'a str,
    /// The subresource; may be empty.
    pub subresource: &'a str,
    /// The namespace; may be empty.
    pub namespace: &'a str,
    /// The object's name; may be empty.
    pub name: &'a str,
    /// The path of the request.
    pub path: &'a str,
    /// The field selector of a list, watch or deletecollection. `None` without one, and for one that cannot be read, which is
    /// refused after authorization: the request may be about all objects then.
    pub field_selector: Option<&'a Fields>,
    /// The label selector, in the same way.
    pub label_selector: Option<&'a Labels>,
}

impl<'a> Attributes<'a> {
    /// A request for a non-resource path. For a resource, set the other attributes.
    pub fn new(user: &'a User, verb: &'a str, path: &'a str) -> Self {
        let (group, version, resource, subresource) = ("", "", "", "");
        let (field_selector, label_selector) = (None, None);
        let (namespace, name) = ("", "");
        Self {
            user,
            verb,
            group,
            version,
            resource,
            subresource,
            namespace,
            name,
            path,
            field_selector,
            label_selector,
        }
    }
}

/// The message that the client gets if access is denied.
impl fmt::Display for Attributes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "User {} cannot {} ", go::quoted(&self.user.name), self.verb)?;
        if self.resource.is_empty() {
            return write!(f, "path {}", go::quoted(self.path));
        }
        let resource = match self.subresource {
            "" => go::quoted(self.resource),
            subresource => go::quoted(&format!("{}/{subresource}", self.resource)),
        };
        write!(f, "resource {resource} in API group {} ", go::quoted(self.group))?;
        if self.namespace.is_empty() {
            f.write_str("at the cluster scope")
        } else {
            write!(f, "in the namespace {}", go::quoted(self.namespace))
        }
    }
}

/// The decision of an authorizer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// The request is allowed. Reviews of access return the reason.
    Allow(Reason),
    /// This authorizer has no opinion. The last authorizer's `NoOpinion` means deny. The reason may be empty.
    NoOpinion(String),
    /// The request is denied, whatever other authorizers decide. The reason may be empty.
    Deny(String),
}

impl Decision {
    /// The request is allowed, without a reason.
    pub const ALLOW: Self = Self::Allow(Reason::NONE);
    /// No opinion, without a reason.
    pub const NO_OPINION: Self = Self::NoOpinion(String::new());
}

/// Decides whether a user may do something. Called on every request, after authentication.
pub trait Authorize: Send + Sync + 'static {
    /// The decision.
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision>;

    /// What a user may do in a namespace, for `kubectl auth can-i --list`. An authorizer that does not implement this makes
    /// the list incomplete.
    fn rules<'a>(&'a self, _user: &'a User, _namespace: &'a str) -> Soon<'a, Rules> {
        Soon::now(Rules::unlisted("an authorizer does not support listing its rules"))
    }
}

impl<T: Authorize + ?Sized> Authorize for Arc<T> {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        T::authorize(self, attributes)
    }

    fn rules<'a>(&'a self, user: &'a User, namespace: &'a str) -> Soon<'a, Rules> {
        T::rules(self, user, namespace)
    }
}

/// Several authorizers. The first that allows or denies decides. If none does, the decision is `NoOpinion` with all reasons,
/// which means deny.
#[derive(Default)]
pub struct Union(Vec<Box<dyn Authorize>>);

impl Union {
    /// A union that calls the authorizers in this order.
    pub fn new(authorizers: Vec<Box<dyn Authorize>>) -> Self {
        Self(authorizers)
    }
}

impl Authorize for Union {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        let mut reasons = Vec::new();
        for (at, authorizer) in self.0.iter().enumerate() {
            match authorizer.authorize(attributes) {
                // Nothing is allocated for a decision without reasons.
                Soon::Now(Some(Decision::NoOpinion(reason))) if reason.is_empty() => {}
                Soon::Now(Some(Decision::NoOpinion(reason))) => reasons.push(reason),
                Soon::Now(decision) => return Soon::Now(decision),
                Soon::Later(first) => {
                    let rest = &self.0[at + 1..];
                    return Soon::later(async move {
                        let mut decision = first.await;
                        for authorizer in rest {
                            let Decision::NoOpinion(reason) = decision else { return decision };
                            reasons.push(reason);
                            decision = authorizer.authorize(attributes).await;
                        }
                        let Decision::NoOpinion(reason) = decision else { return decision };
                        reasons.push(reason);
                        no_opinion(&reasons)
                    });
                }
            }
        }
        Soon::now(no_opinion(&reasons))
    }

    fn rules<'a>(&'a self, user: &'a User, namespace: &'a str) -> Soon<'a, Rules> {
        Soon::later(async move {
            let mut rules = Rules::default();
            for authorizer in &self.0 {
                rules.add(authorizer.rules(user, namespace).await);
            }
            rules
        })
    }
}

/// Joins the reasons, one on each line, as kube-apiserver does.
fn no_opinion(reasons: &[String]) -> Decision {
    let reasons: Vec<&str> = reasons.iter().map(String::as_str).filter(|reason| !reason.is_empty()).collect();
    Decision::NoOpinion(reasons.join("\n"))
}

/// Allows everything to members of `system:masters`. Has no opinion on others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Masters;

impl Authorize for Masters {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        Soon::now(if attributes.user.is_in(User::MASTERS) { Decision::ALLOW } else { Decision::NO_OPINION })
    }

    /// None: the default roles list that of these members, too.
    fn rules<'a>(&'a self, _user: &'a User, _namespace: &'a str) -> Soon<'a, Rules> {
        Soon::now(Rules::default())
    }
}

/// Allows everything to everyone.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

impl Authorize for AllowAll {
    fn authorize<'a>(&'a self, _attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        Soon::now(Decision::ALLOW)
    }
    fn rules<'a>(&'a self, _user: &'a User, _namespace: &'a str) -> Soon<'a, Rules> {
        let mut rules = Rules::default();
        rules.resources.push(ResourceRule::new(&["*"], &["*"], &["*"]));
        rules.paths.push(PathRule::new(&["*"], &["*"]));
        Soon::now(rules)
    }
}
