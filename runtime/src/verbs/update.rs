//! update: an object, or a subresource, as a whole.
use super::{Answer, Api, Error, Part, Request, Written, pipeline::Write};
use crate::{codec::Decoded, meta::options::UpdateOptions};

impl Api {
    /// Replaces an object, or a subresource of it.
    ///
    /// # Errors
    /// [`Error`]: what is wrong with the object, [`Error::Conflict`] where it is not of the newest state.
    pub async fn update(
        &self,
        request: &Request,
        body: impl Into<Decoded>,
        options: &UpdateOptions,
    ) -> Result<Written, Error> {
        let body = body.into();
        if request.part == Part::Scale {
            return self.update_scale(request, body, options).await;
        }
        let write = Write { pruned: body.pruned, ..Write::of_body(request, options, &body.faults) };
        match self.rewrite(&write, |_| Ok(body.document.clone())).await {
            Ok(done) => Ok(Written { answer: Answer::Object(done.object), created: false, warnings: done.warnings }),
            Err(Error::NotFound(..))
                if request.part == Part::Whole && request.served.kind.create_on_update && !options.must_exist =>
            {
                self.create(request, body, options).await
            }
            Err(error) => Err(error),
        }
    }
}
