//! Tests of the parser. The tables have the facts of cel-go's `parser_test.go` in a form of their own.
use super::{
    BIND, BLOCK, MATH, Macro, OPTIONAL, Options, STANDARD, TWO_VARIABLES,
    ast::{Ast, Expr, ExprKind, Literal},
    parse_within, recovery,
};
use crate::{Issues, Source};

mod limits;

pub(super) const ALL: Options = Options {
    optional: true,
    escaped_identifiers: true,
    limits: super::Limits { code_points: 100_000, recursion: 250 },
};

const MACROS: [&[Macro]; 6] = [&STANDARD, &OPTIONAL, &TWO_VARIABLES, &BIND, &MATH, &BLOCK];

pub(super) fn parsed(text: &str, options: Options) -> Result<Ast, Issues> {
    super::parse(&Source::new(text), options, &MACROS)
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

/// What can begin an expression.
const EXPRESSION: &str = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, \
                          IDENTIFIER}";

/// The errors of a text with the limits of cel-go's tests.
fn errors(text: &str, options: Options) -> String {
    errors_within(text, options, recovery::Limits { recursion: 32, attempts: 4, skipped: 4, reports: 100 })
}

fn errors_within(text: &str, options: Options, limits: recovery::Limits) -> String {
    let options = Options { limits: super::Limits { recursion: limits.recursion, ..options.limits }, ..options };
    let source = Source::new(&text.replace('⏎', "\n").replace('⇥', "\t"));
    let Err(issues) = parse_within(&source, options, &MACROS, limits) else { return String::new() };
    let lines = issues.iter().map(|issue| {
        let (line, column) = issue.position(&source);
        format!("    {line}:{column}: {}\n", issue.message.replace(EXPRESSION, "{E}"))
    });
    lines.collect()
}

#[test]
fn errors_are_those_of_cel_go() {
    let mut wrong = Vec::new();
    let mut lines = include_str!("errors.txt").lines().peekable();
    while let Some(text) = lines.next() {
        let mut expected = String::new();
        while let Some(line) = lines.next_if(|line| line.starts_with("    ") && line.contains(": ")) {
            expected += line;
            expected.push('\n');
        }
        let found = errors(text, Options::default());
        if found != expected {
            wrong.push(format!("{text}\n{found}but expected\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn errors_depend_on_options_and_limits() {
    let escaped = Options { escaped_identifiers: true, ..Options::default() };
    for (text, expected) in [
        ("`b-c`", "    1:1: Syntax error: mismatched input '`b-c`' expecting {E}\n"),
        (
            "`b-c`()",
            "    1:1: Syntax error: extraneous input '`b-c`' expecting {E}\n    1:7: Syntax error: mismatched input ')' expecting {E}\n",
        ),
        (
            "a.`$b`",
            "    1:3: Syntax error: token recognition error at: '`$'\n    1:6: Syntax error: token recognition error at: '`'\n",
        ),
        ("a.`b.c`()", "    1:8: Syntax error: mismatched input '(' expecting <EOF>\n"),
    ] {
        assert_eq!(errors(text, escaped), expected, "{text}");
    }
    for (text, expected) in [
        (
            "x{?.",
            "    1:3: unsupported syntax '?'\n    1:4: Syntax error: mismatched input '.' expecting {IDENTIFIER, ESC_IDENTIFIER}\n",
        ),
        ("a().B{x:1}", "    1:6: Syntax error: mismatched input '{' expecting <EOF>\n"),
    ] {
        assert_eq!(errors_within(text, Options::default(), super::RECOVERY), expected, "{text}");
    }
    let few = recovery::Limits { reports: 2, ..super::RECOVERY };
    assert_eq!(
        errors_within("'3# < 10\" '& tru ^^", Options::default(), few),
        "    1:12: Syntax error: token recognition error at: '& '\n    1:18: Syntax error: token recognition error at: '^'\n    \
         1:19: Syntax error: More than 2 syntax errors\n"
    );
}
