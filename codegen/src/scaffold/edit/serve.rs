//! Calls of the builder in the function `serve`.

use syn::{Expr, FnArg, Item, ItemFn, Pat, Stmt, Type, spanned::Spanned};

use super::{SourceFile, indent};

/// The widest chain of calls that rustfmt keeps on one line.
const CHAIN: usize = 60;

impl SourceFile<'_> {
    /// Adds a kind to the builder in the function `serve`, beside the other kinds.
    pub(crate) fn add_kind(&mut self, path: &str) -> Result<(), String> {
        self.add_call(&format!(".kind::<{path}>()"), &["kind", "kind_with"])
    }

    /// Adds a call to the builder in the function `serve`: after the last call of one of these methods, or at the end.
    pub(crate) fn add_call(&mut self, call: &str, beside: &[&str]) -> Result<(), String> {
        let function = self.serve()?;
        let Some(Stmt::Expr(tail, None)) = function.block.stmts.last() else {
            let line = function.sig.span().start().line;
            let name = self.name;
            let error = format!("{name}:{line}: `serve` does not end in a builder; end it in `server{call}` yourself");
            return Err(error);
        };
        let chain = Chain::of(tail);
        let after = chain.calls.iter().rfind(|call| beside.contains(&&*call.name));
        let at = after.map_or(chain.end, |call| call.end);
        let whole = tail.span().byte_range();
        let is_on_one_line = !self.text[whole.clone()].contains('\n');
        if !is_on_one_line {
            let dot = chain.calls.last().map_or(whole.start, |call| call.dot);
            let line = &self.text[self.line_start(dot)..dot];
            let indent = if line.trim().is_empty() { line.to_owned() } else { indent(line) + "    " };
            self.text.insert_str(at, &format!("\n{indent}{call}"));
        } else if whole.len() + call.len() <= CHAIN {
            self.text.insert_str(at, call);
        } else {
            let start = self.line_start(whole.start);
            let indent = format!("\n{}    ", indent(&self.text[start..whole.start]));
            self.text.insert_str(at, call);
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
