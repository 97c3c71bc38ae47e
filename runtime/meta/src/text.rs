//! Texts from documents in output that is read line by line: untrusted text can neither end its line nor start another one.
use std::borrow::Cow;

/// The text in one line: control characters, and characters that change the direction of text, are escaped.
pub fn in_one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return text.into();
    }
    text.chars()
        .fold(String::new(), |mut line, letter| {
            if is_unsafe(letter) {
                line.extend(letter.escape_default());
            } else {
                line.push(letter);
            }
            line
        })
        .into()
}

/// True for characters that a line of text must not have: controls, separators of lines, and those by which what is shown is in
/// another order than what is read, which rustc refuses in comments.
pub fn is_unsafe(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with its first letter in upper case, if that is one of ASCII.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// An upper bound of the nesting depth of a text as Rust code: brackets that are open, plus operators. Parsers of Rust recurse for
/// each of them.
pub fn nesting(text: &str) -> usize {
    let (mut open, mut most, mut operators) = (0_usize, 0, 0);
    for letter in text.chars() {
        match letter {
            '(' | '[' | '{' | '<' => open += 1,
            ')' | ']' | '}' | '>' => open = open.saturating_sub(1),
            '&' | '*' | '!' | '-' | '+' => operators += 1,
            _ => {}
        }
        most = most.max(open + operators);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_in_its_line() {
        assert_eq!(in_one_line("größe: {}"), "größe: {}");
        assert_eq!(in_one_line("a\ncargo::rustc-link-arg=x\u{202e}\0"), "a\\ncargo::rustc-link-arg=x\\u{202e}\\u{0}");
    }

    #[test]
    fn nesting_counts_brackets_and_operators() {
        for (text, expected) in
            [("String", 0), ("Vec<BTreeMap<String, Vec<i32>>>", 3), ("&&T", 2), ("(a)(b)", 1), (">>(", 1)]
        {
            assert_eq!(nesting(text), expected, "{text}");
        }
    }
}
