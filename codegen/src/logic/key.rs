//! The text by which equal expressions are known.
use kindsmith_cel::syntax::ast::{Expr, ExprKind, operators};

use super::values::Comparison;

/// The text of an expression within loops that have these variables. Variables count by their depth, operators are written in one of
/// the ways that mean the same, and the operands of `&&`, `||` and `==` are sorted.
pub(super) fn of(expr: &Expr, variables: &[&str]) -> String {
    match &expr.kind {
        ExprKind::Unspecified => "?".to_owned(),
        ExprKind::Literal(literal) => format!("{literal:?}"),
        ExprKind::Ident(name) => match variables.iter().rposition(|variable| *variable == &**name) {
            Some(depth) => format!("${depth}"),
            None => name.to_string(),
        },
        ExprKind::Select { operand, field, test_only } => {
            let has = if *test_only { "?" } else { "" };
            format!("{}.{field}{has}", of(operand, variables))
        }
        ExprKind::Call { .. } => of_call(expr, variables),
        ExprKind::List(elements) => {
            let all = elements.iter().map(|element| (element.optional, of(&element.value, variables)));
            format!("{:?}", all.collect::<Vec<_>>())
        }
        ExprKind::Map(entries) => {
            let all =
                entries.iter().map(|entry| (entry.optional, of(&entry.key, variables), of(&entry.value, variables)));
            format!("{{{:?}}}", all.collect::<Vec<_>>())
        }
        ExprKind::Struct { name, fields } => {
            let all = fields.iter().map(|field| (field.optional, &field.name, of(&field.value, variables)));
            format!("{name}{:?}", all.collect::<Vec<_>>())
        }
        ExprKind::Comprehension(parts) => {
            let inside = inside(variables, &parts.variable, parts.second.as_deref());
            let range = of(&parts.range, variables);
            let others = [&parts.init, &parts.condition, &parts.step, &parts.result].map(|part| of(part, &inside));
            format!("loop{}({range} {})", inside.len() - variables.len(), others.join(" "))
        }
    }
}

/// The variables in a loop.
pub(super) fn inside<'v>(around: &[&'v str], variable: &'v str, second: Option<&'v str>) -> Vec<&'v str> {
    around.iter().copied().chain([variable]).chain(second).collect()
}

fn of_call(expr: &Expr, variables: &[&str]) -> String {
    if let Some((comparison, one, other, is_negated)) = comparison(expr) {
        let text = of_comparison(comparison, one, other, variables);
        return if is_negated { negated(&text) } else { text };
    }
    let ExprKind::Call { target, function, args } = &expr.kind else { return String::new() };
    match (&**function, args.as_slice()) {
        (operators::NOT, [operand]) => negated(&of(operand, variables)),
        (operators::AND | operators::OR, _) => {
            let mut all: Vec<_> = operands(expr, function).iter().map(|operand| of(operand, variables)).collect();
            all.sort_unstable();
            all.dedup();
            format!("({function} {})", all.join(" "))
        }
        _ => {
            // `size(a)` and `a.size()` are the same.
            let is_size = &**function == "size";
            let name = if target.is_some() && !is_size { format!(".{function}") } else { function.to_string() };
            let all = target.as_deref().into_iter().chain(args).map(|operand| of(operand, variables));
            format!("({name} {})", all.collect::<Vec<_>>().join(" "))
        }
    }
}

fn negated(text: &str) -> String {
    match text.strip_prefix("(! ").and_then(|text| text.strip_suffix(')')) {
        Some(text) => text.to_owned(),
        None => format!("(! {text})"),
    }
}

/// The text of a comparison.
pub(super) fn of_comparison(comparison: Comparison, one: &Expr, other: &Expr, variables: &[&str]) -> String {
    between(comparison, &of(one, variables), &of(other, variables))
}

/// The key of a comparison of two keys.
pub(super) fn between(comparison: Comparison, one: &str, other: &str) -> String {
    let (one, other) = if comparison == Comparison::Equals && other < one { (other, one) } else { (one, other) };
    format!("({comparison:?} {one} {other})")
}

/// The comparison that an expression is, its operands, and whether it is negated.
pub(super) fn comparison(expr: &Expr) -> Option<(Comparison, &Expr, &Expr, bool)> {
    let ExprKind::Call { function, args, .. } = &expr.kind else { return None };
    let [one, other] = args.as_slice() else { return None };
    Some(match &**function {
        operators::EQUALS => (Comparison::Equals, one, other, false),
        operators::NOT_EQUALS => (Comparison::Equals, one, other, true),
        operators::LESS => (Comparison::Less, one, other, false),
        operators::LESS_EQUALS => (Comparison::LessEquals, one, other, false),
        operators::GREATER => (Comparison::Less, other, one, false),
        operators::GREATER_EQUALS => (Comparison::LessEquals, other, one, false),
        _ => return None,
    })
}

/// The operands of a chain of one operator.
pub(super) fn operands<'e>(expr: &'e Expr, operator: &str) -> Vec<&'e Expr> {
    match &expr.kind {
        ExprKind::Call { function, args, .. } if **function == *operator => {
            args.iter().flat_map(|operand| operands(operand, operator)).collect()
        }
        _ => vec![expr],
    }
}

/// True if an expression refers to a variable, and no loop in it has one of this name.
pub(super) fn mentions(expr: &Expr, variable: &str) -> bool {
    let is_in = |expr: &Expr| mentions(expr, variable);
    match &expr.kind {
        ExprKind::Unspecified | ExprKind::Literal(_) => false,
        ExprKind::Ident(name) => **name == *variable,
        ExprKind::Select { operand, .. } => is_in(operand),
        ExprKind::Call { target, args, .. } => target.as_deref().is_some_and(is_in) || args.iter().any(is_in),
        ExprKind::List(elements) => elements.iter().any(|element| is_in(&element.value)),
        ExprKind::Map(entries) => entries.iter().any(|entry| is_in(&entry.key) || is_in(&entry.value)),
        ExprKind::Struct { fields, .. } => fields.iter().any(|field| is_in(&field.value)),
        ExprKind::Comprehension(parts) => {
            let hides = *parts.variable == *variable || parts.second.as_deref() == Some(variable);
            let inside = [&parts.init, &parts.condition, &parts.step, &parts.result];
            is_in(&parts.range) || !hides && inside.into_iter().any(is_in)
        }
    }
}
