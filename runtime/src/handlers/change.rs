//! Changes of a stored object by a handler's code: through the pipeline, and retried if another write came first.
use std::sync::Mutex;

use super::{Refusal, Result, client::parsed};
use crate::{
    meta::options::WriteOptions,
    schema::Document,
    verbs::{Error, Request, Verbs},
};

/// A change of a document.
pub(super) type Change<'c> = &'c (dyn Fn(&mut Document) -> Result<()> + Send + Sync);

/// Changes the requested object, and returns it as stored.
pub(super) async fn document(
    api: &Verbs,
    request: &Request,
    options: &WriteOptions,
    change: Change<'_>,
) -> Result<Document> {
    // The verbs have their own error type, so the code's refusal is passed separately.
    let said: Mutex<Option<Refusal>> = Mutex::new(None);
    let changed = api
        .change(request, options, |document| {
            change(document).map_err(|refusal| {
                *said.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(refusal);
                Error::Internal("the handler refused".to_owned())
            })
        })
        .await;
    match (changed, said.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)) {
        (_, Some(refusal)) => Err(refusal),
        (Ok(object), None) => parsed(&object),
        (Err(error), None) => Err(error.into()),
    }
}
