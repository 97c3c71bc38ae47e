//! Lending, which no stored object stands for: readers ask whether they may have a book, take it, bring it back, and follow
//! what becomes of it.

use kindsmith::{
    ApiType, ObjectMeta, Resource,
    handlers::{Parent, Refusal, RequestContext, Result, Text, WatchEvent},
    meta::time::Time,
};
use serde::{Deserialize, Serialize};

use crate::Book;

/// Asks whether a reader may borrow a book. Nothing is stored: the answer is in the status.
#[derive(Resource, Clone, Debug)]
#[resource(group = "library.example.com", version = "v1", unstored)]
pub struct LoanReview {
    /// Of no meaning: nothing is stored.
    pub metadata: ObjectMeta,
    /// The question.
    pub spec: LoanReviewSpec,
    /// The answer.
    pub status: Option<LoanReviewStatus>,
}

/// `LoanReviewSpec` is the question.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct LoanReviewSpec {
    /// The name of the book.
    pub book: String,
    /// Who wants to borrow it.
    #[api(min_length = 1)]
    pub reader: String,
}

/// `LoanReviewStatus` is the answer.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct LoanReviewStatus {
    /// Whether the reader may have it now.
    pub allowed: bool,
    /// Why not.
    pub reason: Option<String>,
}

/// A copy of a book in the hands of a reader: what is sent to lend a book, and to return it.
#[derive(Resource, Clone, Debug)]
#[resource(group = "library.example.com", version = "v1", unstored)]
pub struct Loan {
    /// The name and namespace of the book.
    pub metadata: ObjectMeta,
    /// Who has it.
    pub spec: LoanSpec,
    /// What came of it.
    pub status: Option<LoanStatus>,
}

/// `LoanSpec` says whose loan it is.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct LoanSpec {
    /// The reader.
    #[api(min_length = 1)]
    pub reader: String,
}

/// `LoanStatus` says what came of a loan.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct LoanStatus {
    /// How many copies are left on the shelf.
    pub left: i32,
}

/// Options of a book's log.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct LogOptions {
    /// Go on, with a line for each change.
    #[api(default = false)]
    pub follow: bool,
}

/// POST to `loanreviews`.
pub(crate) async fn review(mut review: LoanReview, context: RequestContext) -> Result<LoanReview> {
    let book = context.client().of::<Book>(&context.namespace).get(&review.spec.book).await?;
    let reason = book.objection(&review.spec.reader);
    review.status = Some(LoanReviewStatus { allowed: reason.is_none(), reason });
    Ok(review)
}

/// POST to `books/NAME/lend`. What changes the book is run again where another reader was faster.
pub(crate) async fn lend(book: Parent<Book>, mut loan: Loan) -> Result<Loan> {
    let lent = book.change(|book| {
        if let Some(why) = book.objection(&loan.spec.reader) {
            return Err(Refusal::conflict(why));
        }
        let status = book.status.get_or_insert_default();
        status.readers.push(loan.spec.reader.clone());
        status.last_lent = Some(Time::now());
        Ok(())
    });
    loan.status = Some(LoanStatus { left: lent.await?.left() });
    Ok(loan)
}

/// POST to `books/NAME/return`.
pub(crate) async fn take_back(book: Parent<Book>, loan: Loan) -> Result<()> {
    let returned = book.change(|book| {
        let readers = &mut book.status.get_or_insert_default().readers;
        let found = readers.iter().position(|reader| *reader == loan.spec.reader);
        let found = found.ok_or_else(|| Refusal::conflict(format!("{} does not have it", loan.spec.reader)))?;
        readers.remove(found);
        Ok(())
    });
    returned.await.map(drop)
}

/// GET of `books/NAME/log`.
pub(crate) async fn log(book: Parent<Book>, options: LogOptions) -> Result<Text> {
    let mut events = book.watch().await?;
    Ok(Text::written(|mut out| async move {
        while let Some(WatchEvent::Added(book) | WatchEvent::Modified(book)) = events.next().await.transpose()? {
            out.line(format!("{}: {} left; lent to {:?}", book.metadata.name, book.left(), book.readers())).await?;
            if !options.follow {
                break;
            }
        }
        Ok(())
    }))
}

impl Book {
    fn readers(&self) -> &[String] {
        self.status.as_ref().map_or(&[], |status| &status.readers)
    }

    fn left(&self) -> i32 {
        let lent = i32::try_from(self.readers().len()).unwrap_or(i32::MAX);
        self.spec.copies.saturating_sub(lent).max(0)
    }

    /// Why a reader may not have a copy.
    fn objection(&self, reader: &str) -> Option<String> {
        if self.readers().iter().any(|other| other == reader) {
            return Some(format!("{reader} has a copy already"));
        }
        (self.left() == 0).then(|| "all copies are lent".to_owned())
    }
}
