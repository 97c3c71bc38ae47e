//! The type checker: a syntax tree becomes a checked expression.
//!
//! From the bottom: `substitution` compares types; `checker` walks over the tree, with `call` and `collection`.
mod call;
mod checker;
mod collection;
mod substitution;

use crate::{Checked, Env, Issues, Source, syntax::ast::Ast};

impl Checked {
    /// Checks a parsed expression.
    ///
    /// # Errors
    /// The errors of its types.
    pub(crate) fn check(env: &Env, source: &Source, ast: Ast) -> Result<Self, Issues> {
        checker::check(env, source, ast)
    }

    /// Applies the validators of the environment.
    ///
    /// # Errors
    /// What they find.
    pub(crate) fn validated(self) -> Result<Self, Issues> {
        let mut issues = Vec::new();
        for validator in &self.env.base.validators {
            validator(&self, &mut issues);
        }
        if issues.is_empty() { Ok(self) } else { Err(Issues::new(self.source, issues)) }
    }
}

impl Env {
    /// Parses and checks an expression.
    ///
    /// # Errors
    /// The errors of its syntax, or of its types, or of its literals.
    pub fn compile(&self, text: &str) -> Result<Checked, Issues> {
        let source = Source::new(text);
        let ast = self.parse_source(&source)?;
        Checked::check(self, &source, ast)?.validated()
    }
}

#[cfg(test)]
mod tests;
