//! Converts doc comments to descriptions: the lines of a paragraph are joined, and paragraphs stay separate.
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The doc comment among attributes.
pub(crate) fn description(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(line).collect::<Vec<_>>();
    let mut text = String::new();
    for line in lines.iter().flat_map(|text| text.lines()).map(str::trim) {
        if line.is_empty() {
            if !text.is_empty() && !text.ends_with("\n\n") {
                text.push_str("\n\n");
            }
            continue;
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push(' ');
        }
        text.push_str(line);
    }
    text.truncate(text.trim_end().len());
    text
}

fn line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value else { return None };
    // A blank doc line ends a paragraph, but `"".lines()` yields nothing.
    pair.path.is_ident("doc").then(|| if text.value().trim().is_empty() { "\n".to_owned() } else { text.value() })
}
