//! A request about a resource, authorized and understood: what its operation reads, and how it is answered.

use std::sync::Arc;

use axum_core::body::Body;
use bytes::Bytes;

use super::{
    Backend, body,
    exchange::Exchange,
    headers,
    negotiate::{Offer, ResponseFormat},
    offload::Objects,
    render::Renderer,
    status::{self, StatusError},
    table::Include,
};
use crate::{
    kind::{Kind, endpoint::PatchType},
    meta::options::{PatchOptions, Query},
    verbs::Request,
};

/// A request to an operation.
pub(super) struct Call<'a> {
    /// Its context.
    pub exchange: &'a Exchange,
    /// The request for the verbs.
    pub request: Request,
    /// The kind of the answer: the requested one, or that of a subresource with documents of its own.
    pub kind: Arc<Kind>,
    /// The negotiated form.
    pub format: ResponseFormat,
    /// What the rows of a Table contain.
    pub include: Include,
}

impl<'a> Call<'a> {
    /// A request whose answer is of a kind, in the form that the client accepts of an offer. Fails with 406; 400 for an
    /// invalid parameter of Tables.
    pub(super) fn new(
        exchange: &'a Exchange,
        request: Request,
        kind: Arc<Kind>,
        offer: Offer,
    ) -> Result<Self, StatusError> {
        let format = exchange.negotiate(offer, request.resource.kind.policy())?;
        let include = Include::parse(&exchange.info.query, format)?;
        Ok(Self { exchange, request, kind, format, include })
    }

    /// What answers.
    pub(super) fn backend(&self) -> &'a Backend {
        self.exchange.backend()
    }

    /// The parameters.
    pub(super) fn query(&self) -> &'a Query {
        &self.exchange.info.query
    }

    /// The renderer of the answer, unless it is text.
    pub(super) fn renderer(&self) -> Option<Renderer> {
        Renderer::new(&self.kind, self.format, self.backend().api.cache.renderings())
    }

    /// The body and its media type. Fails like [`body::read`].
    pub(super) async fn read(&self, body: Body) -> Result<(String, Bytes), StatusError> {
        let headers = &self.exchange.parts.headers;
        let bytes =
            body::read(headers, body, self.backend().limits.get().body(), Objects::of(&self.request.resource)).await?;
        Ok((headers::media_type(headers), bytes))
    }

    /// The body of a patch, its type, which is one of these, and its options. Fails with 415; 400 for invalid options;
    /// like [`body::read`].
    pub(super) async fn read_patch(
        &self,
        body: Body,
        types: &[PatchType],
    ) -> Result<(PatchType, Bytes, PatchOptions), StatusError> {
        let media_type = headers::media_type(&self.exchange.parts.headers);
        let found = types.iter().copied().find(|known| known.media_type() == media_type);
        let patch_type = found.ok_or_else(|| status::unsupported_patch(types, self.kind.policy()))?;
        let (_, bytes) = self.read(body).await?;
        let mut options = PatchOptions::parse(self.query(), patch_type.applies())?;
        options.write.client = self.exchange.client_name();
        Ok((patch_type, bytes, options))
    }
}
