//! Reviews: questions about users and their access, which the server's own authenticator and authorizer answer.
use std::sync::Arc;

use crate::{
    Resource as _,
    auth::{Attributes, Authenticate, Authorize, Credentials, Decision, User, authenticate::AUDIENCE},
    handlers::{Pending, Refusal, RequestContext, Result},
    kind::Kind,
    meta::{ObjectMeta, Time},
};

mod authentication;
mod authorization;
mod check;
mod selectors;

pub use authentication::{
    SelfSubjectReview, SelfSubjectReviewStatus, TokenReview, TokenReviewSpec, TokenReviewStatus, UserInfo,
};
pub use authorization::{
    FieldSelectorAttributes, LabelSelectorAttributes, LocalSubjectAccessReview, NonResourceAttributes, NonResourceRule,
    ResourceAttributes, ResourceRule, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec, SelfSubjectRulesReview,
    SelfSubjectRulesReviewSpec, SubjectAccessReview, SubjectAccessReviewSpec, SubjectAccessReviewStatus,
    SubjectRulesReviewStatus,
};
use selectors::Selectors;

/// The kinds of reviews. Their handlers are added by [`answer`].
pub(super) fn kinds() -> [Kind; 6] {
    [
        SelfSubjectReview::kind(),
        TokenReview::kind(),
        LocalSubjectAccessReview::kind(),
        SelfSubjectAccessReview::kind(),
        SelfSubjectRulesReview::kind(),
        SubjectAccessReview::kind(),
    ]
}

/// What answers reviews.
struct Reviewer {
    authenticator: Arc<dyn Authenticate>,
    authorizer: Arc<dyn Authorize>,
}

/// Adds the handlers of reviews.
pub(crate) fn answer(handlers: &mut Pending, authenticator: &Arc<dyn Authenticate>, authorizer: &Arc<dyn Authorize>) {
    let reviewer = Arc::new(Reviewer { authenticator: authenticator.clone(), authorizer: authorizer.clone() });
    handlers.virtual_kind(who_am_i);
    let asked = reviewer.clone();
    handlers.virtual_kind(move |review, _| asked.clone().token(review));
    let asked = reviewer.clone();
    handlers.virtual_kind(move |review, context| asked.clone().local(review, context));
    let asked = reviewer.clone();
    handlers.virtual_kind(move |review, context| asked.clone().own(review, context));
    let asked = reviewer.clone();
    handlers.virtual_kind(move |review, context| asked.clone().rules(review, context));
    handlers.virtual_kind(move |review, _| reviewer.clone().subject(review));
}

/// The maximum number of audiences of a TokenReview. The token is checked for each.
const MOST_AUDIENCES: usize = 64;

async fn who_am_i(_: SelfSubjectReview, context: RequestContext) -> Result<SelfSubjectReview> {
    Ok(SelfSubjectReview {
        metadata: ObjectMeta { creation_timestamp: Some(Time::now()), ..ObjectMeta::default() },
        status: SelfSubjectReviewStatus { user_info: (&*context.user).into() },
    })
}

impl Reviewer {
    async fn token(self: Arc<Self>, mut review: TokenReview) -> Result<TokenReview> {
        if review.spec.token.is_empty() {
            return Err(Refusal::bad_request("token is required for TokenReview in authentication"));
        }
        let mut asked = review.spec.audiences.clone();
        asked.sort();
        asked.dedup();
        if asked.len() > MOST_AUDIENCES {
            return Err(Refusal::bad_request(format!("at most {MOST_AUDIENCES} audiences may be named")));
        }
        if asked.is_empty() {
            asked.push(AUDIENCE.to_owned());
        }
        let (mut user, mut audiences) = (None, Vec::new());
        for audience in asked {
            let credentials = Credentials { audiences: &[&audience], ..Credentials::token(&review.spec.token) };
            if let Some(found) = self.authenticator.authenticate(&credentials).await.ok().flatten() {
                user = Some(found);
                audiences.push(audience);
            }
        }
        review.status = match user {
            Some(user) => {
                let user = (&*user).into();
                TokenReviewStatus { authenticated: true, user, audiences, ..TokenReviewStatus::default() }
            }
            None => TokenReviewStatus { error: "invalid bearer token".to_owned(), ..TokenReviewStatus::default() },
        };
        Ok(review)
    }

    async fn subject(self: Arc<Self>, mut review: SubjectAccessReview) -> Result<SubjectAccessReview> {
        check::refuse(check::subject(&review.spec), &review.metadata, "must be empty")?;
        review.status = self.decide(&review.spec).await;
        Ok(review)
    }

    async fn local(
        self: Arc<Self>,
        mut review: LocalSubjectAccessReview,
        context: RequestContext,
    ) -> Result<LocalSubjectAccessReview> {
        let mut errors = check::subject(&review.spec);
        errors.extend(check::local(&review.spec, &context.namespace));
        let metadata = ObjectMeta { namespace: String::new(), ..review.metadata.clone() };
        check::refuse(errors, &metadata, "must be empty except for namespace")?;
        review.status = self.decide(&review.spec).await;
        Ok(review)
    }

    async fn own(
        self: Arc<Self>,
        mut review: SelfSubjectAccessReview,
        context: RequestContext,
    ) -> Result<SelfSubjectAccessReview> {
        let SelfSubjectAccessReviewSpec { resource_attributes, non_resource_attributes } = &review.spec;
        let errors = check::action(resource_attributes.as_ref(), non_resource_attributes.as_ref());
        check::refuse(errors, &review.metadata, "must be empty")?;
        review.status = self.judge(&context.user, resource_attributes.as_ref(), non_resource_attributes.as_ref()).await;
        Ok(review)
    }

    async fn rules(
        self: Arc<Self>,
        review: SelfSubjectRulesReview,
        context: RequestContext,
    ) -> Result<SelfSubjectRulesReview> {
        let namespace = review.spec.namespace;
        if namespace.is_empty() {
            return Err(Refusal::bad_request("no namespace on request"));
        }
        let rules = self.authorizer.rules(&context.user, &namespace).await;
        let incomplete = !rules.unlisted.is_empty();
        let errors: Vec<String> = rules.unlisted.into_iter().chain(rules.errors).collect();
        let status = SubjectRulesReviewStatus {
            resource_rules: rules.resources.into_iter().map(Into::into).collect(),
            non_resource_rules: rules.paths.into_iter().map(Into::into).collect(),
            incomplete,
            evaluation_error: errors.join(", "),
        };
        Ok(SelfSubjectRulesReview { status, ..SelfSubjectRulesReview::default() })
    }

    /// The answer about another user.
    async fn decide(&self, spec: &SubjectAccessReviewSpec) -> SubjectAccessReviewStatus {
        let SubjectAccessReviewSpec { user, uid, groups, extra, .. } = spec.clone();
        let user = User { name: user, uid, groups, extra };
        self.judge(&user, spec.resource_attributes.as_ref(), spec.non_resource_attributes.as_ref()).await
    }

    /// The authorizer's decision about an action, of which exactly one form is given.
    async fn judge(
        &self,
        user: &User,
        resource: Option<&ResourceAttributes>,
        path: Option<&NonResourceAttributes>,
    ) -> SubjectAccessReviewStatus {
        let (none, nothing) = (ResourceAttributes::default(), NonResourceAttributes::default());
        let selectors = resource.map(Selectors::of).unwrap_or_default();
        let attributes = match (resource, path) {
            (_, Some(action)) => Attributes::new(user, &action.verb, &action.path),
            (action, None) => {
                let action = action.unwrap_or(&none);
                Attributes {
                    group: &action.group,
                    version: if action.version.is_empty() { "*" } else { &action.version },
                    resource: &action.resource,
                    subresource: &action.subresource,
                    namespace: &action.namespace,
                    name: &action.name,
                    field_selector: selectors.fields.as_ref(),
                    label_selector: selectors.labels.as_ref(),
                    ..Attributes::new(user, &action.verb, &nothing.path)
                }
            }
        };
        let answer = SubjectAccessReviewStatus { evaluation_error: selectors.error.clone(), ..Default::default() };
        match self.authorizer.authorize(&attributes).await {
            Decision::Allow(reason) => {
                SubjectAccessReviewStatus { allowed: true, reason: reason.to_string(), ..answer }
            }
            Decision::NoOpinion(reason) => SubjectAccessReviewStatus { reason, ..answer },
            Decision::Deny(reason) => SubjectAccessReviewStatus { denied: true, reason, ..answer },
        }
    }
}
