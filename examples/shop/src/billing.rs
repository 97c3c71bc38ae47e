//! The group `billing.example.com`.

use kindsmith::server::Builder;

pub mod invoice;

/// The name of the group.
pub const GROUP: &str = "billing.example.com";

/// Adds the kinds of the group to a server.
pub fn serve(server: Builder) -> Builder {
    server
        .kind::<invoice::Invoice>()
        .kind::<invoice::v1beta1::Invoice>()
}
