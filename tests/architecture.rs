//! Checks what Cargo cannot: inside the crates of runtime/docs/design.md, imports go down only. Sources are parsed, so that
//! every form of a path is found: in a group, through `super`, in a type, and in the tokens of an attribute or a macro. Also
//! checks the sizes of files and functions, and the [documentation].
mod documentation;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Item, ItemUse, UseTree, spanned::Spanned, visit::Visit};

/// The crates that have layers, each with its modules from top to bottom. A module may import from later ones.
const CRATES: [(&str, &[&str]); 3] = [
    (
        "server",
        &[
            "server",
            "kube",
            "http",
            "aggregation",
            "builtin",
            "handlers",
            "verbs",
            "registry",
            "upstream",
            "webhook",
            "metrics",
            "auth",
            "tasks",
        ],
    ),
    (
        "cel",
        &[
            "library", "program", "estimate", "check", "env", "cost", "re2", "value", "types", "meter", "error",
            "syntax", "issue", "source",
        ],
    ),
    ("model", &["testing", "message", "kind", "patch", "codec", "schema"]),
];

/// The sources of a crate in `runtime`.
fn crate_sources(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime").join(name).join("src")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("a folder entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Returns the module path of a file, such as `http`, `body`.
fn module_of(root: &Path, file: &Path) -> Vec<String> {
    let below = file.strip_prefix(root).expect("a source of the runtime").with_extension("");
    let mut module: Vec<String> =
        below.iter().map(|part| part.to_str().expect("names of modules are text").to_owned()).collect();
    module.pop_if(|last| last == "mod");
    module
}

/// Collects the top-level modules of this crate that tokens name.
struct Search {
    /// The module that contains the tokens.
    module: Vec<String>,
    found: BTreeSet<String>,
}

impl Search {
    fn walk(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => self.walk(group.stream()),
                TokenTree::Ident(name) if name == "mod" => {
                    let Some(TokenTree::Ident(name)) = tokens.next() else { continue };
                    if let Some(TokenTree::Group(body)) = tokens.next_if(|next| matches!(next, TokenTree::Group(_))) {
                        self.module.push(name.to_string());
                        self.walk(body.stream());
                        self.module.pop();
                    }
                }
                TokenTree::Ident(name) if name == "crate" || name == "super" || name == "kindsmith" => {
                    let base = if name == "super" {
                        self.module[..self.module.len().saturating_sub(1)].to_vec()
                    } else {
                        Vec::new()
                    };
                    self.path(base, &mut tokens);
                }
                _ => {}
            }
        }
    }

    /// Reads the rest of a path that begins in the module `base`.
    fn path(&mut self, mut base: Vec<String>, tokens: &mut std::iter::Peekable<impl Iterator<Item = TokenTree>>) {
        let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
        while tokens.next_if(is_colon).and_then(|_| tokens.next_if(is_colon)).is_some() {
            match tokens.next() {
                Some(TokenTree::Ident(name)) if name == "super" => drop(base.pop()),
                Some(TokenTree::Ident(name)) if base.is_empty() => {
                    self.found.insert(name.to_string());
                    base.push(name.to_string());
                }
                Some(TokenTree::Group(group)) if base.is_empty() => self.group(group.stream()),
                // The rest of the path is below a top-level module.
                _ => return,
            }
        }
    }

    /// Collects the names in a group that are directly below the root.
    fn group(&mut self, tokens: TokenStream) {
        let mut begins = true;
        for token in tokens {
            match token {
                TokenTree::Ident(name) if begins => {
                    self.found.insert(name.to_string());
                    begins = false;
                }
                TokenTree::Punct(punct) if punct.as_char() == ',' => begins = true,
                _ => {}
            }
        }
    }
}

/// Returns the names that the crate's root exports from its modules, each with its module. Names that the derives export,
/// too, are omitted.
fn exports(root: &Path) -> Vec<(String, String)> {
    let root = fs::read_to_string(root.join("lib.rs")).expect("the crate's root");
    let mut found = Vec::new();
    for item in syn::parse_file(&root).expect("a source that compiles").items {
        if let Item::Use(ItemUse { tree: UseTree::Path(path), .. }) = item {
            collect(&path.tree, &path.ident.to_string(), &mut found);
        }
    }
    let derived: Vec<_> = found.iter().filter(|(_, of)| of == "kindsmith_macros").cloned().collect();
    found.retain(|(name, _)| !derived.iter().any(|(derived, _)| derived == name));
    found
}

fn collect(tree: &UseTree, of: &str, found: &mut Vec<(String, String)>) {
    match tree {
        UseTree::Path(path) => collect(&path.tree, of, found),
        UseTree::Name(name) => found.push((name.ident.to_string(), of.to_owned())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| collect(tree, of, found)),
        UseTree::Rename(_) | UseTree::Glob(_) => panic!("the root exports by name"),
    }
}

/// Returns the top-level modules that a source names.
fn named(text: &str, module: &[&str]) -> BTreeSet<String> {
    let file = syn::parse_file(text).expect("a source that compiles");
    let mut search = Search { module: module.iter().map(|&part| part.to_owned()).collect(), found: BTreeSet::new() };
    for item in &file.items {
        search.walk(item.to_token_stream());
    }
    search.found
}

#[test]
fn imports_go_down_only() {
    let mut wrong = Vec::new();
    for (name, layers) in CRATES {
        let root = crate_sources(name);
        let mut files = Vec::new();
        sources(&root, &mut files);
        let exports = exports(&root);
        for file in files {
            let module = module_of(&root, &file);
            let module: Vec<&str> = module.iter().map(String::as_str).collect();
            let Some(level) = layers.iter().position(|layer| module.first() == Some(layer)) else { continue };
            let mut named = named(&fs::read_to_string(&file).expect("a source file"), &module);
            let taken = exports.iter().filter(|(name, _)| named.contains(name)).map(|(_, of)| of.clone());
            named.extend(taken.collect::<Vec<_>>());
            // The unit tests of every layer may use `testing`, and the functions of expressions.
            named.retain(|name| !matches!(name.as_str(), "testing" | "library") || !module.contains(&"tests"));
            for upper in layers[..level].iter().filter(|&&upper| named.contains(upper)) {
                wrong.push(format!("{} imports {upper}, a layer above {}", file.display(), layers[level]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_way_to_write_a_path_escapes() {
    let cases = [
        ("use crate::{cache, http::body};", "cache http"),
        ("use crate::{cache::{http, kind}, meta};", "cache meta"),
        ("use super::super::verbs::Verbs;", "verbs"),
        ("use super::super::{verbs, auth::User};", "auth verbs"),
        ("use super::sibling::verbs;", ""),
        ("mod tests { use super::super::super::server; use super::super::x; }", "server"),
        ("fn f(api: &crate::verbs::Verbs) -> kindsmith::Server { vec![super::super::http::x()] }", "Server http verbs"),
        ("#[derive(crate::Resource)] struct A(#[api(default = crate::meta::x())] u8);", "Resource meta"),
        ("/// See crate::http.\nuse std::http; const A: &str = \"crate::http\";", ""),
    ];
    for (text, expected) in cases {
        let found: Vec<_> = named(text, &["kind", "record"]).into_iter().collect();
        assert_eq!(found.join(" "), expected, "{text}");
    }
}

const LINES_OF_A_FILE: usize = 400;
const LINES_OF_A_FUNCTION: usize = 70;

/// Functions with the number of their lines.
#[derive(Default)]
struct Functions(Vec<(usize, String)>);

impl Functions {
    fn add(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let lines = body.span().end().line - signature.fn_token.span().start().line + 1;
        self.0.push((lines, signature.ident.to_string()));
    }
}

impl<'a> Visit<'a> for Functions {
    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        self.add(&function.sig, &function.block);
        syn::visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'a syn::ImplItemFn) {
        self.add(&function.sig, &function.block);
        syn::visit::visit_impl_item_fn(self, function);
    }
}

#[test]
fn files_and_functions_fit_their_limits() {
    let (root, mut files, mut wrong) = (Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), Vec::new(), Vec::new());
    for folder in ["codegen", "examples", "macros", "runtime", "tests"] {
        sources(&root.join(folder), &mut files);
    }
    for file in files {
        let text = fs::read_to_string(&file).expect("a source file");
        if text.lines().count() > LINES_OF_A_FILE {
            wrong.push(format!("{} has more than {LINES_OF_A_FILE} lines", file.display()));
        }
        // Compile-fail cases may have invalid syntax.
        let Ok(parsed) = syn::parse_file(&text) else { continue };
        let mut functions = Functions::default();
        functions.visit_file(&parsed);
        for (lines, name) in functions.0.iter().filter(|(lines, _)| *lines > LINES_OF_A_FUNCTION) {
            wrong.push(format!("{} has a function of {lines} lines: {name}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
