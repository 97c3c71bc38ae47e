//! The builder: what to read, what to change, and where to write.
use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    path::{Path, PathBuf},
};

use kindsmith_formats::files::{Folder, Limits, RelativePath};
use kindsmith_meta::text::in_one_line;

use crate::{Kinds, ResourceDeclaration};

use super::{
    Error, File, GeneratedCode, Options, Warning, assign, collect::Collector, emit::Emitter, model::Model, names,
};

/// Generates Rust from manifests of CustomResourceDefinitions, and from OpenAPI v3 documents as Kubernetes publishes them.
///
/// In a build.rs:
///
/// ```no_run
/// # fn main() -> Result<(), kindsmith_codegen::Error> {
/// kindsmith_codegen::Builder::new().file("schemas/clock.yaml").compile()
/// # }
/// ```
///
/// and in the crate `include!(concat!(env!("OUT_DIR"), "/kinds.rs"));`. The file has a module for each group, with one for each
/// of its versions. For files that are committed, use [`generate`](Self::generate).
///
/// OpenAPI documents are read together with the discovery documents, overlays and Protobuf definitions among the files
/// ([`kindsmith::kind::openapi`]). A type with a name is generated once, in the first module that uses it; the modules after it
/// import it. A type that contains itself is raw JSON below its first turn.
///
/// The methods take the names that the generated code has by default.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Builder {
    files: Vec<PathBuf>,
    options: Options,
    is_quiet: bool,
    /// The size up to which files are read, in bytes.
    largest: Option<u64>,
}

impl Builder {
    /// A builder that reads nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a file: a manifest of CustomResourceDefinitions, an OpenAPI document, or one that is read beside those.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(path.into());
        self
    }

    /// Names a type differently.
    pub fn rename_type(mut self, name: &str, to: &str) -> Self {
        self.options.types.insert(name.to_owned(), to.to_owned());
        self
    }

    /// Names the field of a type differently, in Rust alone. `wire` is its name on the wire.
    pub fn rename_field(mut self, ty: &str, wire: &str, to: &str) -> Self {
        self.options.fields.insert((ty.to_owned(), wire.to_owned()), to.to_owned());
        self
    }

    /// Uses a type of yours, which implements [`ApiType`](kindsmith::ApiType), wherever a type would be used.
    pub fn replace_type(mut self, name: &str, path: &str) -> Self {
        self.options.replaced.insert(name.to_owned(), path.to_owned());
        self
    }

    /// Leaves out a kind, or a nested type, whose values are raw JSON then.
    pub fn skip(mut self, name: &str) -> Self {
        self.options.skipped.push(name.to_owned());
        self
    }

    /// Adds a derive to a type, or to all types, named `*`.
    pub fn derive(mut self, ty: &str, path: &str) -> Self {
        self.options.derives.entry(ty.to_owned()).or_default().push(path.to_owned());
        self
    }

    /// Adds an attribute to a type, or to a field, named `BookSpec.author` after its name on the wire.
    pub fn attribute(mut self, of: &str, attribute: &str) -> Self {
        self.options.attributes.entry(of.to_owned()).or_default().push(attribute.to_owned());
        self
    }

    /// Puts each group behind a feature with the name of its module. A group whose types others use is compiled with these,
    /// too.
    pub fn features(mut self) -> Self {
        self.options.features = true;
        self
    }

    /// The command that generates the files again, for their headers.
    pub fn command(mut self, command: &str) -> Self {
        command.clone_into(&mut self.options.command);
        self
    }

    /// Leaves the warnings out of what [`compile`](Self::compile) prints, once you have read them. They are in `kinds.warnings`
    /// beside the file.
    pub fn quiet(mut self) -> Self {
        self.is_quiet = true;
        self
    }

    /// The size in bytes up to which files are read, 16 MiB if nothing is said. All files together may be sixteen times as large.
    pub fn max_file_size(mut self, bytes: u64) -> Self {
        self.largest = Some(bytes);
        self
    }

    /// Generates the files: `mod.rs`, and a folder for each group with a file for each version.
    ///
    /// # Errors
    /// Everything that is wrong with the documents, or the first option that is wrong.
    pub fn generate(&self) -> Result<GeneratedCode, Error> {
        let (model, mut code) = self.model()?;
        let mut groups: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
        for (module, text) in self.modules(&model, &mut code)? {
            let header = self.header(&format!("The kinds of {}.", called(&module.group, &module.version)));
            let path = PathBuf::from(&module.folder).join(format!("{}.rs", module.name()));
            code.files.push(File { path, text: format!("{header}\n{text}") });
            groups.entry(&module.folder).or_default().push((module.name(), module.group.clone()));
        }
        let mut root = self.header("Generated kinds, by group.") + "\n";
        for (folder, versions) in &mut groups {
            versions.sort();
            let name = group_called(&versions[0].1);
            let modules: String = versions.iter().flat_map(|(version, _)| ["pub mod ", version, ";\n"]).collect();
            let header = self.header(&format!("The versions of {name}."));
            code.files.push(File { path: Path::new(folder).join("mod.rs"), text: format!("{header}\n{modules}") });
            root += &self.gate(&model, folder);
            root.extend(["pub mod ", folder, ";\n"]);
        }
        code.files.push(File { path: "mod.rs".into(), text: root });
        code.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(code)
    }

    /// Writes one file for a build.rs, `kinds.rs` in `OUT_DIR`, and tells Cargo which files were read from elsewhere, and as
    /// warnings what the code does not say of them. Cargo shows the first ten; all are in `kinds.warnings` beside the file.
    ///
    /// # Errors
    /// As [`generate`](Self::generate), or if the file cannot be written.
    pub fn compile(&self) -> Result<(), Error> {
        let folder =
            env::var_os("OUT_DIR").ok_or_else(|| Error::Invalid("OUT_DIR is not set: not in a build.rs".into()))?;
        let folder = PathBuf::from(folder);
        for file in self.watched(&folder) {
            println!("cargo::rerun-if-changed={}", in_one_line(&file.to_string_lossy()));
        }
        let (model, mut code) = self.model()?;
        let text = self.inline(&model, &mut code)?;
        self.warn(&code.warnings, &folder)?;
        write(&folder, "kinds.rs", &text)
    }

    /// The files that a build depends on. What a build.rs has written to `OUT_DIR` itself is newer than its run, and would let Cargo
    /// run it again in each build.
    fn watched(&self, out_dir: &Path) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().filter(move |file| !file.starts_with(out_dir))
    }

    /// Writes the warnings to a file in a folder, and the first ones for Cargo to show.
    fn warn(&self, warnings: &[Warning], folder: &Path) -> Result<(), Error> {
        const FILE: &str = "kinds.warnings";
        /// Cargo repeats them in each build.
        const MOST_SHOWN: usize = 10;
        let shown = if self.is_quiet { 0 } else { MOST_SHOWN };
        warnings.iter().take(shown).for_each(|warning| println!("cargo::warning={warning}"));
        if !self.is_quiet && warnings.len() > shown {
            println!("cargo::warning=and {} more, in {}", warnings.len() - shown, folder.join(FILE).display());
        }
        let mut lines: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        // The last line ends, too.
        lines.push(String::new());
        write(folder, FILE, &lines.join("\n"))
    }

    /// All modules in one text.
    fn inline(&self, model: &Model, code: &mut GeneratedCode) -> Result<String, Error> {
        let mut groups: BTreeMap<&str, Vec<(&str, String)>> = BTreeMap::new();
        for (module, text) in self.modules(model, code)? {
            let (name, about) = (module.name(), called(&module.group, &module.version));
            let text = format!("/// The kinds of {about}.\npub mod {name} {{\n{text}}}\n");
            groups.entry(&module.folder).or_default().push((&module.group, text));
        }
        let mut text = String::new();
        for (folder, versions) in groups {
            let about = group_called(versions[0].0);
            let gate = self.gate(model, folder);
            text.extend(["/// The versions of ", about, ".\n", &gate, "pub mod ", folder, " {\n"]);
            text.extend(versions.into_iter().map(|(_, text)| text));
            text += "}\n";
        }
        Ok(text)
    }

    /// The attributes of a group's module. Descriptions of others do not follow the conventions of doc comments.
    fn gate(&self, model: &Model, folder: &str) -> String {
        const ALLOWED: &str = "#[allow(clippy::all, clippy::pedantic, nonstandard_style, rustdoc::all)]\n";
        if !self.options.features {
            return ALLOWED.to_owned();
        }
        let features: Vec<String> =
            model.users(folder).into_iter().map(|folder| format!("feature = {folder:?}")).collect();
        match &features[..] {
            [only] => format!("#[cfg({only})]\n{ALLOWED}"),
            _ => format!("#[cfg(any({}))]\n{ALLOWED}", features.join(", ")),
        }
    }

    fn header(&self, about: &str) -> String {
        let by = if self.options.command.is_empty() { "kindsmith-codegen" } else { &self.options.command };
        let by = in_one_line(by);
        format!("// generated by: {by}\n// Changes are lost when it is generated again.\n\n//! {about}\n")
    }

    fn modules<'m>(
        &self,
        model: &'m Model,
        code: &mut GeneratedCode,
    ) -> Result<Vec<(&'m super::model::Module, String)>, Error> {
        let mut emitter = Emitter { model, options: &self.options, warnings: Vec::new() };
        let modules = model.modules.iter().map(|module| Ok((module, emitter.module(module)?)));
        let modules = modules.collect::<Result<Vec<_>, String>>().map_err(Error::Invalid)?;
        code.kinds = model
            .modules
            .iter()
            .flat_map(|of| of.kinds.iter().map(move |kind| (of, &model.types[kind.root].name)))
            .map(|(of, name)| format!("{}::{}::{}", of.folder, of.name(), names::ident(name)))
            .collect();
        code.warnings.append(&mut emitter.warnings);
        Ok(modules)
    }

    fn model(&self) -> Result<(Model, GeneratedCode), Error> {
        let mut code = GeneratedCode::default();
        let Kinds { kinds: mut read, warnings } =
            Kinds::of_files_up_to(&self.files, self.largest.unwrap_or(Limits::default().file))?;
        code.report = warnings;
        let kind = |read: &ResourceDeclaration| read.definition.shared.names.kind.clone();
        let skipped: Vec<String> = read.iter().map(kind).filter(|kind| self.options.skipped.contains(kind)).collect();
        read.retain(|read| !skipped.contains(&kind(read)));
        if read.is_empty() {
            return Err(Error::Invalid("the files define no kind".to_owned()));
        }
        let mut groups: BTreeMap<String, Vec<&ResourceDeclaration>> = BTreeMap::new();
        for read in &read {
            groups.entry(read.definition.shared.group.clone()).or_default().push(read);
        }
        let mut collector = Collector::new(&mut code.warnings);
        let mut folders = BTreeSet::new();
        for (group, mut read) in groups {
            read.sort_by(|a, b| a.definition.shared.names.kind.cmp(&b.definition.shared.names.kind));
            let folder = folder(&group, &mut folders);
            collector.group(&group, &folder, &read);
        }
        let mut model = collector.model;
        assign::names(&mut model, &self.options);
        self.options.check(&model, &skipped).map_err(Error::Invalid)?;
        Ok((model, code))
    }
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), Error> {
    let path = RelativePath::new(name).map_err(Error::Invalid)?;
    let written = Folder::open(folder).and_then(|folder| folder.write(&path, text.as_bytes()));
    written.map_err(|error| Error::Io(folder.join(name), error))
}

/// The module of a group: the first part of its name, or all of it if that is taken.
fn folder(group: &str, taken: &mut BTreeSet<String>) -> String {
    let short = if group.is_empty() { "core" } else { group.split('.').next().unwrap_or(group) };
    let short = names::module(&names::snake(short));
    if taken.insert(short.clone()) { short } else { names::free(&names::module(&names::snake(group)), taken) }
}

fn called(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

fn group_called(group: &str) -> &str {
    if group.is_empty() { "the core group" } else { group }
}
