//! Words, numbers and signs, with the comments before them.

/// A word, a number, a text in quotes, or a sign.
#[derive(Clone, Debug)]
pub(crate) struct Token<'t> {
    pub line: usize,
    pub text: &'t str,
    /// Where it begins and ends in the file.
    pub from: usize,
    pub to: usize,
    /// The lines of the comments before it.
    pub comments: Vec<String>,
}

/// Reads tokens one after another.
pub(crate) struct Tokens<'t> {
    whole: &'t str,
    at: usize,
    line: usize,
    /// The comments at the end of the file, once it is reached.
    pub last: Vec<String>,
}

impl<'t> Tokens<'t> {
    pub(crate) fn new(whole: &'t str) -> Self {
        Self { whole, at: 0, line: 1, last: Vec::new() }
    }

    pub(crate) fn line(&self) -> usize {
        self.line
    }

    /// The file from one place to another.
    pub(crate) fn text(&self, from: usize, to: usize) -> &'t str {
        &self.whole[from..to]
    }

    fn rest(&self) -> &'t str {
        &self.whole[self.at..]
    }

    fn take(&mut self, length: usize) -> &'t str {
        let taken = &self.rest()[..length];
        self.line += taken.matches('\n').count();
        self.at += length;
        taken
    }

    /// The comment here, if there is one.
    fn comment(&mut self) -> Option<Vec<String>> {
        let rest = self.rest();
        if rest.starts_with("//") {
            let text = self.take(rest.find('\n').unwrap_or(rest.len()));
            let text = text.trim_start_matches('/');
            return Some(vec![text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned()]);
        }
        let inner = rest.strip_prefix("/*")?;
        let end = inner.find("*/");
        self.take(end.map_or(rest.len(), |end| end + 4));
        let lines = inner[..end.unwrap_or(inner.len())].lines();
        let lines = lines.map(|line| line.trim().trim_start_matches('*').trim().to_owned());
        Some(lines.filter(|line| !line.is_empty()).collect())
    }

    /// The comment on the rest of this line.
    pub(crate) fn comment_beside(&mut self) -> Vec<String> {
        let rest = self.rest();
        let spaces = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if !rest[spaces..].starts_with("//") {
            return Vec::new();
        }
        self.take(spaces);
        self.comment().unwrap_or_default()
    }

    /// The comments before the end of the file or the next token.
    fn comments(&mut self) -> Vec<String> {
        let mut found = Vec::new();
        loop {
            self.take(self.rest().len() - self.rest().trim_start().len());
            match self.comment() {
                Some(lines) => found.extend(lines),
                None => return found,
            }
        }
    }

    pub(crate) fn next(&mut self) -> Option<Token<'t>> {
        let comments = self.comments();
        let (rest, line, from) = (self.rest(), self.line, self.at);
        let Some(first) = rest.chars().next() else {
            self.last = comments;
            return None;
        };
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if first == '"' || first == '\'' {
            let mut is_escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == first && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                ends
            });
            end.map_or(rest.len(), |end| end + 2)
        } else {
            first.len_utf8()
        };
        let text = self.take(length);
        Some(Token { line, text, from, to: self.at, comments })
    }
}
