//! OpenAPI.
use super::{App, dispatch::Exchange};
use axum::response::Response;
pub fn serve(_app: &App, _exchange: &Exchange, _path: &str) -> Option<Response> {
    None
}
