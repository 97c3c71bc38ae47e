//! The path of a rule's `fieldPath`: names and quoted names, relative to the rule's node.
use crate::schema::At;

/// The field of a whole object that schemas do not declare.
const METADATA: &str = "metadata";

/// The path as errors print it: `a.b`, `labels[x]`. `None` if it is invalid, or leads to no field. `is_object` says that the node is a
/// whole object, with metadata.
pub fn normalized(at: At<'_>, is_object: bool, path: &str) -> Option<String> {
    let mut place = Place::Schema(at);
    let mut text = String::new();
    let mut rest = path;
    let mut is_root = is_object;
    while !rest.is_empty() {
        let (name, after) = step(rest)?;
        let is_key = place.is_map();
        place = if is_root && name == METADATA { Place::Metadata } else { place.below(&name)? };
        is_root = false;
        if is_key {
            text = format!("{text}[{name}]");
        } else if text.is_empty() {
            text = name;
        } else {
            text = format!("{text}.{name}");
        }
        rest = after;
    }
    Some(text)
}

#[derive(Clone, Copy)]
enum Place<'s> {
    Schema(At<'s>),
    Metadata,
    Name,
}

impl<'s> Place<'s> {
    fn is_map(self) -> bool {
        matches!(self, Self::Schema(at) if at.children().properties.is_empty() && at.entry().is_some())
    }

    fn below(self, name: &str) -> Option<Place<'s>> {
        match self {
            Self::Schema(at) if self.is_map() => at.entry().filter(|entry| entry.boolean.is_none()).map(Place::Schema),
            Self::Schema(at) => at.property(name).map(Place::Schema),
            Self::Metadata => matches!(name, "name" | "generateName").then_some(Place::Name),
            Self::Name => None,
        }
    }
}

/// The name of the first step, and the rest.
fn step(path: &str) -> Option<(String, &str)> {
    if let Some(rest) = path.strip_prefix('.') {
        let end = end_of_name(rest)?;
        return Some((rest[..end].to_owned(), &rest[end..]));
    }
    let quoted = path.strip_prefix("['")?;
    let (mut name, mut chars) = (String::new(), quoted.char_indices());
    while let Some((at, char)) = chars.next() {
        match char {
            '\'' => return Some((name, quoted[at + 1..].strip_prefix(']')?)),
            '\\' => name.push(unescaped(chars.next()?.1)?),
            other => name.push(other),
        }
    }
    None
}

/// A name ends before `.`, `[` or `]`; one that begins with a quote ends with it.
fn end_of_name(rest: &str) -> Option<usize> {
    match rest.chars().next()? {
        '.' | '[' | ']' => Some(1),
        '\'' => {
            rest.match_indices('\'').skip(1).map(|(at, _)| at).find(|at| !rest[..*at].ends_with('\\')).map(|at| at + 1)
        }
        _ => Some(rest.find(['.', '[', ']']).unwrap_or(rest.len())),
    }
}

fn unescaped(char: char) -> Option<char> {
    Some(match char {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\'' | '\\' => char,
        _ => return None,
    })
}
