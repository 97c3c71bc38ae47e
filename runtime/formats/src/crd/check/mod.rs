//! Finds everything that is wrong with a definition, in kube-apiserver's words and in its order
//! (`pkg/apis/apiextensions/validation`).
use std::sync::Arc;

use super::{
    Fields, Findings, Location, Rules,
    definition::{COLUMNS, Definition, Part, SCHEMA, SELECTABLE, SUBRESOURCES},
    keywords, print,
};
use crate::{
    meta::{FieldErrorKind, validate},
    schema::Schema,
};

mod conversion;
mod defaults;
mod field_path;
mod names;
mod openapi;
mod parts;
mod rules;
mod structural;

pub(super) use names::{APPROVAL, is_protected};

const SPEC: Location<'static> = Location::known("spec", "/spec");

/// The schemas of the versions, in their order: one for all where all say the same. Those of versions with errors are of no
/// use.
pub(super) struct Schemas(Vec<Arc<Schema>>);

impl Schemas {
    /// The schema of a version.
    pub(super) fn of(&self, version: usize) -> Arc<Schema> {
        self.0.get(version).or(self.0.first()).cloned().unwrap_or_default()
    }
}

/// Judges a definition, and builds the schemas of its versions.
pub(super) fn check(definition: &Definition<'_>, rules: Rules<'_>, findings: &mut Findings) -> Schemas {
    let mut schemas = Vec::new();
    names::metadata(definition, findings);
    names::group(definition, findings);
    scope(definition, findings);
    let preserves = definition.spec.flag("preserveUnknownFields");
    if preserves
        && definition.versions.iter().any(|version| has_defaults(version.part("schema").part("openAPIV3Schema")))
    {
        let at = SPEC.field("preserveUnknownFields");
        findings.invalid(&at, true, "must be false in order to use defaults in the schema");
    }
    without_schema(definition, findings);
    let list = SPEC.field("versions");
    for (index, version) in definition.versions.iter().enumerate() {
        let location = list.index(index);
        label(version.text("name"), &location.field("name"), findings);
        deprecation(*version, &location, findings);
        let judged = Judged { definition, version: *version, agreed: false, rules };
        judged.each_part(|part| location.field(part.name), &mut schemas, findings);
    }
    storage(definition, &list, findings);
    names::check(definition, findings);
    if let Some(first) = definition.versions.first() {
        let judged = Judged { definition, version: *first, agreed: true, rules };
        judged.each_part(|part| part.shared, &mut schemas, findings);
    }
    conversion::check(definition, preserves, findings);
    names::approval(definition, findings);
    if preserves {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema \
                      instead";
        findings.invalid(&SPEC.field("preserveUnknownFields"), true, detail);
    }
    Schemas(schemas)
}

fn scope(definition: &Definition<'_>, findings: &mut Findings) {
    let at = SPEC.field("scope");
    match definition.spec.text("scope") {
        "" => findings.required(&at, ""),
        given if definition.scope().is_none() => findings.unsupported(&at, given, &["Cluster", "Namespaced"]),
        _ => {}
    }
}

fn has_defaults(schema: Fields<'_>) -> bool {
    let values = match schema.additional() {
        Some(super::Additional::Schema(values)) => Some(values),
        _ => None,
    };
    let mut below =
        schema.entries("properties").map(|(_, property)| property).chain(schema.object("items")).chain(values);
    schema.get("default").is_some() || below.any(has_defaults)
}

/// Each version has a schema.
fn without_schema(definition: &Definition<'_>, findings: &mut Findings) {
    let list = SPEC.field("versions");
    for (index, version) in definition.versions.iter().enumerate() {
        if version.part("schema").object("openAPIV3Schema").is_none() {
            findings.required(&list.index(index).field("schema").field("openAPIV3Schema"), "");
        }
    }
}

fn deprecation(version: Fields<'_>, location: &Location<'_>, findings: &mut Findings) {
    let at = location.field("deprecationWarning");
    let Some(given) = version.get("deprecationWarning").and_then(|given| given.as_str()) else { return };
    let mut refuse = |detail: String| findings.invalid(&at, given, detail);
    if !version.flag("deprecated") {
        return refuse("can only be set for deprecated versions".to_owned());
    }
    if given.len() > 256 {
        refuse("must be <= 256 characters long".to_owned());
    }
    if given.is_empty() {
        refuse("must not be an empty string".to_owned());
    }
    if let Some((index, _)) = given.char_indices().find(|(_, c)| c.is_control() || (c.is_whitespace() && *c != ' ')) {
        refuse(format!("must only contain printable UTF-8 characters; non-printable character found at index {index}"));
    }
}

/// Version names are unique, and exactly one version is stored.
fn storage(definition: &Definition<'_>, list: &Location<'_>, findings: &mut Findings) {
    let names: Vec<&str> = definition.versions.iter().map(|version| version.text("name")).collect();
    let shown = || FieldErrorKind::InvalidText(print::versions(definition));
    if names.iter().enumerate().any(|(index, name)| names[..index].contains(name)) {
        findings.error(list, shown(), "must contain unique version names");
    }
    if definition.versions.iter().filter(|version| version.flag("storage")).count() != 1 {
        findings.error(list, shown(), "must have exactly one version marked as storage version");
    }
    if let Some(first) = names.first().filter(|first| !first.is_empty()) {
        label(first, &Location::known("spec.version", "/spec/versions/0/name"), findings);
    }
}

/// Reports what keeps a text from being a label.
fn label(text: &str, location: &Location<'_>, findings: &mut Findings) {
    let wrong = validate::dns_1035_label(text);
    if !wrong.is_empty() {
        findings.invalid(location, text, wrong.join(","));
    }
}

/// The parts of a version that all versions agree on, or the others.
struct Judged<'d, 'r> {
    definition: &'d Definition<'d>,
    version: Fields<'d>,
    agreed: bool,
    rules: Rules<'r>,
}

impl Judged<'_, '_> {
    fn each_part<'p>(
        &self,
        location: impl Fn(Part) -> Location<'p>,
        schemas: &mut Vec<Arc<Schema>>,
        findings: &mut Findings,
    ) {
        let &Self { definition, version, agreed, rules } = self;
        let is_here = |part| definition.agrees_on(part) == agreed;
        let root = version.part("schema").object("openAPIV3Schema");
        if is_here(SCHEMA) {
            let status = definition.versions.iter().filter(|other| agreed || **other == version);
            let has_status = status.into_iter().any(|version| version.part("subresources").get("status").is_some());
            let rules = rules.of_version(version);
            let read = root.map(|root| schema(root, has_status, rules, &location(SCHEMA), findings));
            schemas.push(read.unwrap_or_default());
        }
        if is_here(SUBRESOURCES) {
            parts::subresources(version.part("subresources"), &location(SUBRESOURCES), findings);
        }
        if is_here(COLUMNS) {
            parts::columns(version, &location(COLUMNS), findings);
        }
        if is_here(SELECTABLE) {
            parts::selectable(version, root, &location(SELECTABLE), findings);
        }
    }
}

/// How the rules of a schema are judged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Judgement {
    /// They are not.
    Never,
    /// Their expressions compile.
    Compiles,
    /// Their expressions compile, and each costs no more than it may.
    Whole,
}

impl Rules<'_> {
    /// How the rules of a version are judged.
    fn of_version(self, version: Fields<'_>) -> Judgement {
        let Rules::Changed(old) = self else {
            return if self == Rules::Stored { Judgement::Never } else { Judgement::Whole };
        };
        let mut versions = Fields::of(old).part("spec").objects("versions");
        let is_unchanged =
            versions.any(|old| old.text("name") == version.text("name") && old.get("schema") == version.get("schema"));
        if is_unchanged { Judgement::Compiles } else { Judgement::Whole }
    }
}

/// The keywords allowed at the root of a kind with a status subresource, whose status is validated by itself.
const WITH_STATUS: [&str; 22] = [
    "description",
    "type",
    "format",
    "title",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "multipleOf",
    "required",
    "items",
    "properties",
    "externalDocs",
    "example",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

fn schema(
    root: Fields<'_>,
    has_status: bool,
    rules: Judgement,
    location: &Location<'_>,
    findings: &mut Findings,
) -> Arc<Schema> {
    let at = location.field("openAPIV3Schema");
    let mut found = Findings::default();
    if has_status {
        with_status(root, &at, &mut found);
    }
    if root.flag("nullable") {
        found.forbidden(&at.field("nullable"), "nullable cannot be true at the root");
    }
    let (schema, mut built) = keywords::schema(root, &at);
    built.errors.drain(..).for_each(|fault| found.add(fault));
    let unsupported = unsupported(root);
    let mut place = None;
    if unsupported.is_none() {
        let structural = structural::check(root, &at);
        if structural.errors.is_empty() {
            let before = found.errors.len();
            defaults::check(&schema, rules != Judgement::Never, &at, &mut found);
            place = (rules != Judgement::Never && found.errors.len() == before).then(|| rules::Place::root(&schema));
        }
        structural.errors.into_iter().for_each(|fault| found.add(fault));
    }
    openapi::check(root, place, rules == Judgement::Compiles, &at, &mut found);
    if let Some(keyword) = unsupported.filter(|_| found.errors.is_empty()) {
        found.invalid(&at, "", format!("OpenAPIV3Schema '{keyword}' is not supported"));
    }
    found.errors.into_iter().for_each(|fault| findings.add(fault));
    built.warnings.into_iter().for_each(|warning| findings.warn(warning));
    Arc::new(schema)
}

fn with_status(root: Fields<'_>, at: &Location<'_>, findings: &mut Findings) {
    let kind = root.text("type");
    if !kind.is_empty() && kind != "object" {
        let detail =
            r#"only "object" is allowed as the type at the root of the schema if the status subresource is enabled"#;
        findings.invalid(&at.field("type"), kind, detail);
    } else if root.keywords().any(|keyword| !WITH_STATUS.contains(&keyword)) {
        let names: Vec<String> = WITH_STATUS.iter().map(|keyword| print::go_name(keyword)).collect();
        let detail = format!(
            "only [{}] fields are allowed at the root of the schema if the status subresource is enabled",
            names.join(" ")
        );
        findings.error(at, FieldErrorKind::InvalidText(print::schema(root)), detail);
    }
}

/// A keyword with which no structural schema can be made, anywhere in a schema.
fn unsupported(schema: Fields<'_>) -> Option<&'static str> {
    let here = [
        ("id", "id"),
        ("$schema", "schema"),
        ("$ref", "$ref"),
        ("patternProperties", "patternProperties"),
        ("dependencies", "dependencies"),
        ("additionalItems", "additionalItems"),
        ("definitions", "definitions"),
    ];
    let said = |name: &str| schema.get(name).is_some_and(|value| value != "");
    if let Some((_, name)) = here.into_iter().find(|(keyword, _)| said(keyword)) {
        return Some(name);
    }
    let preserve = "x-kubernetes-preserve-unknown-fields";
    if schema.get(preserve).is_some_and(|value| value == false) {
        return Some(preserve);
    }
    if !schema.items("items").is_empty() {
        return Some("items");
    }
    let values = match schema.additional() {
        Some(super::Additional::Schema(values)) => Some(values),
        _ => None,
    };
    let branches = schema.branches().map(|(_, _, branch)| branch);
    let below = schema.entries("properties").map(|(_, property)| property).chain(schema.object("items")).chain(values);
    below.chain(branches).find_map(unsupported)
}
