//! What the derives make of declarations: the kind as data, serde's forms of the root, hooks.
mod conditions;
mod hooks;
mod unions;
mod widget;
