//! The text of an expression: positions in it are counted in code points, as CEL counts them.

/// The text of an expression.
#[derive(Clone, Debug)]
pub struct Source {
    text: String,
    /// The byte at which each line begins.
    lines: Vec<usize>,
}

/// A position in a [`Source`] for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The line, from 1.
    pub line: u32,
    /// The column in code points, from 0; before the first it is [`u32::MAX`].
    pub column: u32,
}

impl Source {
    /// The source of a text.
    pub fn new(text: &str) -> Self {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text: text.to_owned(), lines }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line with a number from 1, without its end.
    pub fn line(&self, number: u32) -> Option<&str> {
        let index = (number as usize).checked_sub(1)?;
        let start = *self.lines.get(index)?;
        let end = self.lines.get(index + 1).map_or(self.text.len(), |next| next - 1);
        self.text.get(start..end)
    }

    /// The location of an offset in code points. The offset [`u32::MAX`] is the position before the first character, where cel-go locates
    /// errors of nodes without a position.
    pub fn location(&self, offset: u32) -> Location {
        if offset == u32::MAX {
            return Location { line: 1, column: u32::MAX };
        }
        let byte = self.text.char_indices().nth(offset as usize).map_or(self.text.len(), |(at, _)| at);
        let line = self.lines.partition_point(|start| *start <= byte) - 1;
        let column = self.text[self.lines[line]..byte].chars().count();
        Location { line: narrow(line + 1), column: narrow(column) }
    }
}

/// Sources have at most [`syntax::Limits::code_points`](crate::syntax::Limits) characters, far below this limit.
pub(crate) fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
