//! The user's handlers over the wire: virtual kinds, subresources, streams, connections.

mod access;
mod actions;
mod kinds;
mod pod;
mod sessions;
mod socket;
mod texts;
mod virtual_kinds;
mod watches;
