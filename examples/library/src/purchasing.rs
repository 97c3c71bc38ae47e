//! A hook with state: the library buys only so many copies of a book. The schema cannot say it, because each library may
//! have another limit.

use kindsmith::{Context, FieldError, FieldErrorKind, FieldPath, Hooks, handlers::Result};

use crate::Book;

/// Limits what the library buys. The state of a hook is its fields; a write of the scale is checked, too.
pub struct Purchasing {
    /// The largest number of copies of a book.
    pub most_copies: i32,
}

impl Hooks<Book> for Purchasing {
    async fn validate(&self, book: &Book, _: &Context<'_, Book>) -> Result<Vec<FieldError>> {
        if book.spec.copies <= self.most_copies {
            return Ok(Vec::new());
        }
        let copies = FieldPath::new("spec").child("copies");
        let detail = format!("the library buys at most {} copies of a book", self.most_copies);
        Ok(vec![FieldError::new(&copies, FieldErrorKind::Invalid(book.spec.copies.into()), detail)])
    }
}
