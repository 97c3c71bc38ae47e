//! Validators: literals that functions will not accept, found when an expression is compiled.
use crate::{
    Checked, Issue, Type, Unmetered, Value,
    syntax::ast::{Expr, ExprKind, Literal},
};

/// Reports invalid durations: `duration("1 day")`.
pub(crate) fn duration(checked: &Checked, issues: &mut Vec<Issue>) {
    conversion(checked, "duration", issues);
}

/// Reports invalid timestamps: `timestamp("noon")`.
pub(crate) fn timestamp(checked: &Checked, issues: &mut Vec<Issue>) {
    conversion(checked, "timestamp", issues);
}

/// Reports invalid regular expressions: `name.matches("(")`. In the form `matches(name, "[a-z]+")` cel-go looks at the first argument,
/// too, although it is the text.
pub(crate) fn matches(checked: &Checked, issues: &mut Vec<Issue>) {
    let overload = checked.env.overload("matches", "matches_string");
    let Some(matches) = overload.and_then(|overload| overload.implementation.as_ref()) else { return };
    each_literal_argument(checked, "matches", &mut |_, argument, literal| {
        if matches(&[Value::from(""), Value::from(literal)], &Unmetered).is_err() {
            issues.push(Issue::new(argument.offset, "invalid matches argument"));
        }
    });
}

/// Reports elements, keys and values of list and map literals whose types differ from that of the first.
pub(crate) fn homogeneous_literals(checked: &Checked, issues: &mut Vec<Issue>) {
    let mut maps = Vec::new();
    each_node(&checked.ast.root, false, &mut |expr, is_exempt| match &expr.kind {
        _ if is_exempt => {}
        ExprKind::List(elements) => {
            let kinds =
                elements.iter().map(|element| (&element.value, inner_type(checked, &element.value, element.optional)));
            issues.extend(mismatches(kinds).next());
        }
        ExprKind::Map(entries) => {
            let keys = entries.iter().map(|entry| (&entry.key, checked.type_of(entry.key.id)));
            let values = entries.iter().map(|entry| (&entry.value, inner_type(checked, &entry.value, entry.optional)));
            maps.extend(mismatches(keys).chain(mismatches(values)));
        }
        _ => {}
    });
    issues.append(&mut maps);
}

/// Reports literals that the conversion to a type does not accept.
fn conversion(checked: &Checked, function: &'static str, issues: &mut Vec<Issue>) {
    each_literal_argument(checked, function, &mut |call, argument, literal| {
        let overload = checked.overloads(call.id, function).next();
        let Some(convert) = overload.and_then(|overload| overload.implementation.as_ref()) else { return };
        // The types allow `null` in place of a duration or timestamp, but no function accepts it.
        if matches!(literal, Literal::Null) || convert(&[Value::from(literal)], &Unmetered).is_err() {
            issues.push(Issue::new(argument.offset, format!("invalid {function} argument")));
        }
    });
}

/// Those whose type is not that of the first.
fn mismatches<'c>(kinds: impl Iterator<Item = (&'c Expr, &'c Type)>) -> impl Iterator<Item = Issue> {
    let mut kinds = kinds.peekable();
    let first = kinds.peek().map(|(_, kind)| *kind);
    kinds.filter_map(move |(expr, found)| {
        let expected = first.filter(|expected| *expected != found)?;
        Some(Issue::new(expr.offset, format!("expected type '{expected}' but found '{found}'")))
    })
}

/// The type of an element or entry; of an optional one, the type of the value inside.
fn inner_type<'c>(checked: &'c Checked, value: &Expr, optional: bool) -> &'c Type {
    let kind = checked.type_of(value.id);
    if optional { kind.unwrapped().unwrap_or(kind) } else { kind }
}

/// Visits each call of a function whose first argument is a literal: the call, the argument and the literal.
pub(crate) fn each_literal_argument(checked: &Checked, name: &str, visit: &mut dyn FnMut(&Expr, &Expr, &Literal)) {
    each_node(&checked.ast.root, false, &mut |expr, _| {
        if let ExprKind::Call { function, args, .. } = &expr.kind
            && **function == *name
            && let Some(argument @ Expr { kind: ExprKind::Literal(literal), .. }) = args.first()
        {
            visit(expr, argument, literal);
        }
    });
}

/// Visits each node after those below it, and tells if it is below a call whose literals may have types of all sorts.
pub(crate) fn each_node<'x>(expr: &'x Expr, is_exempt: bool, visit: &mut dyn FnMut(&'x Expr, bool)) {
    let exempts =
        matches!(&expr.kind, ExprKind::Call { function, .. } if matches!(&**function, "format" | "cel.@block"));
    let mut below = |part: &'x Expr| each_node(part, is_exempt || exempts, visit);
    match &expr.kind {
        ExprKind::Unspecified | ExprKind::Literal(_) | ExprKind::Ident(_) => {}
        ExprKind::Select { operand, .. } => below(operand),
        ExprKind::Call { target, args, .. } => target.as_deref().into_iter().chain(args).for_each(below),
        ExprKind::List(elements) => elements.iter().for_each(|element| below(&element.value)),
        ExprKind::Map(entries) => entries.iter().for_each(|entry| {
            below(&entry.key);
            below(&entry.value);
        }),
        ExprKind::Struct { fields, .. } => fields.iter().for_each(|field| below(&field.value)),
        ExprKind::Comprehension(comprehension) => {
            let parts = &**comprehension;
            [&parts.range, &parts.init, &parts.condition, &parts.step, &parts.result].into_iter().for_each(below);
        }
    }
    visit(expr, is_exempt);
}
