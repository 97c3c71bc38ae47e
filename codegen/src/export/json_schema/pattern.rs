//! Patterns of Go (RE2), in which definitions are written, as patterns of JavaScript, in which JSON Schema is. Editors compile them
//! with the flag `u`, which refuses escapes and braces without a meaning.

/// The classes that RE2 has by name, within brackets.
const POSIX: [(&str, &str); 12] = [
    ("[:alnum:]", "0-9A-Za-z"),
    ("[:alpha:]", "A-Za-z"),
    ("[:blank:]", "\\t "),
    ("[:cntrl:]", "\\x00-\\x1f\\x7f"),
    ("[:digit:]", "0-9"),
    ("[:graph:]", "!-~"),
    ("[:lower:]", "a-z"),
    ("[:print:]", " -~"),
    ("[:space:]", "\\t\\n\\v\\f\\r "),
    ("[:upper:]", "A-Z"),
    ("[:word:]", "0-9A-Za-z_"),
    ("[:xdigit:]", "0-9A-Fa-f"),
];
/// White space, which is ASCII in RE2.
const SPACE: &str = "\\t\\n\\f\\r ";

/// The pattern in the syntax of JavaScript. `None` if it has no equal, such as one with flags.
pub(super) fn ecma(pattern: &str) -> Option<String> {
    let mut out = String::with_capacity(pattern.len());
    let (mut rest, mut is_class) = (pattern, false);
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let length = match c {
            '\\' => escape(after, is_class, &mut out)? + 1,
            '[' if is_class => bracket(rest, &mut out)?,
            '[' => {
                is_class = true;
                out.push('[');
                // A bracket that comes first is a character of the class.
                let negated = after.starts_with('^');
                out.push_str(if negated { "^" } else { "" });
                let is_literal = after[usize::from(negated)..].starts_with(']');
                out.push_str(if is_literal { "\\]" } else { "" });
                1 + usize::from(negated) + usize::from(is_literal)
            }
            ']' if is_class => {
                is_class = false;
                out.push(']');
                1
            }
            '&' | '~' if is_class && after.starts_with(c) => return None,
            '(' if after.starts_with('?') => group(after, &mut out)? + 1,
            '{' if !is_class => brace(rest, &mut out),
            '}' | ']' if !is_class => {
                out.extend(['\\', c]);
                1
            }
            _ => {
                out.push(c);
                c.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    Some(out)
}

/// What follows a backslash. Returns its length.
fn escape(after: &str, is_class: bool, out: &mut String) -> Option<usize> {
    let c = after.chars().next()?;
    match c {
        'A' if !is_class => out.push('^'),
        'z' if !is_class => out.push('$'),
        's' if is_class => out.push_str(SPACE),
        's' => out.extend(["[", SPACE, "]"]),
        'S' if !is_class => out.extend(["[^", SPACE, "]"]),
        'a' => out.push_str("\\x07"),
        'p' | 'P' => {
            if let Some(name) = braced(after) {
                out.extend(["\\", &after[..1], name]);
                return Some(1 + name.len());
            }
            let name = after.chars().nth(1)?;
            out.extend(['\\', c, '{', name, '}']);
            return Some(1 + name.len_utf8());
        }
        'x' if after.starts_with("x{") => {
            let code = braced(after)?;
            out.extend(["\\u", code]);
            return Some(1 + code.len());
        }
        'd' | 'D' | 'w' | 'W' | 'f' | 'n' | 'r' | 't' | 'v' | 'x' => out.extend(['\\', c]),
        'b' | 'B' if !is_class => out.extend(['\\', c]),
        '-' if is_class => out.push_str("\\-"),
        _ if c.is_ascii_alphanumeric() => return None,
        _ if "^$\\.*+?()[]{}|/".contains(c) => out.extend(['\\', c]),
        _ => out.push(c),
    }
    Some(c.len_utf8())
}

/// The braces after the letter of an escape, with what is in them.
fn braced(after: &str) -> Option<&str> {
    let rest = after[1..].starts_with('{').then(|| &after[1..])?;
    rest.find('}').map(|end| &rest[..=end])
}

/// A bracket within a class. Returns its length.
fn bracket(rest: &str, out: &mut String) -> Option<usize> {
    if !rest.starts_with("[:") {
        out.push_str("\\[");
        return Some(1);
    }
    let (name, class) = POSIX.iter().find(|(name, _)| rest.starts_with(name))?;
    out.push_str(class);
    Some(name.len())
}

/// What follows the parenthesis of a group with a question mark. Returns its length.
fn group(after: &str, out: &mut String) -> Option<usize> {
    for (given, written) in [("?:", "(?:"), ("?P<", "(?<"), ("?<", "(?<")] {
        if after.starts_with(given) {
            out.push_str(written);
            return Some(given.len());
        }
    }
    None
}

/// A brace: the beginning of a count, or a character. Returns the length of what was written.
fn brace(rest: &str, out: &mut String) -> usize {
    let count = rest.find('}').map(|end| &rest[1..end]);
    let is_count = count.is_some_and(|count| {
        let (least, most) = count.split_once(',').unwrap_or((count, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        !least.is_empty() && digits(least) && digits(most)
    });
    match count {
        Some(count) if is_count => {
            out.extend(["{", count, "}"]);
            count.len() + 2
        }
        _ => {
            out.push_str("\\{");
            1
        }
    }
}

#[cfg(test)]
mod tests;
