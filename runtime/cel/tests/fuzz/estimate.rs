//! The estimated cost against the cost.
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use kindsmith_cel::{
    Checked, Reference, Type,
    syntax::ast::{Expr, ExprKind, operators},
};

use crate::{schema::Measured, setup::Documents};

/// How many costs were compared.
pub(crate) static CHECKED: AtomicUsize = AtomicUsize::new(0);

/// True for a kind of expressions.
type Exception = fn(&Checked, &Expr) -> bool;

/// The places where cel-go's estimate is below the cost, or can be.
const EXCEPTIONS: [(&str, Exception); 10] = [
    ("the text that is searched counts, but the estimate has the other one", |_, expr| {
        is_call(expr, &["startsWith", "endsWith"])
    }),
    ("visits of all parts count the bytes of texts, but the estimate has their characters", |_, expr| {
        is_call(expr, &["indexOf", "lastIndexOf", "isSorted", "sum", "min", "max"])
    }),
    ("an empty pattern or text is not free", |_, expr| {
        is_call(expr, &["regex.replace", "regex.extract", "regex.extractAll"])
    }),
    ("an empty text may have a match, and any text one more than it has characters", |_, expr| {
        is_call(expr, &["findAll"])
    }),
    ("a text has one part more than separators, and an empty text has one part", |_, expr| is_call(expr, &["split"])),
    ("a flat list may be longer than the list of lists", |_, expr| is_call(expr, &["flatten"])),
    ("the patterns of some formats are longer than the estimate takes them for", |_, expr| {
        is_call(expr, &["validate"])
    }),
    ("a selection or an index of a computed value costs 1 more", |_, expr| {
        selected(expr).is_some_and(|operand| selected(operand).is_none() && !matches!(operand.kind, ExprKind::Ident(_)))
    }),
    ("selections of values whose types are not known are free in the estimate", |checked, expr| {
        selected(expr).is_some_and(|operand| {
            !matches!(checked.type_of(operand.id), Type::List(_) | Type::Map(..) | Type::Struct(_))
        })
    }),
    (
        "calls whose overload is not known are free in the estimate, with their arguments",
        |checked, expr| matches!(checked.reference(expr.id), Some(Reference::Overloads(ids)) if ids.len() != 1),
    ),
];

fn is_call(expr: &Expr, names: &[&str]) -> bool {
    matches!(&expr.kind, ExprKind::Call { function, .. } if names.contains(&&**function))
}

/// The operand of a selection or an index.
fn selected(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Select { operand, .. } => Some(operand),
        ExprKind::Call { args, .. }
            if is_call(expr, &[operators::INDEX, operators::OPTIONAL_INDEX, operators::OPTIONAL_SELECT]) =>
        {
            args.first()
        }
        _ => None,
    }
}

/// # Panics
/// The cost is above its estimate.
pub(crate) fn check(checked: &Checked, documents: &Documents, cost: u64, text: &str) {
    let mut excepted = false;
    visit(&checked.ast().root, &mut |expr| {
        excepted |= EXCEPTIONS.iter().any(|(_, applies)| applies(checked, expr));
    });
    if excepted {
        return;
    }
    CHECKED.fetch_add(1, Relaxed);
    let estimate = checked.estimate(&Measured { most: documents.most() });
    assert!(cost <= estimate.max, "{cost} is more than {estimate:?}: {text}");
}

/// Visits all nodes.
fn visit<'e>(expr: &'e Expr, each: &mut impl FnMut(&'e Expr)) {
    each(expr);
    let parts: Vec<&Expr> = match &expr.kind {
        ExprKind::Unspecified | ExprKind::Literal(_) | ExprKind::Ident(_) => Vec::new(),
        ExprKind::Select { operand, .. } => vec![operand],
        ExprKind::Call { target, args, .. } => target.as_deref().into_iter().chain(args).collect(),
        ExprKind::List(elements) => elements.iter().map(|element| &element.value).collect(),
        ExprKind::Map(entries) => entries.iter().flat_map(|entry| [&entry.key, &entry.value]).collect(),
        ExprKind::Struct { fields, .. } => fields.iter().map(|field| &field.value).collect(),
        ExprKind::Comprehension(own) => vec![&own.range, &own.init, &own.condition, &own.step, &own.result],
    };
    for part in parts {
        visit(part, each);
    }
}
