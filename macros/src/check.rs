//! The rules. Each is a function `check_<rule>` with its reason, reports into the sink, and knows nothing of expansion.
//! What passes becomes [`crate::model`].

pub mod bounds;
pub mod container;
pub mod conversion;
pub mod default;
pub mod field;
pub mod lists;
pub mod message;
pub mod names;
pub mod paths;
pub mod resource;
pub mod types;
