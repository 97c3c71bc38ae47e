//! A checked expression, as the checker makes it.
use std::sync::Arc;

use super::{Env, Overload};
use crate::{
    Source, Type,
    syntax::ast::{Ast, NodeId},
};

/// A checked expression: the tree with resolved names, and the type and reference of each node.
#[derive(Clone, Debug)]
pub struct Checked {
    pub(crate) source: Source,
    /// Names are complete: variables, functions in namespaces (whose receiver is gone). A variable that a loop's variable hides has a dot
    /// before its name.
    pub(crate) ast: Ast,
    pub(crate) env: Env,
    /// By id of the node.
    pub(crate) types: Vec<Option<Type>>,
    /// By id of the node.
    pub(crate) references: Vec<Option<Reference>>,
}

/// What a name or a call refers to.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// A variable or type.
    Name(Arc<str>),
    /// The overloads that fit a call.
    Overloads(Vec<Arc<str>>),
}

impl Checked {
    /// The tree, with complete names.
    pub const fn ast(&self) -> &Ast {
        &self.ast
    }

    /// The type of the result.
    pub fn result_type(&self) -> &Type {
        self.type_of(self.ast.root.id)
    }

    /// The type of a node.
    pub fn type_of(&self, node: NodeId) -> &Type {
        self.types.get(node as usize).and_then(Option::as_ref).unwrap_or(&Type::Dyn)
    }

    /// What a node refers to.
    pub fn reference(&self, node: NodeId) -> Option<&Reference> {
        self.references.get(node as usize).and_then(Option::as_ref)
    }

    /// The ids of the overloads that fit a call. There is one if the types of its arguments are known.
    pub(crate) fn overload_ids(&self, call: NodeId) -> &[Arc<str>] {
        match self.reference(call) {
            Some(Reference::Overloads(ids)) => ids,
            _ => &[],
        }
    }

    /// The overloads that fit a call of a function.
    pub(crate) fn overloads<'c>(&'c self, call: NodeId, function: &str) -> impl Iterator<Item = &'c Overload> {
        let function = self.env.function(function);
        self.overload_ids(call).iter().filter_map(move |id| function?.with_id(id))
    }

    /// True if a name in the expression is that of a variable. As in Kubernetes, the name of a loop's variable counts, too.
    pub fn refers_to(&self, variable: &str) -> bool {
        let is_variable =
            |name: &Arc<str>| **name == *variable || name.strip_prefix('.').is_some_and(|name| name == variable);
        self.references.iter().any(|reference| matches!(reference, Some(Reference::Name(name)) if is_variable(name)))
    }
}
