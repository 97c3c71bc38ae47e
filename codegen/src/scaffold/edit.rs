//! Lines in Rust files that a user owns: a module, an import, a kind in the builder, an argument of a declaration. All other text
//! stays as it is.

mod arguments;
mod imports;
mod items;
mod look;
mod serve;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub(crate) use look::InTests;

use syn::{Expr, Item, spanned::Spanned};

/// A file of Rust, and its text with the changes.
#[derive(Clone)]
pub(crate) struct SourceFile<'s> {
    /// Its name, for messages.
    name: &'s str,
    text: String,
}

impl<'s> SourceFile<'s> {
    /// A file with this name and text.
    pub(crate) fn new(name: &'s str, text: &str) -> Self {
        Self { name, text: text.to_owned() }
    }

    /// The text with the changes.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// The text so far.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The file as it is parsed. Its spans are ranges of the text so far.
    pub(crate) fn parsed(&self) -> Result<syn::File, String> {
        syn::parse_file(&self.text).map_err(|error| {
            let at = error.span().start();
            format!("{}:{}: {error}; mend it and run the command again", self.name, at.line)
        })
    }

    /// The value of `const NAME: &str = "…"`.
    pub(crate) fn constant(&self, name: &str) -> Result<Option<String>, String> {
        let found = self.parsed()?.items.into_iter().find_map(|item| match item {
            Item::Const(item) if item.ident == name => Some(item.expr),
            _ => None,
        });
        Ok(match found.as_deref() {
            Some(Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })) => Some(text.value()),
            _ => None,
        })
    }

    /// The modules that it declares in other files.
    pub(crate) fn modules(&self) -> Result<Vec<String>, String> {
        let modules = self.parsed()?.items.into_iter().filter_map(|item| match item {
            Item::Mod(item) if item.content.is_none() => Some(item.ident.to_string()),
            _ => None,
        });
        Ok(modules.collect())
    }

    /// Declares a module, in alphabetical order as rustfmt has it.
    pub(crate) fn add_module(&mut self, module: &str) -> Result<(), String> {
        let file = self.parsed()?;
        let declared = file.items.iter().filter_map(|item| match item {
            Item::Mod(item) if item.content.is_none() => Some(item),
            _ => None,
        });
        let declared: Vec<&syn::ItemMod> = declared.collect();
        let line = format!("pub mod {module};\n");
        if let Some(after) = declared.iter().find(|other| other.ident.to_string().as_str() > module) {
            let start = self.line_start(after.span().byte_range().start);
            self.text.insert_str(start, &line);
        } else if let Some(last) = declared.last() {
            let end = self.line_end(last.span().byte_range().end);
            self.text.insert_str(end, &line);
        } else {
            let uses = file.items.iter().rfind(|item| matches!(item, Item::Use(_)));
            let before = uses.map(Spanned::span).or_else(|| file.attrs.last().map(Spanned::span));
            let end = before.map_or(0, |span| self.line_end(span.byte_range().end));
            self.text.insert_str(end, &format!("\n{line}"));
        }
        Ok(())
    }

    /// An error at a range of the text: the file, the line, and what is wrong.
    pub(crate) fn error(&self, at: &Range<usize>, what: &str) -> String {
        let line = self.text[..at.start].matches('\n').count() + 1;
        format!("{}:{line}: {what}", self.name)
    }

    /// Takes over another text.
    pub(crate) fn set_text(&mut self, text: String) {
        self.text = text;
    }

    /// The whole lines of a range.
    pub(crate) fn lines(&self, range: &Range<usize>) -> Range<usize> {
        self.line_start(range.start)..self.line_end(range.end)
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |newline| newline + 1)
    }

    fn line_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |newline| at + newline + 1)
    }
}

/// The blanks that a line begins with.
fn indent(line: &str) -> String {
    line.chars().take_while(|c| *c == ' ' || *c == '\t').collect()
}
