//! The files of a new crate, and of a new group.

use std::path::{Path, PathBuf};

use super::{kind::Kind, names};

/// Names that a crate cannot have, because it uses them.
const USED: [&str; 9] = ["kindsmith", "mimalloc", "serde", "serde_json", "tokio", "std", "core", "alloc", "test"];

/// Checks the name of a new crate.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(allowed) {
        return Err(format!(
            "a crate is called by lower-case letters, digits and dashes, such as my-shop, not {name:?}"
        ));
    }
    let module = name.replace('-', "_");
    if USED.contains(&&*module) || names::is_keyword(&module) {
        return Err(format!(
            "a crate cannot be called {name}, which means something else in its sources; choose another name"
        ));
    }
    Ok(())
}

/// The files of a new crate, without those of its first kind.
pub(crate) fn files(name: &str, dependency: &str, kind: &Kind) -> Vec<(PathBuf, String)> {
    let (krate, group) = (name.replace('-', "_"), &kind.group);
    let (module, sample) = (names::module(&kind.name), sample_path(kind));
    let manifest = format!(
        r#"[package]
name = "{name}"
version = "0.1.0"
edition = "2024"

[dependencies]
kindsmith = {{ {dependency}, features = ["settings"] }}
mimalloc = {{ version = "0.1", features = ["no_thp"] }}
serde = {{ version = "1", features = ["derive"] }}
tokio = {{ version = "1", features = ["macros", "rt-multi-thread"] }}

[dev-dependencies]
serde_json = "1"

# Lines in backtraces, and no variables in debuggers: a quarter less to build.
[profile.dev]
debug = "line-tables-only"

# Inlines across crates: requests take 5 to 10% less CPU.
[profile.release]
lto = "thin"
"#
    );
    let library = format!(
        r#"//! The API of {name}: its kinds.

use kindsmith::server::Builder;

pub mod {module};

/// The group of the kinds.
pub const GROUP: &str = "{group}";

/// Adds all kinds to a server.
pub fn serve(server: Builder) -> Builder {{
    server.kind::<{module}::{kind}>()
}}
"#,
        kind = kind.name
    );
    let readme = readme(name, kind, &sample);
    let files = [
        (".gitignore", "/target\n/data\n".to_owned()),
        ("Cargo.toml", manifest),
        ("README.md", readme),
        ("src/lib.rs", library),
        ("src/main.rs", main(&krate, &sample)),
    ];
    files.map(|(path, text)| (PathBuf::from(path), text)).into()
}

fn main(krate: &str, sample: &Path) -> String {
    format!(
        r#"//! Serves the API: `cargo run`; `cargo run -- --help` lists its settings.

use kindsmith::{{Server, server::Settings}};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[tokio::main]
async fn main() -> kindsmith::Result<()> {{
    let settings = Settings::of_process();
    let _log = settings.start_log();
    let server = {krate}::serve(Server::builder()).sample_manifest("{sample}");
    settings.serve(server).await
}}
"#,
        sample = sample.display()
    )
}

fn readme(name: &str, kind: &Kind, sample: &Path) -> String {
    let plural = names::plural(&kind.name);
    format!(
        "# {name}\n\n\
         An API server for `{group}`, made with Kindsmith.\n\n\
         ```sh\n\
         cargo test    # the tests\n\
         cargo run     # serves on https://127.0.0.1:8080, with its data in ./data\n\
         ```\n\n\
         In another terminal:\n\n\
         ```sh\n\
         export KUBECONFIG=data/kubeconfig\n\
         kubectl apply -f {sample}\n\
         kubectl get {plural}\n\
         ```\n\n\
         | file | what it has |\n|---|---|\n\
         | `src/lib.rs` | the list of what is served |\n\
         | `src/{module}.rs` | a kind with its tests; each kind has such a file |\n\
         | `src/main.rs` | the program, with the settings that `cargo run -- --help` lists |\n\
         | `samples/` | an object of each kind |\n\n\
         `kindsmith add kind NAME FIELD:TYPE …` adds a kind. `kindsmith add --help` lists what else can be added: groups, versions,\n\
         subresources and controllers.\n",
        group = kind.group,
        sample = sample.display(),
        module = names::module(&kind.name)
    )
}

/// The file with an object of a kind.
pub(crate) fn sample_path(kind: &Kind) -> PathBuf {
    format!("samples/{}.yaml", names::snake(&kind.name)).into()
}

/// The file of a new group's module.
pub(crate) fn group_source(group: &str) -> String {
    format!(
        r#"//! The group `{group}`.

use kindsmith::server::Builder;

/// The name of the group.
pub const GROUP: &str = "{group}";

/// Adds the kinds of the group to a server.
pub fn serve(server: Builder) -> Builder {{
    server
}}
"#
    )
}

/// The name of a group's module: the first part of its name.
pub(crate) fn group_module(group: &str) -> String {
    names::module_called(group.split('.').next().unwrap_or(group))
}
