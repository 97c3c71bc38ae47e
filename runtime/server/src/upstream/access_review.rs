//! An authorizer that asks another server in a SubjectAccessReview (`authorization.k8s.io`). Answers are kept for a while, by a digest of
//! the question.
use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    client::{Client, Deadlines},
    conditions::Conditions,
};
use crate::{
    auth::{
        Attributes, Authorize, Decision, Rules, Soon,
        cache::{Cache, Digest},
    },
    meta::selector::{Fields, Labels, Operator},
    schema::Document,
};

/// The maximum number of kept answers, as in kube-apiserver.
const MOST_KEPT: usize = 8_192;
/// The size in bytes of what a user can make long, from which on an answer is not kept, as in kube-apiserver.
const LARGEST_QUESTION: usize = 10_000;
/// The size in bytes of a reason above which an answer is not kept.
const LARGEST_REASON: usize = 16 << 10;

/// The version of the reviews that are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Version {
    #[default]
    V1,
    /// The member `groups` is called `group`.
    V1Beta1,
}

/// The decision if a review fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// The next authorizer decides.
    #[default]
    NoOpinion,
    /// The request is denied.
    Deny,
}

/// How access is reviewed.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The authorizer's name, for logs and reasons.
    pub name: String,
    /// The path below the server's URL; empty for the URL itself.
    pub path: &'static str,
    /// The version of reviews.
    pub version: Version,
    /// How long it is kept that a request is allowed.
    pub allowed_for: Duration,
    /// How long it is kept that a request is not allowed.
    pub refused_for: Duration,
    /// How long a review may take.
    pub deadlines: Deadlines,
    /// The decision if a review fails.
    pub on_failure: OnFailure,
}

/// Decides by reviews of another server.
pub(crate) struct AccessReviews {
    client: Arc<Client>,
    settings: Settings,
    conditions: Conditions,
    kept: Cache<Decision>,
}

#[derive(Deserialize)]
struct Review {
    #[serde(default)]
    status: Status,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    allowed: bool,
    denied: bool,
    reason: String,
}

impl AccessReviews {
    /// Reviews by a server, of the requests that meet conditions.
    pub(crate) fn new(client: Arc<Client>, settings: Settings, conditions: Conditions) -> Self {
        Self { client, settings, conditions, kept: Cache::new(MOST_KEPT) }
    }

    fn failed(&self) -> Decision {
        // The log has the error. Users should not see addresses of servers.
        let why = format!("the authorization webhook {:?} failed", self.settings.name);
        match self.settings.on_failure {
            OnFailure::NoOpinion => Decision::NoOpinion(why),
            OnFailure::Deny => Decision::Deny(why),
        }
    }

    async fn ask(&self, spec: Document, digest: Digest, keeps: bool) -> Decision {
        let (version, spec) = match self.settings.version {
            Version::V1 => ("authorization.k8s.io/v1", spec),
            Version::V1Beta1 => ("authorization.k8s.io/v1beta1", old_form(spec)),
        };
        let document = json!({
            "apiVersion": version,
            "kind": "SubjectAccessReview",
            "metadata": {"creationTimestamp": null},
            "spec": spec,
            "status": {"allowed": false},
        });
        let answer = self.client.post(self.settings.path, &document, self.settings.deadlines).await;
        let status = match answer.map_err(|error| error.to_string()).and_then(|answer| read(answer, version)) {
            Ok(status) => status,
            Err(why) => {
                tracing::error!(webhook = self.settings.name, why, "access could not be reviewed");
                return self.failed();
            }
        };
        let time = if status.allowed { self.settings.allowed_for } else { self.settings.refused_for };
        let keeps = keeps && status.reason.len() <= LARGEST_REASON;
        let decision = match (status.denied, status.allowed) {
            (true, _) => Decision::Deny(status.reason),
            (false, true) => Decision::Allow(status.reason.into()),
            (false, false) => Decision::NoOpinion(status.reason),
        };
        if keeps {
            self.kept.put(digest, decision.clone(), time);
        }
        decision
    }
}

impl Authorize for AccessReviews {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        let spec = spec(attributes);
        let digest = ring::digest::digest(&ring::digest::SHA256, spec.to_string().as_bytes());
        let digest: Digest = digest.as_ref().try_into().expect("SHA-256 has 32 bytes");
        // The conditions are about the spec alone, and held when the decision was made.
        if let Some(decision) = self.kept.get(&digest) {
            return Soon::now(decision);
        }
        match self.conditions.hold(&spec) {
            Ok(true) => Soon::later(self.ask(spec, digest, may_be_kept(attributes))),
            Ok(false) => Soon::now(Decision::NO_OPINION),
            Err(why) => {
                tracing::error!(webhook = self.settings.name, why, "a match condition failed");
                Soon::now(self.failed())
            }
        }
    }

    fn rules<'a>(&'a self, _user: &'a crate::auth::User, _namespace: &'a str) -> Soon<'a, Rules> {
        Soon::now(Rules::unlisted("webhook authorizer does not support user rule resolution"))
    }
}

fn read(document: Document, version: &str) -> Result<Status, String> {
    let (kind, given) = (document["kind"].as_str(), document["apiVersion"].as_str());
    if (kind, given) != (Some("SubjectAccessReview"), Some(version)) {
        return Err(format!("the answer is no SubjectAccessReview of {version}"));
    }
    let review: Review = serde_json::from_value(document).map_err(|error| format!("the answer is invalid: {error}"))?;
    Ok(review.status)
}

/// True if the parts of a request that its sender can make long are short.
fn may_be_kept(attributes: &Attributes<'_>) -> bool {
    let Attributes { namespace, verb, group, version, resource, subresource, name, path, .. } = attributes;
    let parts = [namespace, verb, group, version, resource, subresource, name, path];
    parts.map(|part| part.len()).iter().sum::<usize>() < LARGEST_QUESTION
}

/// The spec of a review of version 1. Empty members are left out.
fn spec(attributes: &Attributes<'_>) -> Document {
    let user = attributes.user;
    let mut spec = json!({});
    if attributes.resource.is_empty() {
        spec["nonResourceAttributes"] = texts(&[("path", attributes.path), ("verb", attributes.verb)]);
    } else {
        let mut action = texts(&[
            ("namespace", attributes.namespace),
            ("verb", attributes.verb),
            ("group", attributes.group),
            ("version", attributes.version),
            ("resource", attributes.resource),
            ("subresource", attributes.subresource),
            ("name", attributes.name),
        ]);
        let selectors = [
            ("fieldSelector", attributes.field_selector.map(field_requirements)),
            ("labelSelector", attributes.label_selector.map(label_requirements)),
        ];
        for (member, requirements) in selectors {
            if let Some(requirements) = requirements.filter(|requirements| !requirements.is_empty()) {
                action[member] = json!({"requirements": requirements});
            }
        }
        spec["resourceAttributes"] = action;
    }
    for (member, text) in [("user", &user.name), ("uid", &user.uid)] {
        if !text.is_empty() {
            spec[member] = json!(text);
        }
    }
    if !user.groups.is_empty() {
        spec["groups"] = json!(user.groups);
    }
    if !user.extra.is_empty() {
        spec["extra"] = json!(user.extra);
    }
    spec
}

fn texts(members: &[(&str, &str)]) -> Document {
    let given = members.iter().filter(|(_, text)| !text.is_empty());
    Value::Object(given.map(|(member, text)| ((*member).to_owned(), json!(text))).collect())
}

fn field_requirements(fields: &Fields) -> Vec<Value> {
    let requirement = |term: &crate::meta::selector::FieldTerm| json!({"key": term.field, "operator": if term.equal { "In" } else { "NotIn" }, "values": [term.value]});
    fields.terms().iter().map(requirement).collect()
}

/// The requirements that reviews can express. Without the others, the review is about more objects.
fn label_requirements(labels: &Labels) -> Vec<Value> {
    let requirements = labels.requirements().iter().filter_map(|requirement| {
        let operator = match requirement.operator {
            Operator::In => "In",
            Operator::NotIn => "NotIn",
            Operator::Exists => "Exists",
            Operator::DoesNotExist => "DoesNotExist",
            Operator::GreaterThan | Operator::LessThan => return None,
        };
        let mut written = json!({"key": requirement.key, "operator": operator});
        if !requirement.values.is_empty() {
            written["values"] = json!(requirement.values);
        }
        Some(written)
    });
    requirements.collect()
}

/// The spec of a review of version 1beta1.
fn old_form(mut spec: Document) -> Document {
    if let Some(members) = spec.as_object_mut()
        && let Some(groups) = members.remove("groups")
    {
        members.insert("group".to_owned(), groups);
    }
    spec
}
