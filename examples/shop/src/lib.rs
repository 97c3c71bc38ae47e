//! The API of shop: its kinds.

use kindsmith::handlers::{get, post, text};
use kindsmith::server::Builder;

pub mod billing;
pub mod item;
pub mod order;

/// The group of the kinds.
pub const GROUP: &str = "shop.example.com";

/// Adds all kinds to a server.
pub fn serve(server: Builder) -> Builder {
    let server = billing::serve(server);
    server
        .kind::<item::Item>()
        .kind::<order::Order>()
        .kind::<order::v2::Order>()
        .subresource("ship", post(order::ship::ship))
        .subresource("summary", get(order::summary::summary))
        .subresource("log", text(order::log::log))
        .controller("orders", order::controller::run)
}
