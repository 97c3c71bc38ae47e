//! The type checker: a syntax tree becomes a checked expression.
use std::sync::Arc;

use crate::{
    Env, Issues, Source, Type,
    syntax::ast::{Ast, Literal, NodeId},
};

/// A checked expression: the tree with resolved names, and the type and reference of each node.
#[derive(Clone, Debug)]
pub struct Checked {
    pub(crate) source: Source,
    /// Names are complete: variables, functions in namespaces (whose receiver is gone).
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
    /// A constant.
    Constant(Literal),
    /// The overloads that fit a call.
    Overloads(Vec<Arc<str>>),
}

impl Checked {
    /// Checks a parsed expression.
    ///
    /// # Errors
    /// The errors of its types.
    pub(crate) fn check(_env: &Env, _source: &Source, _ast: Ast) -> Result<Self, Issues> {
        todo!()
    }

    /// The type of the result.
    pub fn result_type(&self) -> &Type {
        self.types[self.ast.root.id as usize].as_ref().unwrap_or(&Type::Dyn)
    }

    /// True if the expression refers to a variable of the environment (not of a loop).
    pub fn refers_to(&self, _variable: &str) -> bool {
        todo!()
    }
}
