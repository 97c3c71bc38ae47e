//! Paths to fields, as rules (`fieldPath`) and selectable fields name them: `.spec.color`, `.labels['a.b']`.
use crate::schema::At;

/// The steps of a path, or kube-apiserver's error for an invalid one.
pub fn steps(path: &str, takes_brackets: bool) -> impl Iterator<Item = Result<String, String>> {
    let mut tokens = tokens(path).into_iter();
    std::iter::from_fn(move || {
        let first = tokens.next()?;
        Some(step(first, &mut tokens, takes_brackets))
    })
}

fn step<'p>(first: &str, rest: &mut impl Iterator<Item = &'p str>, takes_brackets: bool) -> Result<String, String> {
    match first {
        "[" if !takes_brackets => Err("array notation is not allowed".to_owned()),
        "[" => {
            let token = rest.next().ok_or("unexpected end of JSON path")?;
            let quoted = token.strip_prefix('\'').and_then(|token| token.strip_suffix('\''));
            let quoted = quoted.ok_or_else(|| format!("expected single quoted string but got {token}"))?;
            match rest.next() {
                None => Err("unexpected end of JSON path".to_owned()),
                Some("]") => unescaped(quoted),
                Some(other) => Err(format!("expected ] but got {other}")),
            }
        }
        "." => Ok(rest.next().ok_or("unexpected end of JSON path")?.to_owned()),
        other => Err(format!("expected [ or . but got: {other}")),
    }
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

/// The path as errors print it: `a.b`, `labels[x]`. `None` if it is invalid, or leads to no field. `is_object` says that the node is a
/// whole object, with a type and metadata.
pub fn normalized(at: At<'_>, is_object: bool, path: &str) -> Option<String> {
    let mut place = if is_object { Place::Object(at) } else { Place::Schema(at) };
    let mut text = String::new();
    for name in steps(path, true) {
        let name = name.ok()?;
        let is_key = place.is_map();
        place = place.below(&name)?;
        if is_key {
            text = format!("{text}[{name}]");
        } else if text.is_empty() {
            text = name;
        } else {
            text = format!("{text}.{name}");
        }
    }
    Some(text)
}

#[derive(Clone, Copy)]
enum Place<'s> {
    /// A whole object. Schemas need not declare its type and metadata.
    Object(At<'s>),
    Schema(At<'s>),
    Metadata,
    /// Nothing is below it.
    Leaf,
}

impl<'s> Place<'s> {
    fn is_map(self) -> bool {
        matches!(self, Self::Schema(at) if at.children().properties.is_empty() && at.entry().is_some())
    }

    fn below(self, name: &str) -> Option<Place<'s>> {
        match self {
            Self::Schema(at) if self.is_map() => {
                let entry = at.entry()?;
                Some(if entry.boolean.is_some() { Self::Leaf } else { Self::Schema(entry) })
            }
            Self::Schema(at) => at.property(name).map(Self::Schema),
            Self::Object(at) => at.property(name).map(Self::Schema).or(match name {
                "metadata" => Some(Self::Metadata),
                "apiVersion" | "kind" => Some(Self::Leaf),
                _ => None,
            }),
            Self::Metadata => matches!(name, "name" | "generateName").then_some(Self::Leaf),
            Self::Leaf => None,
        }
    }
}
