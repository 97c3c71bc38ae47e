//! Tests of the parser. The tables have the facts of cel-go's `parser_test.go` in a form of their own.
use super::{
    BIND, BLOCK, MATH, OPTIONAL, Options, STANDARD, TWO_VARIABLES,
    ast::{Ast, Expr, ExprKind, Literal},
    parse,
};
use crate::{Issues, Source};

pub(super) const ALL: Options = Options {
    optional: true,
    escaped_identifiers: true,
    limits: super::Limits { code_points: 100_000, recursion: 250 },
};

pub(super) fn parsed(text: &str, options: Options) -> Result<Ast, Issues> {
    parse(&Source::new(text), options, &[&STANDARD, &OPTIONAL, &TWO_VARIABLES, &BIND, &MATH, &BLOCK])
}

/// A tree as text: each node with its id.
pub(super) fn print(expr: &Expr) -> String {
    let join = |parts: Vec<String>| parts.join(", ");
    let question = |optional: bool| if optional { "?" } else { "" };
    let text = match &expr.kind {
        ExprKind::Unspecified => "unspecified".to_owned(),
        ExprKind::Literal(literal) => match literal {
            Literal::Null => "null".to_owned(),
            Literal::Bool(value) => value.to_string(),
            Literal::Int(value) => value.to_string(),
            Literal::Uint(value) => format!("{value}u"),
            Literal::Double(value) => value.to_string(),
            Literal::String(value) => format!("{value:?}"),
            Literal::Bytes(value) => format!("b\"{}\"", value.escape_ascii()),
        },
        ExprKind::Ident(name) => name.to_string(),
        ExprKind::Select { operand, field, test_only } => {
            format!("{}.{field}{}", print(operand), if *test_only { "~" } else { "" })
        }
        ExprKind::Call { target, function, args } => {
            let target = target.as_ref().map_or_else(String::new, |target| print(target) + ".");
            format!("{target}{function}({})", join(args.iter().map(print).collect()))
        }
        ExprKind::List(elements) => {
            let elements =
                elements.iter().map(|element| question(element.optional).to_owned() + &print(&element.value));
            format!("[{}]", join(elements.collect()))
        }
        ExprKind::Map(entries) => {
            let entries = entries.iter().map(|entry| {
                let (key, value) = (print(&entry.key), print(&entry.value));
                format!("{}{key}:{value}#{}", question(entry.optional), entry.id)
            });
            format!("{{{}}}", join(entries.collect()))
        }
        ExprKind::Struct { name, fields } => {
            let fields = fields.iter().map(|field| {
                format!("{}{}:{}#{}", question(field.optional), field.name, print(&field.value), field.id)
            });
            format!("{name}{{{}}}", join(fields.collect()))
        }
        ExprKind::Comprehension(fold) => {
            let mut parts = vec![fold.variable.to_string()];
            parts.extend(fold.second.iter().map(ToString::to_string));
            parts.extend([print(&fold.range), fold.accumulator.to_string()]);
            parts.extend([&fold.init, &fold.condition, &fold.step, &fold.result].map(print));
            format!("fold({})", join(parts))
        }
    };
    format!("{text}#{}", expr.id)
}

#[test]
fn expressions_have_the_trees_and_ids_of_cel_go() {
    let table = include_str!("trees.txt");
    let mut lines = table.lines();
    let mut wrong = Vec::new();
    while let (Some(text), Some(tree)) = (lines.next(), lines.next()) {
        let found = parsed(text, ALL).map_or_else(|issues| issues.to_string(), |ast| print(&ast.root));
        if found != tree.trim_start() {
            wrong.push(format!("{text}\n    {found}\n{tree}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
