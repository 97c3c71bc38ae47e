//! Changes of a stored object by a handler's code: through the pipeline, and retried if another write came first.
use std::sync::Mutex;

use kindsmith_model::kind::client::backend::Change;

use super::{Refusal, backend::parsed};
use crate::{
    meta::options::WriteOptions,
    schema::Document,
    verbs::{Error, Request, Verbs},
};

/// Writes. If the resource is replaced meanwhile, which refuses writes, the write is done again on the new one.
pub(super) async fn following<T, F: Future<Output = Result<T, Refusal>> + Send>(
    api: &Verbs,
    request: &Request,
    write: impl Fn(Request) -> F,
) -> Result<T, Refusal> {
    let mut request = request.clone();
    loop {
        let refusal = match write(request.clone()).await {
            Err(refusal) if refusal.status().code == 503 => refusal,
            done => return done,
        };
        request.resource = api.registry.successor(&request.resource).await.ok_or(refusal)?;
    }
}

/// Changes the requested object, and returns it as stored.
pub(super) async fn document(
    api: &Verbs,
    request: &Request,
    options: &WriteOptions,
    change: Change<'_>,
) -> Result<Document, Refusal> {
    // The verbs have their own error type, so the code's refusal is passed separately.
    let said: Mutex<Option<Refusal>> = Mutex::new(None);
    let noted = &|document: &mut Document| {
        change(document).map_err(|refusal| {
            *said.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(refusal);
            Error::Internal("the handler refused".to_owned())
        })
    };
    let change = |request| async move { Ok(api.change(&request, options, noted).await?) };
    let changed = following(api, request, change).await;
    match (changed, said.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)) {
        (_, Some(refusal)) => Err(refusal),
        (Ok(object), None) => parsed(&object),
        (Err(error), None) => Err(error),
    }
}
