//! Files as they are: what rules need beyond the model of a kind, which does not keep it, and the lines of findings.
use std::{collections::BTreeMap, path::Path};

use kindsmith::kind::Definition;
use kindsmith_formats::files;
use kindsmith_model::codec::{Limits, decode, yaml};
use serde_json::Value;

/// How large a document may be in memory; it was read before by the same limits.
const LIMITS: Limits = Limits { depth: 256, memory: 256 << 20 };

/// The files that kinds were read from, by name.
#[derive(Default)]
pub(crate) struct Files(BTreeMap<String, Vec<Document>>);

/// A document of a file.
struct Document {
    /// Where it begins.
    line: usize,
    text: String,
    value: Value,
}

/// A location in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Location {
    file: String,
    document: usize,
    pointer: String,
}

/// A schema in a file.
#[derive(Clone)]
pub(crate) struct Raw<'f> {
    file: &'f str,
    document: usize,
    root: &'f Value,
    /// The schema where it is used, and the one that it refers to; these are the same without a reference.
    used: &'f Value,
    node: &'f Value,
    /// The location where it is used.
    pointer: String,
    /// The definition or the document's schema of the kind.
    home: &'f Value,
}

impl Files {
    /// Reads files by their names. What is no file, such as a program, is left out.
    pub(crate) fn read<'n>(names: impl IntoIterator<Item = &'n String>, limits: &files::Limits) -> Self {
        let mut files = Self::default();
        for name in names {
            if !files.0.contains_key(name)
                && let Ok(text) = files::read_text(Path::new(name), limits)
            {
                files.add(name, &text);
            }
        }
        files
    }

    /// Adds a file. A document that cannot be decoded is empty.
    pub(crate) fn add(&mut self, name: &str, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let is_json = text.trim_start().starts_with('{');
        let parts = if is_json { vec![(1, text)] } else { yaml::documents(text) };
        let documents = parts.into_iter().map(|(line, text)| {
            let value = if is_json {
                decode(text.as_bytes(), &LIMITS).map(|decoded| decoded.document).ok()
            } else {
                yaml::decode(text.as_bytes(), &LIMITS).map(|decoded| decoded.document).ok()
            };
            Document { line, text: text.to_owned(), value: value.unwrap_or_default() }
        });
        self.0.insert(name.to_owned(), documents.collect());
    }

    /// The schema of a kind in a version.
    pub(crate) fn root(&self, file: &str, definition: &Definition, version: &str) -> Option<Raw<'_>> {
        let (name, documents) = self.0.get_key_value(file)?;
        documents.iter().enumerate().find_map(|(document, of)| {
            let (pointer, home) = root(&of.value, definition, version)?;
            let node = of.value.pointer(&pointer)?;
            Some(Raw { file: name, document, root: &of.value, used: node, node, pointer, home })
        })
    }

    /// The annotations of a definition.
    pub(crate) fn annotations(&self, file: &str, definition: &Definition) -> Vec<(String, String)> {
        let mut roots = definition.versions.iter().filter_map(|version| self.root(file, definition, &version.name));
        roots.next().map(|raw| raw.annotations()).unwrap_or_default()
    }

    /// The location of a field, or of the version or the kind that has no such field. The path is as rules name it:
    /// `.spec.chapters[].title`.
    pub(crate) fn location(
        &self,
        file: &str,
        definition: &Definition,
        version: Option<&str>,
        path: &str,
    ) -> Option<Location> {
        let mut versions = definition.versions.iter().map(|version| version.name.as_str());
        let known = version.filter(|version| versions.clone().any(|of| of == *version));
        let root = self.root(file, definition, known.or_else(|| versions.next())?)?;
        let mut location = Location { pointer: String::new(), ..root.location_in_file() };
        if known.is_some() {
            let mut at = root;
            for step in steps(path) {
                let below = match step {
                    PathStep::Field(name) => at.property(&name),
                    PathStep::Items => at.items(),
                    PathStep::Values => at.values(),
                };
                let Some(below) = below else { break };
                at = below;
            }
            location = at.location_in_file();
        }
        Some(location)
    }

    /// The lines of locations. A document of a single line has no lines.
    pub(crate) fn lines<'p>(&self, locations: impl IntoIterator<Item = &'p Location>) -> BTreeMap<&'p Location, usize> {
        let mut by_document: BTreeMap<(&str, usize), Vec<&Location>> = BTreeMap::new();
        for location in locations {
            by_document.entry((&location.file, location.document)).or_default().push(location);
        }
        let mut lines = BTreeMap::new();
        for ((file, document), locations) in by_document {
            let Some(document) = self.0.get(file).and_then(|documents| documents.get(document)) else { continue };
            if document.text.trim_end().lines().nth(1).is_some() {
                let found = yaml::Lines::new(&document.text);
                lines.extend(
                    locations.into_iter().map(|location| (location, document.line - 1 + found.of(&location.pointer))),
                );
            }
        }
        lines
    }
}

/// A step of a path.
enum PathStep {
    Field(String),
    Items,
    Values,
}

/// The steps of a path such as `.spec.labels.*["a.b"][]`, up to the first part that is not a step.
fn steps(path: &str) -> Vec<PathStep> {
    let (mut steps, mut rest) = (Vec::new(), path);
    while !rest.is_empty() {
        let (step, end) = if rest.starts_with("[]") {
            (PathStep::Items, 2)
        } else if rest.starts_with(".*") {
            (PathStep::Values, 2)
        } else if let Some(quoted) = rest.strip_prefix('[') {
            let mut texts = serde_json::Deserializer::from_str(quoted).into_iter::<String>();
            let Some(Ok(name)) = texts.next() else { break };
            let end = texts.byte_offset() + 2;
            (PathStep::Field(name), end)
        } else if let Some(named) = rest.strip_prefix('.') {
            let end = named.find(['.', '[', '/']).unwrap_or(named.len());
            (PathStep::Field(named[..end].to_owned()), end + 1)
        } else {
            break;
        };
        steps.push(step);
        rest = rest.get(end..).unwrap_or_default();
    }
    steps
}

/// The pointer to the schema of a kind in a document, and the definition or schema that has the kind's name.
fn root<'v>(document: &'v Value, definition: &Definition, version: &str) -> Option<(String, &'v Value)> {
    let shared = &definition.shared;
    if document.get("openapi").is_some() {
        let schemas = document.pointer("/components/schemas")?.as_object()?;
        let is_kind =
            |of: &Value| of["group"] == *shared.group && of["version"] == *version && of["kind"] == *shared.names.kind;
        // Schemas of all groups, such as those of options, list many kinds.
        let named = |schema: &&Value| {
            let kinds = schema["x-kubernetes-group-version-kind"].as_array();
            kinds.is_some_and(|kinds| kinds.len() == 1 && is_kind(&kinds[0]))
        };
        let (name, schema) = schemas.iter().find(|(_, schema)| named(schema))?;
        return Some((format!("/components/schemas/{}", escaped(name)), schema));
    }
    manifests("", document).into_iter().find_map(|(pointer, manifest)| {
        let spec = &manifest["spec"];
        if spec["group"] != *shared.group || spec["names"]["plural"] != *shared.names.plural {
            return None;
        }
        let index = spec["versions"].as_array()?.iter().position(|of| of["name"] == *version)?;
        Some((format!("{pointer}/spec/versions/{index}/schema/openAPIV3Schema"), manifest))
    })
}

/// The definitions of a document, which may be a list, with their locations.
fn manifests<'v>(pointer: &str, document: &'v Value) -> Vec<(String, &'v Value)> {
    match document["items"].as_array() {
        Some(items) => {
            let items = items.iter().enumerate();
            items.flat_map(|(index, item)| manifests(&format!("{pointer}/items/{index}"), item)).collect()
        }
        None => vec![(pointer.to_owned(), document)],
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

impl<'f> Raw<'f> {
    /// Its location.
    pub(crate) fn location_in_file(&self) -> Location {
        Location { file: self.file.to_owned(), document: self.document, pointer: self.pointer.clone() }
    }

    /// A keyword, of the use or else of the type.
    pub(crate) fn get(&self, keyword: &str) -> Option<&'f Value> {
        self.used.get(keyword).or_else(|| self.node.get(keyword))
    }

    /// It is in an OpenAPI document.
    pub(crate) fn is_document(&self) -> bool {
        self.root.get("openapi").is_some()
    }

    /// The annotations of the definition.
    pub(crate) fn annotations(&self) -> Vec<(String, String)> {
        let annotations = self.home.pointer("/metadata/annotations").and_then(Value::as_object);
        let texts = annotations
            .into_iter()
            .flatten()
            .filter_map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned())));
        texts.collect()
    }

    /// It requires a field of this name.
    pub(crate) fn requires(&self, name: &str) -> bool {
        let has =
            |of: &Value| of["required"].as_array().is_some_and(|names| names.iter().any(|required| required == name));
        has(self.used) || has(self.node)
    }

    /// The schema of a property.
    pub(crate) fn property(&self, name: &str) -> Option<Self> {
        self.below("properties").and_then(|of| of.step(name))
    }

    /// The schema of the items of a list.
    pub(crate) fn items(&self) -> Option<Self> {
        self.step("items")
    }

    /// The schema of the values of a map.
    pub(crate) fn values(&self) -> Option<Self> {
        self.step("additionalProperties").filter(|of| of.node.is_object())
    }

    /// A member that is no schema.
    fn below(&self, key: &str) -> Option<Self> {
        let node = self.node.get(key)?;
        Some(Self { used: node, node, pointer: format!("{}/{key}", self.location()), ..self.clone() })
    }

    fn step(&self, key: &str) -> Option<Self> {
        let used = self.node.get(key)?;
        let pointer = format!("{}/{}", self.location(), escaped(key));
        Some(Self { used, node: self.target(used)?, pointer, ..self.clone() })
    }

    /// The pointer to the schema that it refers to.
    fn location(&self) -> String {
        reference(self.used).map_or_else(|| self.pointer.clone(), |to| to.trim_start_matches('#').to_owned())
    }

    /// The schema that a use of it refers to.
    fn target(&self, used: &'f Value) -> Option<&'f Value> {
        let mut at = used;
        // A schema that refers to itself has no content.
        for _ in 0..16 {
            let Some(to) = reference(at) else { return Some(at) };
            at = self.root.pointer(to.strip_prefix('#')?)?;
        }
        None
    }
}

/// What a schema refers to: by `$ref`, or by `allOf` with nothing else in it.
fn reference(schema: &Value) -> Option<&str> {
    let all_of = schema["allOf"].as_array().filter(|all| all.len() == 1).map(|all| &all[0]["$ref"]);
    schema.get("$ref").or(all_of)?.as_str()
}
