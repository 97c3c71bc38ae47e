//! `bindings`: `cel.bind`, and the blocks that optimizers make. Kubernetes does not have it.
use crate::{Function, Library, Type, syntax};

/// Version 1.
pub static BINDINGS: Library =
    Library { name: "cel.lib.ext.cel.bindings", functions, macros: &syntax::BIND, types: Vec::new, validators: &[] };

/// The evaluator itself knows what a block does: its slots are variables, each computed when it is needed, at most once.
fn functions() -> Vec<Function> {
    let result = Type::parameter("T");
    vec![Function::new("cel.@block").global("cel_block_list", &[Type::list(Type::Dyn), result.clone()], result)]
}
