//! The rules of declarations. Each is a function `check_<rule>` that documents its reason and reports into the sink. A
//! declaration that passes becomes [`crate::model`]. Knows nothing of expansion.

pub(crate) mod bounds;
pub(crate) mod container;
pub(crate) mod conventions;
pub(crate) mod conversion;
pub(crate) mod default;
pub(crate) mod field;
pub(crate) mod generated;
pub(crate) mod lists;
pub(crate) mod lock;
pub(crate) mod message;
pub(crate) mod names;
pub(crate) mod paths;
pub(crate) mod resource;
pub(crate) mod rules;
pub(crate) mod types;
