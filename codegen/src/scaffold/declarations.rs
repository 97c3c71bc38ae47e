//! The kinds that a crate declares, by its sources: where each is, and the arguments of its `#[resource(…)]`.

use std::path::{Path, PathBuf};

use syn::Item;

use super::{
    edit::SourceFile,
    names,
    project::{Group, Project},
};

/// A kind in one version.
#[derive(Clone, Debug)]
pub(crate) struct KindVersion {
    /// The name of the struct.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// The folder of the modules below the file's.
    pub folder: PathBuf,
    /// The path of the file's module in the crate; empty for `src/lib.rs`.
    pub module: String,
    /// The file that adds the kinds of its group to a server.
    pub served_in: PathBuf,
    /// The path of its module from there.
    pub path: String,
    /// The group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The name in URLs.
    pub plural: String,
    /// Objects are cluster-scoped.
    pub is_cluster: bool,
    /// It is the storage version.
    pub is_stored: bool,
    /// The line of the struct.
    pub line: usize,
}

impl KindVersion {
    /// The file and the line, for messages.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.file.display(), self.line)
    }

    /// The path of its objects in URLs, those of the namespace `default`.
    pub(crate) fn objects(&self) -> String {
        names::objects_path(&self.group, &self.version, &self.plural, self.is_cluster)
    }

    /// A file of a module below it.
    pub(crate) fn below(&self, module: &str) -> PathBuf {
        self.folder.join(module).with_extension("rs")
    }

    /// Checks that its file has only this kind, so that modules below it are those of the kind.
    pub(crate) fn check_own_file(&self) -> Result<(), String> {
        if self.file != self.served_in {
            return Ok(());
        }
        let (module, name) = (names::module(&self.name), &self.name);
        let folder = self.folder.display();
        Err(format!(
            "{}: {name} is declared beside `serve`; move it to a file of its own, {folder}/{module}.rs, and run the command again",
            self.place()
        ))
    }
}

/// A kind, in all its versions.
pub(crate) struct VersionedKind {
    /// The storage version.
    pub stored: KindVersion,
    /// The other versions.
    pub others: Vec<KindVersion>,
}

impl VersionedKind {
    /// All versions.
    pub(crate) fn versions(&self) -> impl Iterator<Item = &KindVersion> {
        std::iter::once(&self.stored).chain(&self.others)
    }
}

impl Project {
    /// A kind of the crate.
    pub(crate) fn kind(&self, name: &str, group: Option<&str>) -> Result<VersionedKind, String> {
        let groups = match group {
            Some(_) => std::slice::from_ref(self.named(group)?),
            None => &self.groups[..],
        };
        let mut all = Vec::new();
        for group in groups {
            let prefix = group.module();
            self.declarations(group, &group.file, &group.folder, &prefix, "", &mut all)?;
        }
        let mut stored: Vec<KindVersion> = all.iter().filter(|kind| kind.is_stored).cloned().collect();
        stored.sort_by(|one, other| one.name.cmp(&other.name));
        let mut found = stored.iter().filter(|kind| kind.name == name);
        match (found.next(), found.next()) {
            (Some(kind), None) => {
                let below = format!("{}::", kind.module);
                let is_version = |other: &&KindVersion| {
                    !other.is_stored
                        && (other.name == name || !kind.module.is_empty() && other.module.starts_with(&below))
                };
                Ok(VersionedKind { stored: kind.clone(), others: all.iter().filter(is_version).cloned().collect() })
            }
            (Some(one), Some(other)) => {
                Err(format!("{name} is in the groups {} and {}; choose one with --group", one.group, other.group))
            }
            (None, _) => {
                let names: Vec<&str> = stored.iter().map(|kind| &*kind.name).collect();
                let all = if names.is_empty() { String::new() } else { format!(", but {}", names.join(", ")) };
                Err(format!("there is no kind {name}{all}; `kindsmith add kind {name} FIELD:TYPE` adds it"))
            }
        }
    }

    /// Notes the kinds of a file and of the modules below it, except those of other groups.
    fn declarations(
        &self,
        group: &Group,
        file: &Path,
        folder: &Path,
        module: &str,
        path: &str,
        all: &mut Vec<KindVersion>,
    ) -> Result<(), String> {
        let shown = file.display().to_string();
        let source = SourceFile::new(&shown, &self.read(file)?);
        for item in source.parsed()?.items {
            let Item::Struct(item) = item else { continue };
            let Some(arguments) = source.arguments(&item)? else { continue };
            if arguments.contains_key("unstored") {
                continue;
            }
            let text = |name: &str| arguments.get(name).and_then(|argument| argument.text.clone());
            let name = item.ident.to_string();
            all.push(KindVersion {
                file: file.to_owned(),
                folder: folder.to_owned(),
                module: module.to_owned(),
                served_in: group.file.clone(),
                path: path.to_owned(),
                group: text("group").unwrap_or_else(|| group.name.clone()),
                version: text("version").unwrap_or_default(),
                plural: text("plural").unwrap_or_else(|| names::plural(&name)),
                is_cluster: arguments.contains_key("cluster"),
                is_stored: !arguments.contains_key("storage"),
                line: item.ident.span().start().line,
                name,
            });
        }
        for below in source.modules()? {
            let found = [folder.join(&below).with_extension("rs"), folder.join(&below).join("mod.rs")];
            let Some(file) = found.into_iter().find(|file| self.root.join(file).is_file()) else { continue };
            if self.groups.iter().any(|group| group.file == file) {
                continue;
            }
            let join = |outer: &str| if outer.is_empty() { below.clone() } else { format!("{outer}::{below}") };
            self.declarations(group, &file, &folder.join(&below), &join(module), &join(path), all)?;
        }
        Ok(())
    }
}
