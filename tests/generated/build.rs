//! Generates Rust from the definitions of the corpus, if it is there.
use std::{env, error::Error, fs, path::Path};

use kindsmith_codegen::Builder;

fn main() -> Result<(), Box<dyn Error>> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    println!("cargo::rerun-if-changed={}", shared.display());
    let mut builder = Builder::new().command("cargo build -p generated");
    let mut files: Vec<_> =
        fs::read_dir(shared.join("corpus/crd")).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    if !files.is_empty() {
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
