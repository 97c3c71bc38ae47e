//! Tests of patterns, by texts that fit and that do not.
use super::*;

#[test]
fn a_star_stands_for_any_text() {
    for (pattern, text, expected) in [
        ("*", "", true),
        (".spec.*", ".spec.chapters[].title", true),
        (".spec.*.title", ".spec.chapters[].title", true),
        (".spec.chapters[]", ".spec.chapters[]", true),
        (".spec", ".spec.title", false),
        ("*.title", ".spec.titles", false),
        ("Book*", "Book.library.example.com", true),
        ("Book v1 .spec", "Book v1 .spec", true),
        ("Book v1 .spec", "Book v1 .spec.isbn", false),
        ("Book v1 .spec*", "Book v1 .spec.isbn", true),
        ("* .spec.*.name", "Book v1 .spec.a.b.name", true),
        ("* .spec.*.name", "Book v1 .spec.name", false),
    ] {
        assert_eq!(matches(pattern, text), expected, "{pattern:?} {text:?}");
    }
}
