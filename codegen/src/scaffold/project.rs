//! The crate in which a command runs, and its groups.

use std::{
    env,
    path::{Path, PathBuf},
};

use kindsmith_formats::files::{self, Limits};

use super::edit::SourceFile;

/// The constant with the name of a group.
const GROUP: &str = "GROUP";

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
