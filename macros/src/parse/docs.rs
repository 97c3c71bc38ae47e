//! Converts doc comments to descriptions: the lines of a paragraph are joined, and paragraphs stay separate.
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The doc comment among attributes. If it is to be kept as it stands, only the space after `///` is dropped.
pub(crate) fn description(attributes: &[Attribute], verbatim: bool) -> String {
    if verbatim {
        let texts = attributes.iter().filter_map(text).map(|text| text.strip_prefix(' ').unwrap_or(&text).to_owned());
        return texts.collect::<Vec<_>>().join("\n");
    }
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

/// The doc comment of a field: its description, and that of its items, which is below the heading `# Items`.
pub(crate) fn with_items(attributes: &[Attribute], verbatim: bool) -> (String, String) {
    let text = description(attributes, verbatim);
    let split =
        text.strip_prefix("# Items\n\n").map(|items| ("", items)).or_else(|| text.split_once("\n\n# Items\n\n"));
    split.map_or_else(|| (text.clone(), String::new()), |(own, items)| (own.to_owned(), items.to_owned()))
}

fn line(attribute: &Attribute) -> Option<String> {
    // A blank doc line ends a paragraph, but `"".lines()` yields nothing.
    text(attribute).map(|text| if text.trim().is_empty() { "\n".to_owned() } else { text })
}

fn text(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value else { return None };
    pair.path.is_ident("doc").then(|| text.value())
}
