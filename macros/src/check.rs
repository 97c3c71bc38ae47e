//! The rules of declarations. Each is a function `check_<rule>` that documents its reason and reports into the sink. A
//! declaration that passes becomes [`crate::model`]. Knows nothing of expansion.

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
