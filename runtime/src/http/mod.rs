//! HTTP: routes, content negotiation, Status answers, streams, discovery documents. The only layer that names axum.
