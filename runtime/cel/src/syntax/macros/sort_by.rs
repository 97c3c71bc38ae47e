//! `sortBy`.
use super::{parts, standard::map};
use crate::{
    Issue,
    syntax::{Macro, ast::ExprKind},
};

/// The list, as the expansion names it.
const INPUT: &str = "@__sortBy_input__";

/// `list.sortBy(variable, key)`
pub static SORT_BY: [Macro; 1] = [Macro::member("sortBy", 2, |expander, target, args| {
    let (list, [variable, key]) = parts(target, args);
    let sortable = matches!(
        list.kind,
        ExprKind::List(_)
            | ExprKind::Select { .. }
            | ExprKind::Ident(_)
            | ExprKind::Comprehension(_)
            | ExprKind::Call { .. }
    );
    if !sortable {
        let message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
        return Err(Issue::new(list.offset, message));
    }
    let input = expander.ident(INPUT);
    let keys = map(expander, Some(input), vec![variable, key])?;
    let input = expander.ident(INPUT);
    let result = expander.member_call("@sortByAssociatedKeys", input, vec![keys]);
    Ok(expander.binding(INPUT, |_| list, result))
})];
