//! Tests of Markdown.
use super::*;

#[test]
fn text_stays_text_in_every_place() {
    assert_eq!(anchor(&["Order", "v1", "spec.items[]"]), "order-v1-spec.items--");
    assert_eq!(code("a.b"), "`a.b`");
    assert_eq!(code("^(a|b)`$"), "<code>^(a&#124;b)&#96;$</code>");
    assert_eq!(cell("One | two\nand `<a>` or <b>.\n\nThree"), "One \\| two and `<a>` or &lt;b>.<br>Three");
    for (text, expected) in [
        ("a ` <script>", "a \\` &lt;script>"),
        ("``a ` <b>`` <c>", "``a ` <b>`` &lt;c>"),
        ("```\n<a>\n\nb\n```\nc <d>", "```\n<a>\n\nb\n```\nc &lt;d>"),
        ("```\nevil", "\\`\\`\\`\nevil"),
        ("a\n\n\n b", "a\n\n\n b"),
        ("~~~\nevil", "\\~~~\nevil"),
        ("[a](https://b) [c](javascript:d) [e](#f)", "[a](https://b) [c\\](javascript:d) [e](#f)"),
        ("[a]: javascript:b", "[a\\]: javascript:b"),
    ] {
        assert_eq!(prose(text), expected);
    }
    let mut page = Page::default();
    page.heading(1, "A", None);
    page.item("one");
    page.item("two");
    page.table(&["x", "y"]);
    page.row(&["1".to_owned(), "2".to_owned()]);
    page.block("yaml", "a: ```\n");
    let expected = "# A\n\n- one\n- two\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n````yaml\na: ```\n````\n";
    assert_eq!(page.finish(), expected);
}
