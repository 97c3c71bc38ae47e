//! A new crate, and the crate in which a command runs.

use std::{
    env,
    path::{Path, PathBuf},
};

use kindsmith_formats::files::{self, Limits};

use super::{edit::SourceFile, kind::Kind, names};

/// The constant with the name of a group.
const GROUP: &str = "GROUP";

/// Names that a crate cannot have, because it uses them.
const USED: [&str; 8] = ["kindsmith", "serde", "serde_json", "tokio", "std", "core", "alloc", "test"];

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
kindsmith = {{ {dependency}, features = ["logging"] }}
serde = {{ version = "1", features = ["derive"] }}
tokio = {{ version = "1", features = ["macros", "rt-multi-thread"] }}

[dev-dependencies]
serde_json = "1"

# Lines in backtraces, and no variables in debuggers: a quarter less to build.
[profile.dev]
debug = "line-tables-only"
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
    let main = format!(
        r#"//! Serves the API: `cargo run`, or `cargo run -- 127.0.0.1:0` for a free port.

use kindsmith::Server;

#[tokio::main]
async fn main() -> kindsmith::Result<()> {{
    let _log = kindsmith::logging::init("info");
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let server = {krate}::serve(Server::builder()).data_dir("./data").sample_manifest("{sample}");
    server.serve(&address).await
}}
"#,
        sample = sample.display()
    );
    let readme = readme(name, kind, &sample);
    let files = [
        (".gitignore", "/target\n/data\n".to_owned()),
        ("Cargo.toml", manifest),
        ("README.md", readme),
        ("src/lib.rs", library),
        ("src/main.rs", main),
    ];
    files.map(|(path, text)| (PathBuf::from(path), text)).into()
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
         | `src/main.rs` | where it listens, and where it keeps its data |\n\
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

/// A crate that serves groups.
pub(crate) struct Project {
    /// Its folder.
    pub root: PathBuf,
    /// Its groups; the first is that of `src/lib.rs`.
    pub groups: Vec<Group>,
}

/// A group of a crate.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Its name.
    pub name: String,
    /// The file that adds its kinds to a server.
    pub file: PathBuf,
    /// The folder of its kinds.
    pub folder: PathBuf,
}

impl Group {
    /// The path of its module in the crate; empty for that of `src/lib.rs`.
    pub(crate) fn module(&self) -> String {
        let module = self.folder.strip_prefix("src").unwrap_or(&self.folder);
        module.display().to_string()
    }
}

impl Project {
    /// The crate around the current folder.
    pub(crate) fn here() -> Result<Self, String> {
        let here = env::current_dir().map_err(|error| format!("the current folder: {error}"))?;
        let root = here.ancestors().find(|folder| folder.join("Cargo.toml").is_file());
        let way_out = "`kindsmith new NAME` makes a crate";
        let Some(root) = root.map(Path::to_owned) else {
            return Err(format!("{}: no Cargo.toml is here or above; {way_out}", here.display()));
        };
        let library = Path::new("src/lib.rs");
        if !root.join(library).is_file() {
            return Err(format!("{}: there is no src/lib.rs, to which kinds are added; {way_out}", root.display()));
        }
        let mut project = Self { root, groups: Vec::new() };
        let modules = project.group(library, Path::new("src"))?;
        for module in modules {
            let file = PathBuf::from(format!("src/{module}.rs"));
            if project.root.join(&file).is_file() {
                project.group(&file, &Path::new("src").join(&module))?;
            }
        }
        Ok(project)
    }

    /// Notes the group of a file, if it has one. Returns the file's modules.
    fn group(&mut self, file: &Path, folder: &Path) -> Result<Vec<String>, String> {
        let text = self.read(file)?;
        let name = file.display().to_string();
        let source = SourceFile::new(&name, &text);
        if let Some(name) = source.constant(GROUP)? {
            self.groups.push(Group { name, file: file.to_owned(), folder: folder.to_owned() });
        }
        source.modules()
    }

    /// The text of a file.
    pub(crate) fn read(&self, file: &Path) -> Result<String, String> {
        files::read_text(&self.root.join(file), &Limits::default())
            .map_err(|error| format!("{}: {error}", file.display()))
    }

    /// The group with this name or, without a name, that of `src/lib.rs`.
    pub(crate) fn named(&self, group: Option<&str>) -> Result<&Group, String> {
        let Some(name) = group else {
            return self.groups.first().ok_or_else(|| {
                "src/lib.rs: no group is declared; write `pub const GROUP: &str = \"shop.example.com\";` with its name".to_owned()
            });
        };
        let found = self.groups.iter().find(|group| group.name == name);
        let found = found.or_else(|| self.groups.iter().find(|group| group.name.split('.').next() == Some(name)));
        found.ok_or_else(|| {
            let names: Vec<&str> = self.groups.iter().map(|group| &*group.name).collect();
            format!("there is no group {name}, but {}; `kindsmith add group {name}` adds it", names.join(", "))
        })
    }
}
