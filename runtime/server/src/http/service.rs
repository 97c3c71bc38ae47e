//! The API as a tower service.

use std::{
    convert::Infallible,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum_core::{
    BoxError,
    body::Body,
    extract::Request,
    response::{IntoResponse, Response},
};
use bytes::Bytes;

use super::{Backend, Site, dispatch};

/// The whole API as a [tower service](tower_service::Service): nest it in an application, wrap it in layers, or call it in a test without a
/// socket. Clones are cheap and share everything.
///
/// It is always ready, and needs no layer around it and no connect info. The server's authenticators identify the user
/// from the request's headers and from [`PeerCertificates`](super::PeerCertificates). A layer that already knows the user puts an
/// `Arc<`[`User`](crate::auth::User)`>` into the request's extensions, and the authenticators are skipped. If the
/// service is nested under a prefix, strip it from the request's path, as axum's `nest_service` does.
#[derive(Clone)]
pub struct Service {
    site: Arc<Site>,
    /// The layers around the site, if it has any, with the site in them.
    layers: Option<Arc<Layers>>,
}

type Layers = dyn Fn(Request) -> ResponseFuture + Send + Sync;
/// An answer in the making.
pub(super) type ResponseFuture = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

impl Service {
    /// Creates the service of a backend.
    #[doc(hidden)]
    pub fn new(backend: Arc<Backend>) -> Self {
        Self { site: Arc::new(Site::new(backend)), layers: None }
    }

    /// Wraps it in another layer, outside of its other layers.
    #[must_use]
    pub fn layer<L, S>(self, layer: L) -> Self
    where
        L: tower_layer::Layer<Self, Service = S>,
        S: tower_service::Service<Request, Response: IntoResponse, Error: Into<Infallible>, Future: Send>,
        S: Clone + Send + Sync + 'static,
    {
        let site = self.site.clone();
        let outer = layer.layer(self);
        let layers = move |request| {
            let mut outer = outer.clone();
            Box::pin(async move {
                poll_fn(|cx| outer.poll_ready(cx)).await.map_err(Into::into)?;
                Ok(outer.call(request).await.map_err(Into::into)?.into_response())
            }) as ResponseFuture
        };
        Self { site, layers: Some(Arc::new(layers)) }
    }

    /// Waits until no request is running: all are answered, and long answers were sent or dropped.
    pub async fn idle(&self) {
        self.site.in_flight.idle().await;
    }

    /// Sets other limits of requests. The limits of unread bodies stay as they are.
    #[cfg(feature = "settings")]
    pub(crate) fn set_limits(&self, limits: super::Limits) {
        self.site.in_flight.set(&limits);
        self.site.backend.limits.set(limits);
    }

    /// What it serves.
    #[cfg(feature = "kube")]
    pub(crate) fn backend(&self) -> &Backend {
        &self.site.backend
    }
}

impl<B> tower_service::Service<Request<B>> for Service
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let request = request.map(|body| if body.is_end_stream() { Body::empty() } else { Body::new(body) });
        if let Some(layers) = &self.layers {
            return layers(request);
        }
        let site = self.site.clone();
        Box::pin(async move { Ok(dispatch::receive(site, request).await) })
    }
}
