//! Markdown, as GitHub and most generators of sites read it.

use std::fmt::Write as _;

use kindsmith_meta::text::{in_one_line, is_unsafe};

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
        self.push(format_args!("{} {}\n", "#".repeat(level), escaped(&in_one_line(title))));
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
        self.push(format_args!("- {}\n", text.replace(is_unsafe, " ")));
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
        let cells: Vec<_> = cells.iter().map(|cell| cell.trim().replace(is_unsafe, " ")).collect();
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
    if text.contains(['`', '|'])
        || text.contains(is_unsafe)
        || text.is_empty()
        || text.starts_with(' ')
        || text.ends_with(' ')
    {
        let mut out = String::from("<code>");
        for c in text.chars() {
            match c {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                _ if is_unsafe(c) => out.extend(c.escape_default()),
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

/// A link to an anchor of the page.
pub(super) fn link(title: &str, anchor: &str) -> String {
    let mut text = String::new();
    for letter in in_one_line(title).chars() {
        match letter {
            '<' => text.push_str("&lt;"),
            '[' | ']' | '`' | '|' | '\\' | '*' => text.extend(['\\', letter]),
            _ => text.push(letter),
        }
    }
    format!("[{text}](#{anchor})")
}

/// A description in a cell: its paragraphs are separated by breaks.
pub(super) fn cell(text: &str) -> String {
    let paragraphs =
        text.trim().split("\n\n").map(|paragraph| escaped(&paragraph.replace('\n', " ")).replace('|', "\\|"));
    paragraphs.collect::<Vec<_>>().join("<br>")
}

/// A description. Paragraphs and Markdown in it are kept; HTML becomes text, and a block of code that does not end, too.
fn prose(text: &str) -> String {
    let text = text.replace(|letter| is_unsafe(letter) && !['\n', '\t'].contains(&letter), "");
    let mut lines = text.trim().lines();
    let (mut parts, mut paragraph): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next() {
        let fence = fence(line);
        let block: Vec<&str> = fence.map_or_else(Vec::new, |_| lines.clone().collect());
        let end = fence.and_then(|fence| {
            block
                .iter()
                .position(|line| self::fence(line).is_some_and(|end| end.starts_with(fence) && end == line.trim()))
        });
        match end {
            Some(end) => {
                flush(&mut paragraph, &mut parts);
                parts.push([&[line], &block[..=end]].concat().join("\n"));
                lines.by_ref().take(end + 1).for_each(drop);
            }
            None if line.trim().is_empty() => {
                flush(&mut paragraph, &mut parts);
                parts.push(String::new());
            }
            None => paragraph.push(line),
        }
    }
    flush(&mut paragraph, &mut parts);
    parts.join("\n")
}

/// Ends a paragraph.
fn flush(paragraph: &mut Vec<&str>, parts: &mut Vec<String>) {
    if !paragraph.is_empty() {
        parts.push(escaped(&paragraph.join("\n")));
        paragraph.clear();
    }
}

/// The beginning of a line that begins a block of code, or ends one.
fn fence(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let of = |sign: char| &line[..line.len() - line.trim_start_matches(sign).len()];
    [of('`'), of('~')].into_iter().find(|fence| fence.len() >= 3)
}

/// Text of a paragraph in which an angle bracket is no tag, except in code that ends; links lead to pages alone, and no line begins
/// a block of code.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let begins_line = out.is_empty() || out.ends_with('\n');
        let run = rest.len() - rest.trim_start_matches('`').len();
        let (taken, after) = rest.split_at(run.max(first.len_utf8()));
        match first {
            '`' => {
                let end = code_end(after, run).filter(|_| !(begins_line && run >= 3));
                match end {
                    Some(end) => {
                        out.extend([taken, &after[..end]]);
                        rest = &after[end..];
                        continue;
                    }
                    None => taken.chars().for_each(|_| out.push_str("\\`")),
                }
            }
            '~' if begins_line && rest.starts_with("~~~") => out.push_str("\\~"),
            '<' => out.push_str("&lt;"),
            ']' if leads_elsewhere(after) => out.push_str("\\]"),
            _ => out.push_str(taken),
        }
        rest = after;
    }
    out
}

/// Where code ends that a run of backticks of this length begins.
fn code_end(text: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let begin = at + found;
        let length = text[begin..].len() - text[begin..].trim_start_matches('`').len();
        at = begin + length;
        if length == run {
            return Some(at);
        }
    }
    None
}

/// True for the address of a link that is no page, such as a program.
fn leads_elsewhere(after: &str) -> bool {
    let Some(address) = after.strip_prefix(['(', ':']) else { return false };
    let address = address.trim_start().to_ascii_lowercase();
    let scheme = address.split(['/', '?', '#', ')', ' ', '\n']).next().unwrap_or_default();
    scheme.contains([':', '&', '<']) && !["http:", "https:", "mailto:"].iter().any(|known| address.starts_with(known))
}

#[cfg(test)]
mod tests;
