//! Generates Rust from random definitions: the first of which Rust says everything, that is, those without a warning. Their seeds are the
//! same in each build.
use std::{env, error::Error, fs, path::Path};

use kindsmith_codegen::Builder;

// They are shared with the tests over the wire, and only some of it is used here.
#[allow(unreachable_pub)]
#[path = "../support/definitions.rs"]
mod definitions;
#[allow(dead_code, unreachable_pub)]
#[path = "../support/random.rs"]
mod random;

use definitions::Definitions;
use random::Random;

/// The number of definitions.
const MODELS: usize = 40;

fn main() -> Result<(), Box<dyn Error>> {
    for source in ["definitions", "random"] {
        println!("cargo::rerun-if-changed=../support/{source}.rs");
    }
    let out = Path::new(&env::var("OUT_DIR")?).to_owned();
    let mut builder = Builder::new().command("cargo build -p models");
    let mut files = Vec::new();
    for seed in 0.. {
        let definition = Definitions(Random::from_seed(seed)).definition(files.len());
        let path = out.join(format!("definition-{}.json", files.len()));
        fs::write(&path, format!("{definition:#}"))?;
        if Builder::new().file(&path).generate()?.warnings.is_empty() {
            builder = builder.file(&path);
            files.push(path.display().to_string());
        }
        if files.len() == MODELS {
            break;
        }
    }
    let kinds = builder.generate()?.kinds;
    builder.compile()?;
    let kinds: Vec<_> = kinds.iter().map(|path| format!("<{path} as kindsmith::Resource>::kind()")).collect();
    let all = format!(
        "/// The definitions.\npub const FILES: &[&str] = &{files:?};\n\
         /// The generated Rust.\npub const TEXT: &str = include_str!(concat!(env!(\"OUT_DIR\"), \"/kinds.rs\"));\n\
         /// The kinds that the compiled types declare.\n\
         pub fn kinds() -> Vec<kindsmith::kind::Kind> {{ vec![{}] }}\n",
        kinds.join(", "),
    );
    fs::write(out.join("all.rs"), all)?;
    Ok(())
}
