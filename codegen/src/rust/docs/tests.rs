//! Tests of doc comments.
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
    for text in ["a list:\n- one\n- two", "a \n b", " a", "a:\n\n   b", "a\n\n\nb"] {
        assert!(!survives_wrapping(text), "{text:?}");
        assert_eq!(lines(text, true).join("\n"), text);
    }
    assert!(is_said("a\n b", true) && !is_said("a \nb", true));
}

#[test]
fn what_a_comment_cannot_say_is_plain_text_in_it() {
    for (text, expected) in [
        ("a\rb\u{202e}c\0\td", vec!["abc d"]),
        ("code:\n\n    fn main()", vec!["code:", "", "fn main()"]),
        ("-     fn main()", vec!["- fn main()"]),
        ("a\n```\nfn main() {\n    b\n```\nc", vec!["a", "```text", "fn main() {", "    b", "```", "c"]),
        ("  ~~~rust\nb\n```\n~~~~", vec!["```text", "b", "\\`\\`\\`", "```"]),
        ("- ```\n  b", vec!["- \\`\\`\\`", "b"]),
        ("```yaml\nb", vec!["```text", "b", "```"]),
        ("<!--\n```\n-->", vec!["\\<!--", "```text", "-->", "```"]),
        ("# Items\n\nb", vec!["\\# Items", "", "b"]),
    ] {
        assert!(survives_wrapping(text) && !is_said(text, true) && !is_said(text, false), "{text:?}");
        assert_eq!(lines(text, false), expected);
    }
}
