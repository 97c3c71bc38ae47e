//! Virtual kinds: nothing is stored; a POST is answered with the object including its status.
use std::sync::Arc;

use super::{HandlerFuture, Object, RequestContext, Result, decode, encode};
use crate::{
    kind::{Kind, difference::apply_difference, resource::Unstored},
    schema::Document,
};

/// A handler of a virtual kind, on documents.
pub(crate) type Ask = Arc<dyn Fn(RequestContext, Document) -> HandlerFuture<Document> + Send + Sync>;

/// The kind, which is not stored, and its handler on documents. Fields that the handler's type does not know are kept. What the
/// client left out is part of the answer, also where it is as the type begins.
pub(super) fn of<R, F, Fut>(handler: F) -> (Kind, Ask)
where
    R: Object + Unstored,
    F: Fn(R, RequestContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R>> + Send + 'static,
{
    let kind = R::kind();
    let schema = kind.version.schema.clone();
    let begin = move |context: RequestContext, document: &Document| -> Result<(Document, Fut)> {
        let value: R = decode(document)?;
        let mut before = encode(&value)?;
        if let Some(fields) = before.as_object_mut() {
            fields.retain(|name, _| document.get(name).is_some());
        }
        Ok((before, handler(value, context)))
    };
    let ask = move |context: RequestContext, mut document: Document| -> HandlerFuture<Document> {
        let (begun, schema) = (begin(context, &document), schema.clone());
        Box::pin(async move {
            let (before, answer) = begun?;
            apply_difference(&schema, &mut document, &before, encode(&answer.await?)?);
            Ok(document)
        })
    };
    (kind, Arc::new(ask))
}
