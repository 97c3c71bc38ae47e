//! Checks README and the guide: every block of code is compiled, every link leads somewhere, and what names modules and options
//! names all of them.
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use syn::{ImplItem, Item, Type, Visibility};

use super::{CRATES, crate_sources, sources};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files in a folder.
fn entries(folder: &str) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(root().join(folder)).expect("a folder of documentation");
    entries.map(|entry| entry.expect("a folder entry").path())
}

/// The pages of the guide.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<_> =
        entries("runtime/docs").filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    pages
}

/// The section of a text below a heading.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    rest.split("\n## ").next().expect("a text has a first part")
}

#[test]
fn every_rust_block_of_the_documentation_is_compiled() {
    let mut files = vec![root().join("README.md")];
    for folder in ["runtime", "macros/src", "examples"] {
        sources(&root().join(folder), &mut files);
    }
    files.extend(["macros/src/docs", "runtime/server/src/server/docs"].into_iter().flat_map(entries));
    files.extend(pages());
    let compiled = read(&root().join("tests/support/documents.rs"));
    for file in files {
        let text = read(&file);
        let ignored = text.lines().find(|line| line.contains("```") && line.contains("ignore"));
        assert_eq!(ignored, None, "{}", file.display());
        let name = file.strip_prefix(root()).expect("a file of the project").display().to_string();
        if name.starts_with("runtime/docs/") && text.contains("```rust") {
            assert!(
                compiled.contains(&format!("\"../../{name}\"")),
                "tests/support/documents.rs does not compile {name}"
            );
        }
    }
}

#[test]
fn the_guide_has_every_page_and_every_picture() {
    let guide = read(&root().join("runtime/src/guide/mod.rs"));
    let index = read(&root().join("runtime/docs/README.md"));
    for path in entries("runtime/docs") {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(guide.contains(&format!("\"../../docs/{name}\"")), "the guide does not include {name}");
        let is_picture = path.extension().is_some_and(|end| end == "svg");
        let is_listed = name == "README.md" || is_picture || index.contains(&format!(": {name}\n"));
        assert!(is_listed, "runtime/docs/README.md does not lead to {name}");
    }
    let lines = read(&root().join("README.md")).lines().count();
    assert!(lines <= 200, "README has {lines} lines; what is more belongs into a page of the guide");
}

/// The links of a text outside of blocks of code: the targets that it names, and the names that it uses and defines.
#[derive(Default)]
struct Links {
    targets: Vec<String>,
    used: Vec<String>,
    defined: Vec<(String, String)>,
}

impl Links {
    fn of(text: &str) -> Self {
        let (mut links, mut is_code) = (Self::default(), false);
        for line in text.lines() {
            is_code ^= line.starts_with("```");
            if is_code {
                continue;
            }
            if let Some((name, target)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
                links.defined.push((name.to_owned(), target.to_owned()));
                continue;
            }
            let after = |mark| line.split(mark).skip(1);
            links.targets.extend(after("](").filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
            links.used.extend(after("][").filter_map(|rest| Some(rest.split_once(']')?.0.to_owned())));
        }
        links.targets.extend(links.defined.iter().map(|(_, target)| target.clone()));
        links
    }
}

#[test]
fn every_link_of_the_documentation_leads_somewhere() {
    let inside = read(&root().join("runtime/src/guide/links.md"));
    let readme = root().join("README.md");
    for file in pages().iter().chain([&readme]) {
        let (links, name) = (Links::of(&read(file)), file.display());
        let folder = file.parent().expect("a file is in a folder");
        for target in links.targets.iter().filter(|target| !target.contains("://")) {
            assert!(folder.join(target).exists(), "{name}: there is no {target}");
        }
        for used in &links.used {
            assert!(links.defined.iter().any(|(name, _)| name == used), "{name}: nothing says where [{used}] leads");
        }
        for (link, target) in links.defined.iter().filter(|(_, target)| *file != readme && !target.contains("://")) {
            assert!(links.used.contains(link), "{name}: nothing uses [{link}]");
            assert!(
                inside.lines().any(|line| line.starts_with(&format!("[{link}]: "))),
                "guide/links.md does not say where [{link}] leads: {target}"
            );
        }
    }
}

#[test]
fn the_design_names_exactly_the_existing_modules() {
    let design = read(&root().join("runtime/docs/design.md"));
    let mut named: Vec<&str> = section(&design, "## Modules")
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    let modules = |name: &str| {
        let entries = fs::read_dir(crate_sources(name)).expect("a crate's sources");
        let paths = entries.map(|entry| entry.expect("a folder entry").path());
        // The widget is a kind for tests.
        let names = paths.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
        names.filter(|name| name != "lib" && name != "widget").collect::<BTreeSet<_>>()
    };
    for (name, layers) in CRATES {
        let layers: BTreeSet<_> = layers.iter().map(|&layer| layer.to_owned()).collect();
        assert_eq!(modules(name), layers, "each module of {name} has its place among the layers");
    }
    let mut there: Vec<_> = CRATES.iter().flat_map(|(name, _)| modules(name)).collect();
    named.sort_unstable();
    there.sort_unstable();
    assert_eq!(named, there);
}

#[test]
fn the_reference_names_every_option_of_the_builder() {
    let reference = read(&root().join("runtime/docs/reference.md"));
    let (mut files, mut options) = (Vec::new(), BTreeSet::new());
    sources(&crate_sources("server").join("server"), &mut files);
    for file in files {
        for item in syn::parse_file(&read(&file)).expect("a source that compiles").items {
            let Item::Impl(block) = item else { continue };
            let is_builder = matches!(&*block.self_ty, Type::Path(path) if path.path.is_ident("Builder"));
            let items = block.items.iter().filter(|_| is_builder && block.trait_.is_none());
            options.extend(items.filter_map(|item| match item {
                ImplItem::Fn(method) if matches!(method.vis, Visibility::Public(_)) => {
                    Some(method.sig.ident.to_string())
                }
                _ => None,
            }));
        }
    }
    assert!(options.len() > 35, "{options:?}");
    let options =
        options.iter().filter(|option| !["(", "::<"].iter().any(|end| reference.contains(&format!("`.{option}{end}"))));
    let missing: Vec<_> = options.collect();
    assert!(missing.is_empty(), "runtime/docs/reference.md does not name {missing:?}");
}
