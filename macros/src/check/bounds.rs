//! Rules of bounds: each bound fits its type, and together they allow some value.
use crate::{
    diag::Errors,
    model::Bound,
    parse::{field::FieldArgs, types::Look},
};

/// The types that a bound applies to.
pub(crate) fn subject(bound: &str) -> &'static str {
    match bound {
        "min_length" | "max_length" | "pattern" => "text",
        "min_items" | "max_items" => "lists",
        "min_properties" | "max_properties" => "maps and structs",
        _ => "numbers",
    }
}

fn fits(bound: &str, look: Look<'_>) -> bool {
    match look {
        Look::Other => true,
        Look::Int(..) | Look::Float => subject(bound) == "numbers",
        Look::Text => subject(bound) == "text",
        Look::List(_) => subject(bound) == "lists",
        Look::Map(_) => subject(bound) == "maps and structs",
        Look::Bool => false,
    }
}

fn near(bound: &str, look: Look<'_>) -> String {
    let name = match (look, bound.contains("min")) {
        (Look::Int(..) | Look::Float, true) => "minimum",
        (Look::Int(..) | Look::Float, false) => "maximum",
        (Look::Text, true) => "min_length",
        (Look::Text, false) => "max_length",
        (Look::List(_), true) => "min_items",
        (Look::List(_), false) => "max_items",
        (Look::Map(_), true) => "min_properties",
        (Look::Map(_), false) => "max_properties",
        _ => return String::new(),
    };
    format!("; did you mean `{name}`?")
}

/// A bound that does not apply to the type would have no effect.
pub(crate) fn check_bound_fits(args: &FieldArgs, look: Look<'_>, errors: &Errors) {
    for bound in &args.bounds {
        if !fits(bound.name, look) {
            let (name, subject) = (bound.name, subject(bound.name));
            let message = format!("`{name}` applies to {subject}, but this is {}{}", look.called(), near(name, look));
            errors.at(bound.span, message);
        } else if matches!(look, Look::Int(..)) && !bound.number.whole {
            errors.at(bound.number.span, format!("`{}` of an integer must be an integer", bound.name));
        }
    }
    if let (Some(pattern), Look::Bool | Look::Int(..) | Look::Float | Look::List(_) | Look::Map(_)) =
        (&args.pattern, look)
    {
        let hint = if matches!(look, Look::List(_) | Look::Map(_)) {
            "; for its items, write `items(pattern = \"…\")`"
        } else {
            ""
        };
        errors.at(pattern.span(), format!("`pattern` applies to text, but this is {}{hint}", look.called()));
    }
}

/// A bound that the type cannot reach is a mistake in one of the two.
#[expect(clippy::cast_precision_loss, reason = "bounds are doubles on the wire, too")]
pub(crate) fn check_bound_in_range(args: &FieldArgs, look: Look<'_>, errors: &Errors) {
    let Look::Int(low, high) = look else { return };
    for bound in args.bounds.iter().filter(|b| fits(b.name, look)) {
        let value = bound.number.value;
        if value < low as f64 || value > high as f64 {
            let name = bound.name;
            errors.at(
                bound.number.span,
                format!("`{name}` is outside the range of the type, {low} to {high}; use `i64` for larger numbers"),
            );
        }
    }
}

/// With bounds that exclude every value, no object could be created.
pub(crate) fn check_bounds_leave_room(args: &FieldArgs, errors: &Errors) {
    let pairs = [
        ("minimum", "maximum"),
        ("exclusive_minimum", "maximum"),
        ("minimum", "exclusive_maximum"),
        ("exclusive_minimum", "exclusive_maximum"),
        ("min_length", "max_length"),
        ("min_items", "max_items"),
        ("min_properties", "max_properties"),
    ];
    for (low, high) in pairs {
        let (Some(least), Some(most)) = (args.bound(low), args.bound(high)) else { continue };
        let exclusive = low.starts_with("exclusive") || high.starts_with("exclusive");
        if least.number.value > most.number.value || (exclusive && least.number.value >= most.number.value) {
            errors.at(
                most.number.span,
                format!("`{high}` excludes every value, because of `{low} = {}`", least.number.value),
            );
        }
    }
    for (one, other) in [("minimum", "exclusive_minimum"), ("maximum", "exclusive_maximum")] {
        if let (Some(_), Some(second)) = (args.bound(one), args.bound(other)) {
            errors.at(second.span, format!("declare only one of `{one}` and `{other}`"));
        }
    }
    if let Some(bound) = args.bound("multiple_of").filter(|b| b.number.value <= 0.0) {
        errors.at(bound.number.span, "`multiple_of` must be greater than 0");
    }
}

/// An invalid pattern would match nothing. It is parsed with the parser of the server's regular expressions.
pub(crate) fn check_pattern(args: &FieldArgs, errors: &Errors) {
    let Some(pattern) = &args.pattern else { return };
    if pattern.value().is_empty() {
        errors.at(pattern.span(), "an empty pattern matches everything; leave it out");
    } else if let Err(error) = regex_syntax::Parser::new().parse(&pattern.value()) {
        errors.at(pattern.span(), format!("the pattern is not a valid regular expression: {}", reason(&error)));
    }
}

/// The error without the parser's picture of its position, which does not fit a token.
fn reason(error: &regex_syntax::Error) -> String {
    use regex_syntax::ast::ErrorKind;
    match error {
        regex_syntax::Error::Parse(error) => match error.kind() {
            kind @ (ErrorKind::UnsupportedLookAround | ErrorKind::UnsupportedBackreference) => {
                format!("{kind}, because patterns are matched in linear time; use the `validate` hook instead")
            }
            kind => kind.to_string(),
        },
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        other => other.to_string(),
    }
}

/// The bounds of the model.
pub(crate) fn of(args: &FieldArgs) -> Vec<Bound> {
    args.bounds.iter().map(|given| Bound { name: given.name, value: given.number.value, span: given.span }).collect()
}
