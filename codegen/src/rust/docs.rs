//! Doc comments from descriptions. What a comment cannot say, or what a reader of comments would take for code to run, is in the
//! comment as plain text, and as it stands in an argument beside it.
use kindsmith::schema::Schema;
use kindsmith_meta::text::is_unsafe;

use super::model::{Model, Ty};

/// The widest line of a doc comment, without its indentation.
const WIDTH: usize = 108;

/// The heading of the description of items, in the comment of a field.
pub(super) const ITEMS: &str = "# Items";

/// How the derive reads the description of a wrapped comment.
fn joined(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let lines: Vec<&str> = paragraph.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines.join(" ")
    });
    let paragraphs: Vec<String> = paragraphs.filter(|paragraph| !paragraph.is_empty()).collect();
    paragraphs.join("\n\n")
}

/// True if a description is the same after it was wrapped and read again, or if a comment cannot say it anyway.
pub(super) fn survives_wrapping(text: &str) -> bool {
    !is_harmless(text) || joined(&wrapped(text).join("\n")) == text
}

/// True if the derive reads the description out of its comment.
pub(super) fn is_said(text: &str, is_verbatim: bool) -> bool {
    let is_blank = !text.is_empty() && text.trim().is_empty();
    !is_blank && is_harmless(text) && (!is_verbatim || !text.split('\n').any(|line| line.ends_with(' ')))
}

/// True for a text that a comment can hold as it stands. Fences and indentation are code, which rustdoc would run.
fn is_harmless(text: &str) -> bool {
    let is_code = text.contains("```") || text.contains("~~~") || text.contains('\t') || text.contains("    ");
    !is_code && !text.contains(ITEMS) && !text.chars().any(|letter| letter != '\n' && is_unsafe(letter))
}

/// The lines of a description: as they stand, or wrapped.
pub(super) fn lines(text: &str, is_verbatim: bool) -> Vec<String> {
    match (is_harmless(text), is_verbatim) {
        (false, _) => plain(text),
        (true, true) => text.split('\n').map(str::to_owned).collect(),
        (true, false) => wrapped(text),
    }
}

/// The lines without what makes code of them: blocks in fences are text, and others have no indentation.
fn plain(text: &str) -> Vec<String> {
    let text: String = text.chars().filter(|letter| matches!(letter, '\n' | '\t') || !is_unsafe(*letter)).collect();
    let (mut lines, mut fence) = (Vec::new(), None);
    for line in text.split('\n') {
        let trimmed = line.trim();
        match (fence, fence_of(trimmed)) {
            (None, Some(begin)) => {
                fence = Some(begin);
                lines.push("```text".to_owned());
            }
            (Some((letter, length)), Some((other, longer)))
                if ends(trimmed, letter) && other == letter && longer >= length =>
            {
                fence = None;
                lines.push("```".to_owned());
            }
            (Some(_), _) => lines.push(inert(line.trim_end())),
            (None, None) => {
                let words: Vec<&str> = line.split_whitespace().collect();
                let line = inert(&words.join(" "));
                // The line must not become a heading, nor HTML, in which fences have no effect.
                lines.push(if line.starts_with(['#', '<']) { format!("\\{line}") } else { line });
            }
        }
    }
    if fence.is_some() {
        lines.push("```".to_owned());
    }
    lines
}

/// The letter and the length of the fence that a line begins with.
fn fence_of(line: &str) -> Option<(char, usize)> {
    let letter = line.chars().next().filter(|letter| matches!(letter, '`' | '~'))?;
    let length = line.chars().take_while(|other| *other == letter).count();
    // In backticks, a line with more of them is code within a paragraph.
    let is_fence = length >= 3 && !(letter == '`' && line[length..].contains('`'));
    is_fence.then_some((letter, length))
}

/// True for a line of nothing but the letters of a fence.
fn ends(line: &str, letter: char) -> bool {
    line.chars().all(|other| other == letter)
}

/// A line that neither begins nor ends a fence.
fn inert(line: &str) -> String {
    line.replace("```", "\\`\\`\\`").replace("~~~", "\\~\\~\\~")
}

/// The description of the items of a list or the values of a map, if it is not that of their type.
pub(super) fn of_items<'s>(schema: &'s Schema, ty: &Ty, model: &Model) -> Option<&'s str> {
    let of_type = match ty.inner() {
        Ty::Known("Condition") => return None,
        Ty::Declared(id) => &*model.types[*id].doc,
        _ => "",
    };
    let text = &*schema.description;
    (!text.is_empty() && text != of_type).then_some(text)
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
mod tests;
