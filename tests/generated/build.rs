//! Generates Rust from the definitions and documents of the corpus, and from the manifests of the conformance kit, if they are
//! there. All documents of Kubernetes take minutes to compile: `KINDSMITH_CORPUS=all` reads them, and otherwise only some. The
//! variable may also be a folder, whose files are read instead. `forms.yaml` is always read, and so are definitions made at random:
//! `KINDSMITH_RANDOM` is another seed than that of all days.
mod random;
mod words;

use std::{
    env,
    error::Error,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use kindsmith::{kind::crd, testing};
use kindsmith_codegen::{Builder, GeneratedCode};
use random::Definitions;

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
    println!("cargo::rerun-if-env-changed=KINDSMITH_CORPUS");
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    for folder in ["corpus", "conformance"] {
        println!("cargo::rerun-if-changed={}", shared.join(folder).display());
    }
    let corpus = env::var("KINDSMITH_CORPUS").unwrap_or_default();
    let mut files = match corpus.as_str() {
        "" | "all" => corpora(&shared, corpus == "all"),
        folder => files(Path::new(folder)),
    };
    let has_corpus = !files.is_empty();
    files.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("forms.yaml"));
    files.extend(random()?);
    let builder = Builder::new().command("cargo build -p generated").quiet();
    let builder = files.iter().fold(builder, Builder::file);
    let generated = builder.generate()?;
    builder.compile()?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("all.rs"), list(&files, has_corpus, &generated)?)?;
    Ok(())
}

/// How many random definitions there are.
const MOST_RANDOM: usize = 40;

/// Definitions made at random that the server takes.
fn random() -> Result<Vec<PathBuf>, Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=KINDSMITH_RANDOM");
    let seed = env::var("KINDSMITH_RANDOM").map_or(Ok(11), |seed| seed.parse())?;
    let (mut definitions, mut taken, mut made) = (Definitions::of_seed(seed), Vec::new(), 0);
    while taken.len() < MOST_RANDOM {
        made += 1;
        let definition = definitions.next();
        if is_taken(&definition) {
            taken.push(definition);
        } else if made > 100 * MOST_RANDOM {
            return Err(format!("of {made} random definitions, the server took {}", taken.len()).into());
        }
    }
    let folder = PathBuf::from(env::var("OUT_DIR")?);
    let file = |index: usize| folder.join(format!("random-{index}.json"));
    for (index, definition) in taken.iter().enumerate() {
        fs::write(file(index), definition.to_string())?;
    }
    Ok((0..taken.len()).map(file).collect())
}

/// True for a definition that the server takes, and of which objects can be made.
fn is_taken(definition: &serde_json::Value) -> bool {
    let Ok(defined) = crd::define(definition) else { return false };
    defined.definition.kinds(&kindsmith::kind::Custom).iter().all(testing::has_documents)
}

/// The files of a folder, in the order of their names; none if there is no such folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// The files of the corpus, and the manifests of the kit.
fn corpora(shared: &Path, is_all: bool) -> Vec<PathBuf> {
    let mut all = files(&shared.join("corpus/crd"));
    let kit = ["widget", "gadget", "sprocket"].map(|name| shared.join(format!("conformance/{name}.yaml")));
    all.extend(kit.into_iter().filter(|file| file.is_file()));
    all.extend(kubernetes(shared, is_all));
    all
}

/// The documents of Kubernetes, and its discovery, which is read beside them.
fn kubernetes(shared: &Path, is_all: bool) -> Vec<PathBuf> {
    let mut documents = files(&shared.join("corpus/kubernetes"));
    if documents.is_empty() {
        return documents;
    }
    let stem = |path: &PathBuf| path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
    documents.retain(|path| is_all || stem(path).is_some_and(|stem| DOCUMENTS.contains(&&*stem)));
    documents.extend(files(&shared.join("corpus/kubernetes/discovery")));
    documents
}

/// What the tests need to know of the generated kinds.
fn list(files: &[PathBuf], has_corpus: bool, generated: &GeneratedCode) -> Result<String, Box<dyn Error>> {
    let files: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    let mut text = format!(
        "/// The files that were read.\npub const FILES: &[&str] = &{files:?};\n\
         /// The corpus is among them.\npub const HAS_CORPUS: bool = {has_corpus};\n"
    );
    text += "/// Checks that a type and its schema agree on a number of documents.\npub type Check = fn(u64);\n\
             /// The checks of all kinds.\npub const AGREE: &[(&str, Check)] = &[\n";
    for path in &generated.kinds {
        writeln!(text, "({path:?}, kindsmith::testing::schema_and_type_agree_on::<{path}> as Check),")?;
    }
    text += "];\n/// The generated kinds.\npub fn kinds() -> Vec<kindsmith::kind::Kind> {\nvec![\n";
    for path in &generated.kinds {
        writeln!(text, "<{path} as kindsmith::Resource>::kind(),")?;
    }
    Ok(text + "]\n}\n")
}
