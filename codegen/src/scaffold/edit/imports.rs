//! Imports of a file.

use syn::{Item, UseTree, spanned::Spanned};

use super::SourceFile;

/// The widest line that rustfmt makes.
const WIDTH: usize = 100;

/// A name that a file imports.
struct Import {
    /// The path before it: `kindsmith::handlers`.
    from: String,
    name: String,
}

impl SourceFile<'_> {
    /// Imports a name. Returns how the file can write it: by its name or, if that means something else there, by its path.
    pub(crate) fn import(&mut self, from: &str, name: &str) -> Result<String, String> {
        let file = self.parsed()?;
        let mut imports = Vec::new();
        let uses = file.items.iter().filter_map(|item| if let Item::Use(item) = item { Some(item) } else { None });
        let uses: Vec<&syn::ItemUse> = uses.collect();
        for item in &uses {
            collect(&item.tree, "", &mut imports);
        }
        if let Some(import) = imports.iter().find(|import| import.name == name) {
            return Ok(if import.from == from { name.to_owned() } else { format!("{from}::{name}") });
        }
        if imports.iter().any(|import| import.from == from && import.name == "*") {
            return Ok(name.to_owned());
        }
        if file.items.iter().any(|item| declares(item, name)) {
            return Ok(format!("{from}::{name}"));
        }
        if !uses.iter().any(|item| self.joins(item, from, name)) {
            self.add_use(&uses, &format!("use {from}::{name};\n"));
        }
        Ok(name.to_owned())
    }

    /// Imports a name under another one, in lines of its own below the other imports.
    pub(crate) fn add_alias(&mut self, from: &str, name: &str, alias: &str) -> Result<(), String> {
        let file = self.parsed()?;
        let last = file.items.iter().rfind(|item| matches!(item, Item::Use(_)));
        let line = format!("\nuse {from}::{name} as {alias};\n");
        let at = last.map_or_else(|| self.after_head(), |last| self.line_end(last.span().byte_range().end));
        self.text.insert_str(at, &line);
        Ok(())
    }

    /// Adds the name to an import from the same place, if that has one line and stays as short as rustfmt keeps it.
    fn joins(&mut self, item: &syn::ItemUse, from: &str, name: &str) -> bool {
        let range = item.span().byte_range();
        let start = format!("use {from}::");
        let Some(names) = self.text[range.clone()].strip_prefix(&start).and_then(|rest| rest.strip_suffix(';')) else {
            return false;
        };
        let names = names.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(names);
        let are_plain = names.chars().all(|c| c.is_ascii_alphanumeric() || ", _".contains(c));
        if !are_plain || names.contains(" as ") || range.len() + name.len() + 4 > WIDTH {
            return false;
        }
        let mut names: Vec<&str> = names.split(", ").collect();
        let at = names.iter().position(|other| *other > name).unwrap_or(names.len());
        names.insert(at, name);
        let line = format!("{start}{{{}}};", names.join(", "));
        self.text.replace_range(range, &line);
        true
    }

    /// Adds the line of an import beside those of the same crate, sorted as rustfmt has them.
    fn add_use(&mut self, uses: &[&syn::ItemUse], line: &str) {
        let root = line.split("::").next().unwrap_or(line);
        let place = |item: &&syn::ItemUse| item.span().byte_range();
        let of_crate = uses.iter().filter(|item| self.text[place(item)].starts_with(root));
        let of_crate: Vec<_> = of_crate.map(place).collect();
        let later = of_crate.iter().find(|range| &self.text[(*range).clone()] > line.trim_end());
        let (at, text) = if let Some(later) = later {
            (self.line_start(later.start), line.to_owned())
        } else if let Some(last) = of_crate.last() {
            (self.line_end(last.end), line.to_owned())
        } else if let Some(first) = uses.first() {
            (self.line_start(place(first).start), format!("{line}\n"))
        } else {
            (self.after_head(), format!("\n{line}"))
        };
        self.text.insert_str(at, &text);
    }

    /// Where the items of the file can begin: behind its documentation and attributes.
    fn after_head(&self) -> usize {
        let attributes = self.parsed().map(|file| file.attrs).unwrap_or_default();
        attributes.last().map_or(0, |last| self.line_end(last.span().byte_range().end))
    }
}

fn collect(tree: &UseTree, from: &str, imports: &mut Vec<Import>) {
    let below = |name: &syn::Ident| if from.is_empty() { name.to_string() } else { format!("{from}::{name}") };
    match tree {
        UseTree::Path(path) => collect(&path.tree, &below(&path.ident), imports),
        UseTree::Name(name) => imports.push(Import { from: from.to_owned(), name: name.ident.to_string() }),
        // Under its other name it is something else.
        UseTree::Rename(rename) => imports.push(Import { from: String::new(), name: rename.rename.to_string() }),
        UseTree::Glob(_) => imports.push(Import { from: from.to_owned(), name: "*".to_owned() }),
        UseTree::Group(group) => group.items.iter().for_each(|item| collect(item, from, imports)),
    }
}

/// True if an item has this name.
fn declares(item: &Item, name: &str) -> bool {
    match item {
        Item::Fn(item) => item.sig.ident == name,
        Item::Struct(item) => item.ident == name,
        Item::Enum(item) => item.ident == name,
        Item::Mod(item) => item.ident == name,
        Item::Const(item) => item.ident == name,
        Item::Type(item) => item.ident == name,
        _ => false,
    }
}
