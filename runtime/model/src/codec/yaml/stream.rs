//! Files with several documents: the first line of each, and the lines of their parts.
use super::tape::{self, Content, Node};
use crate::codec::Limits;

/// Locating a part is not limited by memory: the document has been decoded within its limits.
const LIMITS: Limits = Limits { depth: 256, memory: usize::MAX };

/// The documents of a text, each with its first line, counted from 1. Documents with only comments are omitted. Every line
/// that begins with three dashes begins a document: in YAML no other line may begin so.
pub fn documents(text: &str) -> Vec<(usize, &str)> {
    let (mut starts, mut offset) = (vec![(1, 0)], 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if line.strip_prefix("---").is_some_and(|rest| rest.trim_start() != rest || rest.is_empty()) && offset > 0 {
            starts.push((index + 1, offset));
        }
        offset += line.len();
    }
    let ends = starts.iter().skip(1).map(|(_, start)| *start).chain([text.len()]);
    let documents = starts.iter().zip(ends).map(|((line, start), end)| (*line, &text[*start..end]));
    let says_something = |text: &str| {
        let mut lines = text.lines().map(|line| line.strip_prefix("---").unwrap_or(line).trim());
        lines.any(|line| !line.is_empty() && !line.starts_with('#'))
    };
    documents.filter(|(_, text)| says_something(text)).collect()
}

/// The lines of a document's parts.
pub struct Lines<'t>(Vec<Node<'t>>);

impl<'t> Lines<'t> {
    /// The lines of a document; none if it is not YAML.
    pub fn new(document: &'t str) -> Self {
        Self(tape::read(document, &LIMITS).map(|(tape, _)| tape).unwrap_or_default())
    }

    /// The first line, counted from 1, of the value at a JSON pointer, or of the last existing value on the way to it.
    pub fn of(&self, pointer: &str) -> usize {
        let (mut at, mut line) = (0, self.0.first().map_or(1, |root| root.line));
        for segment in pointer.split('/').skip(1) {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            let Some((found, named)) = step(&self.0, at, &segment) else { break };
            (at, line) = (found, named);
        }
        line
    }
}

/// The node of a field or item, and the line of its key.
fn step(tape: &[Node<'_>], at: usize, segment: &str) -> Option<(usize, usize)> {
    match &tape.get(at)?.content {
        Content::Alias { target, .. } => step(tape, *target, segment),
        Content::Scalar { .. } => None,
        Content::List(end) => {
            let mut items = std::iter::successors(Some(at + 1), |item| Some(after(tape, *item)));
            let item = items.nth(segment.parse().ok()?).filter(|item| item < end)?;
            Some((item, tape.get(item)?.line))
        }
        Content::Map(end) => {
            let mut key = at + 1;
            while key < *end {
                let value = after(tape, key);
                if matches!(&tape[key].content, Content::Scalar { text, .. } if text == segment) {
                    return Some((value, tape[key].line));
                }
                key = after(tape, value);
            }
            None
        }
    }
}

/// The node after a node and its content.
fn after(tape: &[Node<'_>], at: usize) -> usize {
    match tape.get(at).map(|node| &node.content) {
        Some(Content::List(end) | Content::Map(end)) => *end,
        _ => at + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_documents_begin() {
        let text = "# first\n---\na: 1\n--- # second\nb: |\n  x\n  ---\n---\n# nothing\n---\n\n--- {c: 1}\n";
        let found: Vec<_> = documents(text).into_iter().map(|(line, text)| (line, text.lines().count())).collect();
        assert_eq!(found, [(2, 2), (4, 4), (12, 1)]);
        assert_eq!(documents("a: 1\n"), [(1, "a: 1\n")]);
        assert!(documents("").is_empty());
    }

    #[test]
    fn a_pointer_leads_to_a_line() {
        let text = "a:\n  b/c:\n  - x\n  - y:\n      z: 1\nd: &d {e: 1,\n  f: 2}\ng: *d\n";
        for (pointer, line) in
            [("", 1), ("/a", 1), ("/a/b~1c", 2), ("/a/b~1c/1/y/z", 5), ("/a/nothing/x", 1), ("/d/f", 7), ("/g/f", 7)]
        {
            assert_eq!(Lines::new(text).of(pointer), line, "{pointer}");
        }
        assert_eq!(Lines::new("{\"a\":\n {\"b\": 1}}").of("/a/b"), 2);
        assert_eq!(Lines::new("a: [").of("/a"), 1);
    }
}
