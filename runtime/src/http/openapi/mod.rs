//! OpenAPI.
use super::{Site, dispatch::Exchange};
use axum::response::Response;
pub fn serve(_site: &Site, _exchange: &Exchange, _path: &str) -> Option<Response> {
    None
}
