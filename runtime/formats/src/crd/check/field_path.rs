//! Paths to fields that a schema declares, as selectable fields and rules name them: `.spec.color`, `.spec['a.b']`.
use super::super::{Additional, Fields};

/// The fields on the way, and the schema of the last one.
///
/// # Errors
/// Why it leads nowhere, in kube-apiserver's words.
pub(super) fn resolve<'d>(
    path: &str,
    root: Fields<'d>,
    takes_brackets: bool,
) -> Result<(Vec<String>, Fields<'d>), String> {
    let (mut names, mut schema) = (Vec::new(), root);
    let mut tokens = tokens(path).into_iter();
    while let Some(token) = tokens.next() {
        let name = match token {
            "[" if !takes_brackets => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let token = tokens.next().ok_or("unexpected end of JSON path")?;
                let quoted = token.strip_prefix('\'').and_then(|token| token.strip_suffix('\''));
                let quoted = quoted.ok_or_else(|| format!("expected single quoted string but got {token}"))?;
                match tokens.next() {
                    None => return Err("unexpected end of JSON path".to_owned()),
                    Some("]") => unescaped(quoted)?,
                    Some(other) => return Err(format!("expected ] but got {other}")),
                }
            }
            "." => tokens.next().ok_or("unexpected end of JSON path")?.to_owned(),
            other => return Err(format!("expected [ or . but got: {other}")),
        };
        let nowhere = "does not refer to a valid field";
        schema = match (schema.object("properties"), schema.additional()) {
            (Some(properties), _) => properties.object(&name).ok_or(nowhere)?,
            (None, Some(Additional::Schema(values))) => values,
            (None, _) => return Err(nowhere.to_owned()),
        };
        names.push(name);
    }
    Ok((names, schema))
}

/// A quoted name, with the escapes of Go.
fn unescaped(quoted: &str) -> Result<String, String> {
    let (mut name, mut chars) = (String::with_capacity(quoted.len()), quoted.chars());
    while let Some(char) = chars.next() {
        name.push(match char {
            '\\' => match chars.next() {
                Some('a') => '\u{7}',
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('v') => '\u{b}',
                Some(same @ ('\'' | '\\')) => same,
                other => {
                    let other = other.map_or_else(String::new, String::from);
                    return Err(format!("invalid string literal: invalid escape char \\{other}"));
                }
            },
            char => char,
        });
    }
    Ok(name)
}

/// Dots, brackets, quoted texts, and what is between them.
fn tokens(path: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (Vec::new(), path);
    while !rest.is_empty() {
        let end = if rest.starts_with(['.', '[', ']']) {
            1
        } else if let Some(quoted) = rest.strip_prefix('\'') {
            let end = quoted.match_indices('\'').find(|(at, _)| !quoted[..*at].ends_with('\\'));
            end.map_or(rest.len(), |(at, _)| at + 2)
        } else {
            rest.find(['.', '[', ']']).unwrap_or(rest.len())
        };
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after;
    }
    tokens
}
