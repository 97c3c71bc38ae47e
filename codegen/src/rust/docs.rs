//! Doc comments from descriptions.
use kindsmith::__layers::text::is_unsafe;

/// The widest line of a doc comment, without its indentation.
const WIDTH: usize = 108;

/// How the derive reads the description of a wrapped comment.
fn joined(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let lines: Vec<&str> = paragraph.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines.join(" ")
    });
    let paragraphs: Vec<String> = paragraphs.filter(|paragraph| !paragraph.is_empty()).collect();
    paragraphs.join("\n\n")
}

/// True if a description is the same after it was wrapped and read again.
pub(super) fn survives_wrapping(text: &str) -> bool {
    !text.contains('\r') && joined(&wrapped(text).join("\n")) == text
}

/// The lines of a description: as they stand, or wrapped.
pub(super) fn lines(text: &str, verbatim: bool) -> Vec<String> {
    let lines = if verbatim { text.split('\n').map(str::to_owned).collect() } else { wrapped(text) };
    // Of these, comments may have none but tabs.
    lines.into_iter().map(|line| line.replace(|letter| letter != '\t' && is_unsafe(letter), "")).collect()
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (index, paragraph) in text.split("\n\n").enumerate() {
        if index > 0 {
            lines.push(String::new());
        }
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_wrapped_and_read_back() {
        let text = format!("{}\n\nA second paragraph.", "A long sentence. ".repeat(20).trim());
        let lines = lines(&text, false);
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:#?}");
        assert!(survives_wrapping(&text) && survives_wrapping("Two sentences.  Two spaces."));
    }

    #[test]
    fn line_breaks_and_indentation_are_kept_as_they_stand() {
        for text in ["a list:\n- one\n- two", "a \n b", " a", "code:\n\n    fn main()", "a\n\n\nb", "a\r\nb"] {
            assert!(!survives_wrapping(text), "{text:?}");
            assert_eq!(lines(text, true).join("\n"), text.replace('\r', ""));
        }
        assert_eq!(lines("a\rb\u{202e}c\0\td", false), ["abc\td"]);
    }
}
