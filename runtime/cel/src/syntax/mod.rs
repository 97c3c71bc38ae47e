//! Text to syntax tree: the parser and its macros. The grammar is that of cel-go.
//!
//! `ast` is the tree. (The rest of the order comes with the parser.)
use super::{Issues, Source};

pub mod ast;

/// The limits of a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most code points of an expression.
    pub code_points: usize,
    /// The deepest nesting, both of rules of the grammar and of nodes.
    pub recursion: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { code_points: 100_000, recursion: 250 }
    }
}

/// What a parser accepts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Optional syntax: `a.?b`, `a[?b]`, `[?a]`, `{?a: b}`.
    pub optional: bool,
    /// Names in backticks: `` a.`b-c` ``. cel-go's parser has them on by default, Kubernetes has not.
    pub escaped_identifiers: bool,
    /// Its limits.
    pub limits: Limits,
}

/// Parses an expression. Macros are expanded: a later table wins over an earlier one where both have a macro of the same name, number of
/// arguments and style.
///
/// # Errors
/// All errors of the syntax, in the words of cel-go (whose parser ANTLR generates).
pub fn parse(_source: &Source, _options: Options, _macros: &[&[Macro]]) -> Result<ast::Ast, Issues> {
    todo!()
}

/// A macro: a call that the parser replaces with other nodes.
#[derive(Debug)]
pub struct Macro {
    /// The name of the call.
    pub name: &'static str,
    /// The number of its arguments; any if none is given.
    pub arguments: Option<usize>,
    /// It is called on a receiver.
    pub member: bool,
    // + the expander, whose form the author of the parser chooses: a plain `fn`.
}
