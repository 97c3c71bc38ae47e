//! The kinds that these tests serve, and the handlers behind them.

use kindsmith::{
    ApiType, FieldError, FieldErrorKind, FieldPath, ObjectMeta, Resource,
    handlers::{Refusal, RequestContext, Result},
};
use serde::{Deserialize, Serialize};

/// Asks whether the one who asks may borrow.
#[derive(Resource, Clone, Debug)]
#[resource(group = "handlers.example.com", version = "v1", cluster)]
#[resource(column("Allowed", path = status.allowed))]
pub struct LoanReview {
    pub metadata: ObjectMeta,
    pub spec: LoanReviewSpec,
    pub status: Option<LoanReviewStatus>,
}

/// What is asked for.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct LoanReviewSpec {
    /// How many books.
    #[api(default = 1, minimum = 1)]
    pub books: i32,
    /// What to do: `panic`, `refuse`, `invalid`, or anything else.
    pub mode: Option<String>,
}

/// The answer.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoanReviewStatus {
    pub allowed: bool,
    /// Who asked.
    pub user: String,
    pub dry_run: bool,
}

pub async fn review(mut review: LoanReview, context: RequestContext) -> Result<LoanReview> {
    match review.spec.mode.as_deref() {
        Some("panic") => panic!("as asked"),
        Some("refuse") => return Err(Refusal::forbidden("the library is closed")),
        Some("invalid") => {
            let kind = FieldErrorKind::Invalid(review.spec.books.into());
            return Err(Refusal::invalid(vec![FieldError::new(
                &FieldPath::new("spec").child("books"),
                kind,
                "too many",
            )]));
        }
        _ => {}
    }
    let (user, dry_run) = (context.user.name.clone(), context.dry_run);
    review.status = Some(LoanReviewStatus { allowed: review.spec.books <= 3, user, dry_run });
    Ok(review)
}

/// A question that is asked inside a namespace.
#[derive(Resource, Clone, Debug)]
#[resource(group = "handlers.example.com", version = "v1")]
pub struct Question {
    pub metadata: ObjectMeta,
    pub answer: Option<String>,
}

pub async fn answer(mut question: Question, context: RequestContext) -> Result<Question> {
    question.answer = Some(format!("asked in {}", context.namespace));
    Ok(question)
}
