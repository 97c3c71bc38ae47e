//! Tests of the derives' results: the kind as data, serde's form of the root, and hooks.
mod allowed;
mod conditions;
mod declared;
mod hooks;
mod locks;
mod rules;
mod unions;
#[path = "../../runtime/model/src/widget.rs"]
mod widget;
