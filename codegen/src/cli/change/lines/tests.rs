//! Tests of the lines that are new.
use super::added;

#[test]
fn as_few_lines_as_possible_are_new() {
    for (before, after, expected) in [
        ("a\nb\n", "a\nb\n", vec![]),
        ("a\nb\n", "a\nx\nb\n", vec![(2, "x")]),
        ("a\nb\nc\n", "a\nB\nc\n", vec![(2, "B")]),
        ("", "a\n\n", vec![(1, "a"), (2, "")]),
        // Lines that are there several times.
        ("}\n{\n}\n", "}\n{\n}\n{\nx\n}\n", vec![(4, "{"), (5, "x"), (6, "}")]),
        ("a\n}\nb\n}\n", "a\n}\nz\n}\nb\n}\n", vec![(3, "z"), (4, "}")]),
        ("a\nb\nc\nd\n", "c\nd\ne\n", vec![(3, "e")]),
    ] {
        assert_eq!(added(before, after), expected, "{before:?} {after:?}");
    }
}
