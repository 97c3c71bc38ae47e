//! Text to syntax tree: the parser and its macros. The grammar is that of cel-go.
//!
//! In order: `token` and `lexer` cut the text, `parser` makes a `tree` of the grammar, `builder` makes the nodes of [`ast`], with `literal`
//! for the values of literals and `macros` for what macros expand to. Texts with syntax errors go through `recovery`.
use super::{Issue, Issues, Source};

pub mod ast;
mod builder;
mod lexer;
mod literal;
mod macros;
mod parser;
mod recovery;
#[cfg(test)]
mod tests;
mod token;
mod tree;

pub use self::builder::is_reserved;
pub use self::macros::{BIND, BLOCK, MATH, OPTIONAL, SORT_BY, STANDARD, TWO_VARIABLES};

/// The limits of a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most code points of an expression.
    pub code_points: usize,
    /// The deepest nesting, both of rules of the grammar and of nodes; [`Limits::DEEPEST`] at most.
    pub recursion: usize,
}

impl Limits {
    /// The deepest nesting of an expression in Kubernetes. The stack of a thread suffices for it.
    pub const DEEPEST: usize = 250;

    /// The limits of cel-go, and of Kubernetes.
    pub const KUBERNETES: Self = Self { code_points: 100_000, recursion: Self::DEEPEST };
}

impl Default for Limits {
    fn default() -> Self {
        Self::KUBERNETES
    }
}

/// The limits of cel-go's parser for texts with errors.
const RECOVERY: recovery::Limits =
    recovery::Limits { recursion: Limits::DEEPEST, attempts: 30, skipped: 256, reports: 100 };

/// What a parser accepts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Optional syntax: `a.?b`, `a[?b]`, `[?a]`, `{?a: b}`.
    pub optional: bool,
    /// Names in backticks: `` a.`b-c` ``. Kubernetes has them off.
    pub escaped_identifiers: bool,
    /// Its limits.
    pub limits: Limits,
}

/// Parses an expression. Macros are expanded: a later table wins over an earlier one where both have a macro of the same name, number of
/// arguments and style.
///
/// # Errors
/// All errors of the syntax, in the words of cel-go (whose parser ANTLR generates).
pub fn parse(source: &Source, options: Options, macros: &[&[Macro]]) -> Result<ast::Ast, Issues> {
    let limits = Limits { recursion: options.limits.recursion.min(Limits::DEEPEST), ..options.limits };
    let recovery = recovery::Limits { recursion: limits.recursion, ..RECOVERY };
    parse_within(source, Options { limits, ..options }, macros, recovery)
}

fn parse_within(
    source: &Source,
    options: Options,
    macros: &[&[Macro]],
    limits: recovery::Limits,
) -> Result<ast::Ast, Issues> {
    let text = source.text();
    let limit = options.limits.code_points;
    if text.len() > limit && text.chars().count() > limit {
        let size = text.chars().count();
        let message = format!("expression code point size exceeds limit: size: {size}, limit {limit}");
        return Err(Issues::new(source.clone(), vec![Issue::without_offset(message)]));
    }
    let (tree, root, mut issues) = if let Ok((tree, root)) = parser::parse(text, options.limits.recursion) {
        (tree, Some(root), Vec::new())
    } else {
        let recovered = recovery::parse(text, limits);
        (recovered.tree, recovered.root, recovered.issues)
    };
    let Some(root) = root else { return Err(Issues::new(source.clone(), issues)) };
    let mut builder = builder::Builder::new(text, &tree, options, macros);
    let built = builder.build(root);
    let (ids, found) = builder.finish();
    issues.extend(found);
    match built {
        Ok(root) if issues.is_empty() => return Ok(ast::Ast { root, ids }),
        Ok(_) => {}
        Err(builder::TooDeep) => issues.push(Issue::without_offset("max recursion depth exceeded")),
    }
    Err(Issues::new(source.clone(), issues))
}

/// Parses a rule with the syntax and the macros of Kubernetes' newest version, of which names and types are not known yet.
///
/// # Errors
/// As [`parse`].
pub fn parse_rule(source: &Source) -> Result<ast::Ast, Issues> {
    let options = Options { optional: true, ..Options::default() };
    parse(source, options, &[&STANDARD, &OPTIONAL, &TWO_VARIABLES, &SORT_BY])
}

/// A macro: a call that the parser replaces with other nodes.
#[derive(Debug)]
pub struct Macro {
    /// The name of the call.
    pub name: &'static str,
    /// The number of its arguments; any if none is given.
    pub arguments: Option<usize>,
    /// The receiver of the call.
    pub receiver: Receiver,
    expand: macros::Expand,
}

/// The receiver of a macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// Nothing: `has(a.b)`.
    None,
    /// Any expression: `a.all(b, c)`.
    Any,
    /// The identifier with this name: `cel.bind(a, b, c)`. With another receiver the call is not of the macro.
    Namespace(&'static str),
}

impl Macro {
    const fn function(name: &'static str, arguments: usize, expand: macros::Expand) -> Self {
        Self { name, arguments: Some(arguments), receiver: Receiver::None, expand }
    }

    const fn member(name: &'static str, arguments: usize, expand: macros::Expand) -> Self {
        Self { name, arguments: Some(arguments), receiver: Receiver::Any, expand }
    }

    const fn namespace(
        namespace: &'static str,
        name: &'static str,
        arguments: Option<usize>,
        expand: macros::Expand,
    ) -> Self {
        Self { name, arguments, receiver: Receiver::Namespace(namespace), expand }
    }
}
