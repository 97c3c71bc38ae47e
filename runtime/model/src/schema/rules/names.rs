//! Names of fields as expressions have them: what CEL's grammar does not allow is escaped, as in Kubernetes.
use std::borrow::Cow;

use kindsmith_cel::syntax::is_reserved;

/// What stands between `__` and `__` for a part of a name.
const ESCAPES: [(&str, &str); 4] = [("underscores", "__"), ("dot", "."), ("dash", "-"), ("slash", "/")];

/// A name as expressions have it. `None` if it has a character that cannot be escaped.
pub fn escaped(name: &str) -> Option<Cow<'_, str>> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'/');
    if name.is_empty() || name.as_bytes()[0].is_ascii_digit() || !name.bytes().all(allowed) {
        return None;
    }
    if is_reserved(name) {
        return Some(format!("__{name}__").into());
    }
    if !name.contains(['.', '-', '/']) && !name.contains("__") {
        return Some(name.into());
    }
    let (mut escaped, mut rest) = (String::with_capacity(name.len() + 16), name);
    while let Some(first) = rest.chars().next() {
        let escape = ESCAPES.iter().find(|(_, part)| rest.starts_with(part));
        match escape {
            Some((word, _)) => escaped.extend(["__", word, "__"]),
            None => escaped.push(first),
        }
        rest = &rest[escape.map_or(1, |(_, part)| part.len())..];
    }
    Some(escaped.into())
}

/// The name that an expression means. `None` if it is no escaped name.
pub fn unescaped(name: &str) -> Option<Cow<'_, str>> {
    if !name.contains("__") {
        return Some(name.into());
    }
    let (mut plain, mut rest) = (String::with_capacity(name.len()), name);
    while let Some((word, after)) = sequence(rest) {
        let start = rest.len() - after.len() - word.len() - 4;
        plain.push_str(&rest[..start]);
        match ESCAPES.iter().find(|(escape, _)| *escape == word) {
            Some((_, part)) => plain.push_str(part),
            None if is_reserved(word) && word.len() + 4 == name.len() => plain.push_str(word),
            None => return None,
        }
        rest = after;
    }
    plain.push_str(rest);
    Some(plain.into())
}

/// The first word between `__` and `__`, which has no underscores itself, and what follows.
fn sequence(text: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    while let Some(start) = text[from..].find("__").map(|at| from + at) {
        let word = &text[start + 2..];
        let end = word.find('_')?;
        if end > 0 && word[end..].starts_with("__") {
            return Some((&word[..end], &word[end + 2..]));
        }
        from = start + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        for (name, expected) in [
            ("a", "a"),
            ("a_b", "a_b"),
            ("namespace", "__namespace__"),
            ("true", "__true__"),
            ("a.b", "a__dot__b"),
            ("a-b/c", "a__dash__b__slash__c"),
            ("__a", "__underscores__a"),
            ("___a", "__underscores___a"),
            ("____", "__underscores____underscores__"),
            ("-", "__dash__"),
            ("__namespace__", "__underscores__namespace__underscores__"),
            ("namespaces", "namespaces"),
            ("self", "self"),
        ] {
            assert_eq!(escaped(name).as_deref(), Some(expected), "{name}");
            assert_eq!(unescaped(expected).as_deref(), Some(name), "{expected}");
        }
        for name in ["", "1a", "a$", "a b", "ä", "a@b"] {
            assert_eq!(escaped(name), None, "{name}");
        }
        for name in ["__a__", "x__in__", "__in__x", "__dot__x__unknown__"] {
            assert_eq!(unescaped(name), None, "{name}");
        }
        assert_eq!(unescaped("a__").as_deref(), Some("a__"));
    }
}
