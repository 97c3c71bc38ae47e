//! Lending, for which nothing is stored: readers ask whether they may have a book, borrow it, return it, and follow its
//! log.

use kindsmith::{
    ApiType, ObjectMeta, Resource, Time,
    client::WatchEvent,
    handlers::{Parent, Refusal, RequestContext, Result, Text},
};
use serde::{Deserialize, Serialize};

use crate::Book;

/// Asks whether a reader may borrow a book. Nothing is stored: the answer is in the status.
#[derive(Resource, Clone, Debug)]
#[resource(group = "library.example.com", version = "v1", unstored)]
pub struct LoanReview {
    /// Unused, because nothing is stored.
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
    /// The reader that wants to borrow it.
    #[api(min_length = 1)]
    pub reader: String,
}

/// `LoanReviewStatus` is the answer.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct LoanReviewStatus {
    /// True if the reader may borrow the book now.
    pub allowed: bool,
    /// The reason for a refusal.
    pub reason: Option<String>,
}

/// Loan is a copy of a book lent to a reader. Clients send it to lend and to return a book.
#[derive(Resource, Clone, Debug)]
#[resource(group = "library.example.com", version = "v1", unstored)]
pub struct Loan {
    /// The name and namespace of the book.
    pub metadata: ObjectMeta,
    /// The borrower.
    pub spec: LoanSpec,
    /// The result.
    pub status: Option<LoanStatus>,
}

/// `LoanSpec` names the borrower.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct LoanSpec {
    /// The reader.
    #[api(min_length = 1)]
    pub reader: String,
}

/// `LoanStatus` is the result of lending.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct LoanStatus {
    /// The number of copies left on the shelf.
    pub left: i32,
}

/// Options of a book's log.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct LogOptions {
    /// Follow the log: send a line for each change.
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

/// POST to `books/NAME/lend`. If another reader was faster, the change is applied again to the new state.
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
        let found = found.ok_or_else(|| Refusal::conflict(format!("{} does not have a copy", loan.spec.reader)))?;
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

    /// The number of copies that are not lent.
    pub fn left(&self) -> i32 {
        let lent = i32::try_from(self.readers().len()).unwrap_or(i32::MAX);
        self.spec.copies.saturating_sub(lent).max(0)
    }

    /// The reason why a reader cannot borrow a copy, if there is one.
    pub fn objection(&self, reader: &str) -> Option<String> {
        if self.readers().iter().any(|other| other == reader) {
            return Some(format!("{reader} already has a copy"));
        }
        (self.left() == 0).then(|| "all copies are lent".to_owned())
    }
}
