//! Lines in the declaration of a kind: an argument, a field, a type and a test.

use syn::{Item, ItemMod, ItemStruct, spanned::Spanned};

use super::SourceFile;

impl SourceFile<'_> {
    /// The struct with a name.
    pub(crate) fn structure(&self, name: &str) -> Result<ItemStruct, String> {
        let found = self.parsed()?.items.into_iter().find_map(|item| match item {
            Item::Struct(item) if item.ident == name => Some(item),
            _ => None,
        });
        found.ok_or_else(|| format!("{}: there is no struct {name} in it", self.name))
    }

    /// Adds an attribute `#[resource(…)]` with an argument to a kind, below the others.
    pub(crate) fn add_argument(&mut self, kind: &str, argument: &str) -> Result<(), String> {
        let item = self.structure(kind)?;
        let last = item.attrs.iter().rfind(|attribute| attribute.path().is_ident("resource"));
        let at = last.map_or(item.struct_token.span().byte_range(), |last| last.span().byte_range()).end;
        let at = if last.is_some() { self.line_end(at) } else { self.line_start(at) };
        self.text.insert_str(at, &format!("#[resource({argument})]\n"));
        Ok(())
    }

    /// Adds lines at the end of a struct's fields.
    pub(crate) fn add_field(&mut self, structure: &str, lines: &str) -> Result<(), String> {
        let item = self.structure(structure)?;
        let syn::Fields::Named(fields) = &item.fields else {
            let what = format!("`{structure}` has no fields with names; write it as `struct {structure} {{ … }}`");
            return Err(self.error(&item.ident.span().byte_range(), &what));
        };
        let end = fields.brace_token.span.close().byte_range().start;
        let start = self.line_start(end);
        if !self.text[start..end].trim().is_empty() {
            let what = format!("the closing brace of `{structure}` is not on a line of its own; run `cargo fmt`");
            return Err(self.error(&(end..end), &what));
        }
        // The comma that the last field may lack.
        if let Some(last) = fields.named.last().filter(|_| !fields.named.trailing_punct()) {
            let at = last.span().byte_range().end;
            self.text.insert(at, ',');
            self.text.insert_str(start + 1, lines);
        } else {
            self.text.insert_str(start, lines);
        }
        Ok(())
    }

    /// Adds items before the tests, or at the end.
    pub(crate) fn add_items(&mut self, text: &str) -> Result<(), String> {
        let file = self.parsed()?;
        let tests = file.items.iter().find(|item| matches!(item, Item::Mod(item) if is_tests(item)));
        if let Some(tests) = tests {
            let at = self.line_start(tests.span().byte_range().start);
            self.text.insert_str(at, &format!("{text}\n"));
        } else {
            self.text.extend(["\n", text]);
        }
        Ok(())
    }

    /// The module of the tests in this file.
    pub(crate) fn tests(&self) -> Result<Option<ItemMod>, String> {
        let items = self.parsed()?.items.into_iter();
        let mut modules = items.filter_map(|item| if let Item::Mod(item) = item { Some(item) } else { None });
        Ok(modules.find(is_tests))
    }

    /// Adds a test at the end of the tests. Without tests in the file, nothing is added.
    pub(crate) fn add_test(&mut self, text: &str) -> Result<bool, String> {
        let tests = self.tests()?;
        let Some((brace, _)) = tests.as_ref().and_then(|tests| tests.content.as_ref()) else { return Ok(false) };
        let at = self.line_start(brace.span.close().byte_range().start);
        self.text.insert_str(at, &format!("\n{text}"));
        Ok(true)
    }
}

fn is_tests(item: &ItemMod) -> bool {
    item.content.is_some() && item.ident == "tests"
}
