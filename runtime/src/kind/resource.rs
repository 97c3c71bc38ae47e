//! The trait that `#[derive(Resource)]` implements.
use super::Kind;

/// A kind declared in Rust.
pub trait Resource: crate::ApiType {
    /// The model of the kind.
    fn kind() -> Kind;
}
