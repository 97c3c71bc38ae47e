//! The results of actions.
use super::{Object, encode};
use crate::{kind::Kind, meta::refusal::Result, schema::Document};

#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the answer of an action",
    label = "neither a kind nor `()`",
    note = "an action answers with an object, whose type has `#[derive(Resource)]`, or with `()`, for a Status that says `Success`"
)]
/// The result of an action: an object, or `()`, which is answered with a Status `Success`.
pub trait Reply: Send + 'static {
    /// The kind of the object.
    #[doc(hidden)]
    fn kind() -> Option<Kind>;

    /// The object as a document.
    #[doc(hidden)]
    fn document(self) -> Result<Option<Document>>;
}

#[diagnostic::do_not_recommend]
impl<R: Object> Reply for R {
    fn kind() -> Option<Kind> {
        Some(<R as crate::Resource>::kind())
    }

    fn document(self) -> Result<Option<Document>> {
        encode(&self).map(Some)
    }
}

impl Reply for () {
    fn kind() -> Option<Kind> {
        None
    }

    fn document(self) -> Result<Option<Document>> {
        Ok(None)
    }
}
