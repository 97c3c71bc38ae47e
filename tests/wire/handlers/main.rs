//! The user's own handlers on the wire: virtual kinds, subresources, streams, connections.

mod kinds;
mod virtual_kinds;
