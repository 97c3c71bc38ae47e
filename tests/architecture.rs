//! Checks the layers of README `## Architecture`: imports go down only.
use std::{fs, path::Path};

/// From top to bottom. A module may import from later ones.
const LAYERS: [&str; 14] = [
    "server", "kube", "http", "builtin", "handlers", "verbs", "kind", "auth", "patch", "codec", "schema", "cache",
    "storage", "meta",
];

fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("a folder entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn imports_go_down_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/src");
    let mut wrong = Vec::new();
    for (level, layer) in LAYERS.iter().enumerate() {
        let mut files = Vec::new();
        sources(&root.join(layer), &mut files);
        assert!(!files.is_empty(), "the layer {layer} has no sources");
        for file in files {
            let text = fs::read_to_string(&file).expect("a source file");
            for upper in &LAYERS[..level] {
                let named = text.contains(&format!("crate::{upper}::")) || text.contains(&format!("    {upper}::"));
                if named {
                    wrong.push(format!("{} imports {upper}, a layer above {layer}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_readme_names_exactly_the_existing_modules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = fs::read_to_string(root.join("README.md")).expect("README.md");
    let (_, architecture) = readme.split_once("\n## Architecture\n").expect("README has ## Architecture");
    let mut named: Vec<&str> = architecture
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    let mut there: Vec<String> = fs::read_dir(root.join("runtime/src"))
        .expect("the runtime's sources")
        .map(|entry| entry.expect("a folder entry").path())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .filter(|name| name != "lib")
        .collect();
    named.sort_unstable();
    there.sort_unstable();
    there.dedup();
    assert_eq!(named, there);
}
