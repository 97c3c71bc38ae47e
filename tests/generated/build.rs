//! Generates Rust from the definitions and documents of the corpus, if it is there. All documents of Kubernetes take minutes to
//! compile: `KINDSMITH_CORPUS=all` reads them, and otherwise only these.
use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use kindsmith_codegen::Builder;

/// Documents with kinds that are in one version, in several, not stored, and recursive.
const DOCUMENTS: [&str; 6] = [
    "apis__apiextensions.k8s.io__v1",
    "apis__apps__v1",
    "apis__authentication.k8s.io__v1",
    "apis__batch__v1",
    "apis__coordination.k8s.io__v1",
    "apis__coordination.k8s.io__v1alpha2",
];

fn main() -> Result<(), Box<dyn Error>> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    println!("cargo::rerun-if-changed={}", shared.display());
    let mut builder = Builder::new().command("cargo build -p generated");
    let mut files: Vec<_> =
        fs::read_dir(shared.join("corpus/crd")).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    if !files.is_empty() {
        println!("cargo::rerun-if-env-changed=KINDSMITH_CORPUS");
        let all = env::var_os("KINDSMITH_CORPUS").is_some_and(|corpus| corpus == "all");
        let documents = fs::read_dir(shared.join("corpus/kubernetes"))?.flatten().map(|entry| entry.path());
        let is_read = |path: &PathBuf| {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            path.is_file() && (all || DOCUMENTS.contains(&stem))
        };
        files.extend(documents.filter(is_read));
        files.extend(["widget", "gadget", "sprocket"].map(|name| shared.join(format!("conformance/{name}.yaml"))));
    }
    files.sort();
    let out = Path::new(&env::var("OUT_DIR")?).to_owned();
    let sources: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    let mut kinds = Vec::new();
    if files.is_empty() {
        fs::write(out.join("kinds.rs"), "")?;
    } else {
        builder = files.into_iter().fold(builder, Builder::file);
        kinds = builder.generate()?.kinds;
        builder.compile()?;
    }
    let agree: Vec<_> = kinds
        .iter()
        .map(|path| format!("({path:?}, kindsmith::testing::schema_and_type_agree::<{path}> as fn())"))
        .collect();
    let kinds: Vec<_> = kinds.iter().map(|path| format!("<{path} as kindsmith::Resource>::kind()")).collect();
    let all = format!(
        "/// The files that were read.\npub const FILES: &[&str] = &{sources:?};\n\
         /// Checks that types and schemas agree.\npub const AGREE: &[(&str, fn())] = &[{}];\n\
         /// The generated kinds.\npub fn kinds() -> Vec<kindsmith::kind::Kind> {{ vec![{}] }}\n",
        agree.join(", "),
        kinds.join(", "),
    );
    fs::write(out.join("all.rs"), all)?;
    Ok(())
}
