//! Lines in Rust files that a user owns: a `mod`, and a kind in the builder. All other text stays as it is.

use syn::{Expr, FnArg, Item, ItemFn, Pat, Stmt, Type, spanned::Spanned};

/// The widest chain of calls that rustfmt keeps on one line.
const CHAIN: usize = 60;

/// A file of Rust, and its text with the changes.
pub(crate) struct Source<'s> {
    /// Its name, for messages.
    name: &'s str,
    text: String,
}

impl<'s> Source<'s> {
    /// A file with this name and text.
    pub(crate) fn new(name: &'s str, text: &str) -> Self {
        Self { name, text: text.to_owned() }
    }

    /// The text with the changes.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    fn parsed(&self) -> Result<syn::File, String> {
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

    /// Adds a kind to the builder in the function `serve`.
    pub(crate) fn add_kind(&mut self, path: &str) -> Result<(), String> {
        let call = format!(".kind::<{path}>()");
        let function = self.serve()?;
        let Some(Stmt::Expr(tail, None)) = function.block.stmts.last() else {
            let line = function.sig.span().start().line;
            let name = self.name;
            let error = format!("{name}:{line}: `serve` does not end in a builder; end it in `server{call}` yourself");
            return Err(error);
        };
        let chain = Chain::of(tail);
        // Beside the other kinds, or at the end.
        let after = chain.calls.iter().rfind(|call| call.name == "kind" || call.name == "kind_with");
        let at = after.map_or(chain.end, |call| call.end);
        let whole = tail.span().byte_range();
        let is_on_one_line = !self.text[whole.clone()].contains('\n');
        if !is_on_one_line {
            let dot = chain.calls.last().map_or(whole.start, |call| call.dot);
            let line = &self.text[self.line_start(dot)..dot];
            let indent = if line.trim().is_empty() { line.to_owned() } else { indent(line) + "    " };
            self.text.insert_str(at, &format!("\n{indent}{call}"));
        } else if whole.len() + call.len() <= CHAIN {
            self.text.insert_str(at, &call);
        } else {
            let start = self.line_start(whole.start);
            let indent = format!("\n{}    ", indent(&self.text[start..whole.start]));
            self.text.insert_str(at, &call);
            let mut dots: Vec<usize> = chain.calls.iter().map(|found| found.dot).collect();
            dots.iter_mut().filter(|dot| **dot >= at).for_each(|dot| *dot += call.len());
            dots.push(at);
            dots.sort_unstable();
            dots.into_iter().rev().for_each(|dot| self.text.insert_str(dot, &indent));
        }
        Ok(())
    }

    /// Hands the builder in the function `serve` to a module's.
    pub(crate) fn add_group(&mut self, module: &str) -> Result<(), String> {
        let function = self.serve()?;
        let server = builder(&function).expect("`serve` was found by its builder");
        let line = format!("let {server} = {module}::serve({server});\n");
        let hands_over = |statement: &&Stmt| matches!(statement, Stmt::Local(local) if self.hands_over(local));
        if let Some(last) = function.block.stmts.iter().rfind(hands_over) {
            let range = last.span().byte_range();
            let indent = indent(&self.text[self.line_start(range.start)..range.start]);
            let end = self.line_end(range.end);
            self.text.insert_str(end, &format!("{indent}{line}"));
            return Ok(());
        }
        let Some(first) = function.block.stmts.first() else {
            return Err(format!("{}:{}: `serve` is empty", self.name, function.sig.span().start().line));
        };
        let start = self.line_start(first.span().byte_range().start);
        let indent = indent(&self.text[start..]);
        self.text.insert_str(start, &format!("{indent}{line}"));
        Ok(())
    }

    fn hands_over(&self, local: &syn::Local) -> bool {
        self.text[local.span().byte_range()].contains("::serve(")
    }

    /// The function to which a kind or a group is added.
    fn serve(&self) -> Result<ItemFn, String> {
        let found = self.parsed()?.items.into_iter().find_map(|item| match item {
            Item::Fn(function) if function.sig.ident == "serve" && builder(&function).is_some() => Some(function),
            _ => None,
        });
        found.ok_or_else(|| {
            let function = "pub fn serve(server: kindsmith::server::Builder) -> kindsmith::server::Builder { server }";
            let name = self.name;
            format!("{name}: there is no function `serve` of a builder; write `{function}`, call it in main.rs, and run the command again")
        })
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

/// The name of a function's builder, its first argument.
fn builder(function: &ItemFn) -> Option<String> {
    let FnArg::Typed(argument) = function.sig.inputs.first()? else { return None };
    let (Pat::Ident(name), Type::Path(path)) = (&*argument.pat, &*argument.ty) else { return None };
    let is_builder = path.path.segments.last().is_some_and(|last| last.ident == "Builder");
    is_builder.then(|| name.ident.to_string())
}

/// Method calls, one on the other.
struct Chain {
    calls: Vec<Call>,
    end: usize,
}

struct Call {
    name: String,
    dot: usize,
    end: usize,
}

impl Chain {
    fn of(expression: &Expr) -> Self {
        let (mut calls, mut at) = (Vec::new(), expression);
        while let Expr::MethodCall(call) = at {
            let dot = call.dot_token.span().byte_range().start;
            calls.push(Call { name: call.method.to_string(), dot, end: call.span().byte_range().end });
            at = &call.receiver;
        }
        calls.reverse();
        Self { calls, end: expression.span().byte_range().end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, edit: impl FnOnce(&mut Source<'_>) -> Result<(), String>) -> String {
        let mut source = Source::new("src/lib.rs", text);
        edit(&mut source).unwrap();
        source.into_text()
    }

    #[test]
    fn modules_are_declared_in_alphabetical_order_and_other_text_stays() {
        let add = |text: &str| edited(text, |source| source.add_module("order"));
        for (before, after) in [
            ("", "\npub mod order;\n"),
            ("//! Docs.\n\nfn f() {}\n", "//! Docs.\n\npub mod order;\n\nfn f() {}\n"),
            ("use a::b;\n\nfn f() {}\n", "use a::b;\n\npub mod order;\n\nfn f() {}\n"),
            ("mod item; // first\nmod zoo;\n", "mod item; // first\npub mod order;\nmod zoo;\n"),
            ("/// A zoo.\n#[cfg(unix)]\npub mod zoo;\n", "pub mod order;\n/// A zoo.\n#[cfg(unix)]\npub mod zoo;\n"),
            ("mod item;\nmod tests { }\n", "mod item;\npub mod order;\nmod tests { }\n"),
        ] {
            assert_eq!(add(before), after);
        }
    }

    /// The body of `serve` with a further kind.
    fn with_kind(body: &str) -> String {
        let around = |body: &str| format!("// Größe\npub fn serve(server: Builder) -> Builder {{\n{body}}}\n");
        let text = edited(&around(body), |source| source.add_kind("order::Order"));
        let (begin, end) = (around("").len() - 2, text.len() - 2);
        text[begin..end].to_owned()
    }

    #[test]
    fn kinds_are_added_to_the_builder_as_rustfmt_has_it() {
        for (before, after) in [
            ("    server\n", "    server.kind::<order::Order>()\n"),
            ("    server.kind::<Item>()\n", "    server.kind::<Item>().kind::<order::Order>()\n"),
            (
                "    server.kind::<item::Item>().kind::<parcel::Parcel>()\n",
                "    server\n        .kind::<item::Item>()\n        .kind::<parcel::Parcel>()\n        .kind::<order::Order>()\n",
            ),
            (
                "    server\n        .kind::<Item>() // items\n        .subresource(\"log\", text(log))\n",
                "    server\n        .kind::<Item>()\n        .kind::<order::Order>() // items\n        .subresource(\"log\", text(log))\n",
            ),
            (
                "    let server = billing::serve(server);\n    server.virtual_kind(review)\n",
                "    let server = billing::serve(server);\n    server.virtual_kind(review).kind::<order::Order>()\n",
            ),
        ] {
            assert_eq!(with_kind(before), after);
        }
    }

    #[test]
    fn groups_get_the_builder_before_the_kinds_of_the_crate() {
        let around =
            |lines: &str| format!("fn serve(builder: server::Builder) -> Builder {{\n{lines}    builder\n}}\n");
        let first = edited(&around(""), |source| source.add_group("billing"));
        assert_eq!(first, around("    let builder = billing::serve(builder);\n"));
        let second = edited(&first, |source| source.add_group("audit"));
        let both = "    let builder = billing::serve(builder);\n    let builder = audit::serve(builder);\n";
        assert_eq!(second, around(both));
    }

    #[test]
    fn what_cannot_be_edited_is_named_with_its_line() {
        let error = |text: &str| Source::new("src/lib.rs", text).add_kind("a::A").unwrap_err();
        assert!(error("fn main() {\n    let = 1;\n}\n").starts_with("src/lib.rs:2: "));
        assert!(error("fn serve() {}\n").contains("there is no function `serve` of a builder; write `pub fn serve("));
        let unfinished = error("\nfn serve(server: Builder) {\n    server.run();\n}\n");
        assert!(unfinished.starts_with("src/lib.rs:2: `serve` does not end in a builder"), "{unfinished}");
    }

    #[test]
    fn constants_are_found() {
        let source = Source::new("src/lib.rs", "pub const GROUP: &str = \"a.b\";\nconst N: i32 = 1;\n");
        assert_eq!(source.constant("GROUP"), Ok(Some("a.b".to_owned())));
        assert_eq!((source.constant("N"), source.constant("M")), (Ok(None), Ok(None)));
    }
}
