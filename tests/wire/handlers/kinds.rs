//! The kinds that these tests serve, and the handlers behind them.

use std::time::Duration;

use kindsmith::{
    ApiType, FieldError, FieldErrorKind, FieldPath, ObjectMeta, Resource,
    handlers::{Parent, Refusal, RequestContext, Result},
    meta::options::DeleteOptions,
};
use serde::{Deserialize, Serialize};

/// Asks whether the user may borrow.
#[derive(Resource, Clone, Debug)]
#[resource(group = "handlers.example.com", version = "v1", cluster, unstored)]
#[resource(column("Allowed", path = status.allowed))]
pub(crate) struct LoanReview {
    pub metadata: ObjectMeta,
    pub spec: LoanReviewSpec,
    pub status: Option<LoanReviewStatus>,
}

/// The content of the question.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoanReviewSpec {
    /// The number of books.
    #[api(default = 1, minimum = 1)]
    pub books: i32,
    /// The behaviour: `panic`, `refuse`, `invalid`, or anything else.
    pub mode: Option<String>,
}

/// The answer.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoanReviewStatus {
    pub allowed: bool,
    /// The user that asked.
    pub user: String,
    pub dry_run: bool,
}

pub(crate) async fn review(mut review: LoanReview, context: RequestContext) -> Result<LoanReview> {
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

/// A question inside a namespace.
#[derive(Resource, Clone, Debug)]
#[resource(group = "handlers.example.com", version = "v1", unstored)]
pub(crate) struct Question {
    pub metadata: ObjectMeta,
    pub answer: Option<String>,
}

pub(crate) async fn answer(mut question: Question, context: RequestContext) -> Result<Question> {
    question.answer = Some(format!("asked in {}", context.namespace));
    Ok(question)
}

/// A book that can be lent.
#[derive(Resource, Clone, Debug)]
#[resource(group = "handlers.example.com", version = "v1", status, validate = Book::check)]
pub(crate) struct Book {
    pub metadata: ObjectMeta,
    pub spec: BookSpec,
    pub status: Option<BookStatus>,
}

/// The desired state of the book.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BookSpec {
    /// The number of copies.
    #[api(default = 1, minimum = 0)]
    pub copies: i32,
    /// The keeper of the book.
    pub keeper: Option<String>,
}

/// The observed state of the book.
#[derive(ApiType, Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct BookStatus {
    /// The readers that hold copies.
    #[serde(default)]
    pub readers: Vec<String>,
}

impl Book {
    fn check(&self, context: &kindsmith::Context<'_, Self>) -> Vec<FieldError> {
        if self.spec.keeper.as_deref() != Some("no one") {
            return Vec::new();
        }
        let kind = FieldErrorKind::Invalid(format!("no one through {}", context.subresource).into());
        vec![FieldError::new(&FieldPath::new("spec").child("keeper"), kind, "must be somebody")]
    }
}

/// Lends a copy of a book.
#[derive(Resource, Clone, Debug)]
#[resource(group = "loans.example.com", version = "v1beta1", unstored)]
pub(crate) struct Loan {
    pub metadata: ObjectMeta,
    pub spec: LoanSpec,
    pub status: Option<LoanStatus>,
}

/// The recipient.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoanSpec {
    /// The reader.
    #[api(min_length = 1)]
    pub reader: String,
    /// The duration.
    #[api(default = 14, maximum = 28)]
    pub days: i32,
}

/// The result.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoanStatus {
    /// The number of copies left.
    pub left: i32,
}

pub(crate) async fn lend(book: Parent<Book>, mut loan: Loan) -> Result<Loan> {
    let changed = book
        .change(|book| {
            let readers = &mut book.status.get_or_insert_default().readers;
            if readers.len() >= usize::try_from(book.spec.copies).unwrap_or(0) {
                let wait = Duration::from_mins(1);
                return Err(
                    Refusal::too_many_requests("all copies are lent", wait).cause("NoCopies", "come back later")
                );
            }
            readers.push(loan.spec.reader.clone());
            Ok(())
        })
        .await?;
    let lent = changed.status.map_or(0, |status| status.readers.len());
    loan.status = Some(LoanStatus { left: changed.spec.copies - i32::try_from(lent).unwrap_or(i32::MAX) });
    Ok(loan)
}

/// Discards a book.
#[derive(Resource, Clone, Debug)]
#[resource(group = "handlers.example.com", version = "v1", unstored)]
pub(crate) struct Removal {
    pub metadata: ObjectMeta,
    /// The reason.
    pub reason: Option<String>,
}

pub(crate) async fn remove(book: Parent<Book>, removal: Removal) -> Result<()> {
    if removal.reason.is_none() {
        return Err(Refusal::forbidden("a removal needs a reason"));
    }
    book.delete(&DeleteOptions::default()).await
}

/// Returns the keeper of a book.
#[derive(Resource, Clone, Debug)]
#[resource(group = "handlers.example.com", version = "v1", unstored)]
pub(crate) struct Keeping {
    pub metadata: ObjectMeta,
    pub keeper: Option<String>,
}

pub(crate) async fn keeping(book: Parent<Book>) -> Result<Keeping> {
    Ok(Keeping { metadata: book.identity(), keeper: book.spec.keeper.clone() })
}

pub(crate) async fn keep(book: Parent<Book>, keeping: Keeping) -> Result<Keeping> {
    let changed = book
        .change(|book| {
            book.spec.keeper.clone_from(&keeping.keeper);
            Ok(())
        })
        .await?;
    let metadata = ObjectMeta { resource_version: changed.metadata.resource_version, ..book.identity() };
    Ok(Keeping { metadata, keeper: changed.spec.keeper })
}
