//! The types of this crate as Protobuf messages in Rust, and the fields of messages.

mod containers;
mod field;
mod meta;
mod values;

pub use crate::message_field;
pub use field::{Field, merge_named, merge_nested, nested, nested_length, write_nested};
pub use prost;
pub use values::{no_value, read_text, text_length, write_text};
