//! Discovery.
use super::{App, dispatch::Exchange, status::Refused};
use axum::response::Response;
pub fn serve(_app: &App, _exchange: &Exchange, _path: &str) -> Result<Option<Response>, Refused> {
    Ok(None)
}
