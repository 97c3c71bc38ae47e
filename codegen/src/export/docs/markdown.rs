//! Markdown, as GitHub and most generators of sites read it.

use std::fmt::Write as _;

/// A page that is written from top to bottom.
#[derive(Default)]
pub(super) struct Page {
    text: String,
    /// What was written last, which decides whether an empty line follows.
    last: Last,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Last {
    #[default]
    Nothing,
    Block,
    Item,
    Row,
}

impl Page {
    /// The text.
    pub(super) fn finish(self) -> String {
        self.text
    }

    /// A heading, with an anchor of its own: generators derive different ones from headings.
    pub(super) fn heading(&mut self, level: usize, title: &str, anchor: Option<String>) {
        self.begin(Last::Block);
        if let Some(anchor) = anchor {
            self.push(format_args!("<a id=\"{anchor}\"></a>\n\n"));
        }
        self.push(format_args!("{} {}\n", "#".repeat(level), escaped(title)));
    }

    /// Paragraphs, which may be empty.
    pub(super) fn text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.begin(Last::Block);
            self.push(format_args!("{}\n", prose(text)));
        }
    }

    /// A paragraph that is Markdown already.
    pub(super) fn markdown(&mut self, text: &str) {
        self.begin(Last::Block);
        self.push(format_args!("{text}\n"));
    }

    /// An item of a list, in Markdown.
    pub(super) fn item(&mut self, text: &str) {
        self.begin(Last::Item);
        self.push(format_args!("- {}\n", text.replace('\n', " ")));
    }

    /// The head of a table.
    pub(super) fn table(&mut self, columns: &[&str]) {
        self.begin(Last::Block);
        self.push(format_args!("| {} |\n|{}\n", columns.join(" | "), "---|".repeat(columns.len())));
        self.last = Last::Row;
    }

    /// A row of a table, whose cells are Markdown.
    pub(super) fn row(&mut self, cells: &[String]) {
        self.begin(Last::Row);
        let cells: Vec<_> = cells.iter().map(|cell| cell.trim().replace('\n', " ")).collect();
        self.push(format_args!("| {} |\n", cells.join(" | ")));
    }

    /// A block of code.
    pub(super) fn block(&mut self, language: &str, text: &str) {
        self.begin(Last::Block);
        // A fence is longer than those in the text.
        let mut fence = "```".to_owned();
        while text.contains(&fence) {
            fence.push('`');
        }
        self.push(format_args!("{fence}{language}\n{}\n{fence}\n", text.trim_end()));
    }

    fn begin(&mut self, next: Last) {
        let continues = self.last == next && next != Last::Block;
        if self.last != Last::Nothing && !continues {
            self.text.push('\n');
        }
        self.last = next;
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = self.text.write_fmt(text);
    }
}

/// The anchor of something with these names.
pub(super) fn anchor(names: &[&str]) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '_' { c.to_ascii_lowercase() } else { '-' };
    names.iter().map(|name| name.chars().map(plain).collect::<String>()).collect::<Vec<_>>().join("-")
}

/// Text as code, which is safe in tables, too.
pub(super) fn code(text: &str) -> String {
    if text.contains(['`', '|', '\n']) || text.is_empty() || text.starts_with(' ') || text.ends_with(' ') {
        let mut out = String::from("<code>");
        for c in text.chars() {
            match c {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '\n' => out.push_str("\\n"),
                '|' | '`' | '*' | '_' | '\\' | '[' | ']' => {
                    let _ = write!(out, "&#{};", u32::from(c));
                }
                _ => out.push(c),
            }
        }
        return out + "</code>";
    }
    format!("`{text}`")
}

/// A description in a cell: its paragraphs are separated by breaks.
pub(super) fn cell(text: &str) -> String {
    let paragraphs =
        text.trim().split("\n\n").map(|paragraph| escaped(&paragraph.replace('\n', " ")).replace('|', "\\|"));
    paragraphs.collect::<Vec<_>>().join("<br>")
}

/// A description. Paragraphs and Markdown in it are kept; HTML becomes text.
fn prose(text: &str) -> String {
    text.trim().split("\n\n").map(escaped).collect::<Vec<_>>().join("\n\n")
}

/// Text in which an angle bracket is no tag, except in code.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_code = false;
    for c in text.chars() {
        match c {
            '`' => {
                is_code = !is_code;
                out.push(c);
            }
            '<' if !is_code => out.push_str("&lt;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text_in_every_place() {
        assert_eq!(anchor(&["Order", "v1", "spec.items[]"]), "order-v1-spec.items--");
        assert_eq!(code("a.b"), "`a.b`");
        assert_eq!(code("^(a|b)`$"), "<code>^(a&#124;b)&#96;$</code>");
        assert_eq!(cell("One | two\nand `<a>` or <b>.\n\nThree"), "One \\| two and `<a>` or &lt;b>.<br>Three");
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
}
