//! From `JSONSchemaProps` to the model's schema.
//!
//! Formats that are not known have no effect. They are published, and a warning says so.
use super::{
    fields::{Additional, Fields},
    findings::Findings,
    formats,
    location::Location,
    pattern,
};
use crate::schema::{
    At, Document, Properties, Rule, Schema,
    model::{Either, Junctors, ListType, PatchStrategy, Type, Unenforced},
    rules::declares_names,
    shared,
};

/// The schema of a kind. Every object has type meta and metadata, which are not in it.
///
/// The only errors that it finds are patterns that cannot be compiled.
pub fn schema(root: Fields<'_>, location: &Location<'_>) -> (Schema, Findings) {
    let mut findings = Findings::default();
    let mut schema = node(root, location, &mut findings);
    for name in ["apiVersion", "kind", "metadata"] {
        schema.properties.remove(name);
        schema.required.retain(|required| required != name);
    }
    (schema, findings)
}

/// What a kind's schema says of the type and the names of objects, with its rules in CEL about them, as a schema of objects without other
/// fields.
pub fn names(root: Fields<'_>) -> Option<Schema> {
    // Its errors are reported where it is read as a part of the whole.
    let (location, mut unused) = (Location::known("", ""), Findings::default());
    let mut texts = |fields: Fields<'_>, names: [&str; 2]| -> Vec<(String, Schema)> {
        let declared = names.into_iter().filter_map(|name| {
            let from = fields.object(name)?;
            let schema = Schema { rules: rules(from), ..validations(from, &location, &mut unused) };
            (schema != Schema::default()).then(|| (name.to_owned(), Schema { kind: Type::String, ..schema }))
        });
        declared.collect()
    };
    let properties = root.part("properties");
    let types = texts(properties, ["apiVersion", "kind"]);
    let names: Properties =
        texts(properties.part("metadata").part("properties"), ["name", "generateName"]).into_iter().collect();
    let of = |properties: Properties| Schema { kind: Type::Object, properties, ..Schema::default() };
    let metadata = (!names.is_empty()).then(|| ("metadata".to_owned(), of(names)));
    let all: Properties = types.into_iter().chain(metadata).collect();
    (!all.is_empty()).then(|| of(all))
}

/// The rules in CEL of a node.
fn rules(from: Fields<'_>) -> Vec<Rule> {
    from.items("x-kubernetes-validations").iter().map(Rule::of).collect()
}

/// A structural schema node.
fn node(from: Fields<'_>, location: &Location<'_>, findings: &mut Findings) -> Schema {
    let mut schema = validations(from, location, findings);
    schema.kind = type_of(from);
    from.text("description").clone_into(&mut schema.description);
    schema.preserve_unknown = from.flag("x-kubernetes-preserve-unknown-fields");
    schema.embedded = from.flag("x-kubernetes-embedded-resource");
    schema.nullable = from.flag("nullable");
    schema.default = from.get("default").cloned().map(settled);
    schema.map_atomic = from.text("x-kubernetes-map-type") == "atomic";
    schema.list = match from.text("x-kubernetes-list-type") {
        "set" => ListType::Set,
        "map" => ListType::Map(from.texts("x-kubernetes-list-map-keys").map(str::to_owned).collect()),
        _ => ListType::Atomic,
    };
    let mut strategies = from.text("x-kubernetes-patch-strategy").split(',');
    schema.patch = PatchStrategy {
        merge: strategies.clone().any(|strategy| strategy == "merge"),
        retain_keys: strategies.any(|strategy| strategy == "retainKeys"),
        merge_key: text(from, "x-kubernetes-patch-merge-key"),
    };
    let properties = location.field("properties");
    schema.properties = from
        .entries("properties")
        .map(|(name, property)| (name.to_owned(), shared(node(property, &properties.key(name), findings))))
        .collect();
    if schema.embedded
        && let Some(metadata) = schema.properties.get("metadata").filter(|_| !declares_names(At::of(&schema)))
    {
        let metadata = Schema { names_only: true, ..metadata.clone() };
        schema.properties.insert("metadata".to_owned(), shared(metadata));
    }
    schema.items = from.object("items").map(|items| shared(node(items, &location.field("items"), findings)));
    let additional = location.field("additionalProperties");
    schema.additional = match from.additional() {
        Some(Additional::Schema(values)) => Some(shared(node(values, &additional, findings))),
        Some(Additional::Any(is_allowed)) => Some(Schema { boolean: Some(is_allowed), ..Schema::default() }.into()),
        None => None,
    };
    schema.rules = rules(from);
    let unenforced = unenforced(from);
    schema.unenforced = (unenforced != Unenforced::default()).then(|| unenforced.into());
    schema
}

/// The keywords that are published and not enforced.
fn unenforced(from: Fields<'_>) -> Unenforced {
    Unenforced {
        title: from.text("title").to_owned(),
        example: from.get("example").cloned(),
        external_docs: from.get("externalDocs").cloned(),
        unions: Vec::new(),
    }
}

/// The schema that consists of some keywords.
///
/// # Errors
/// Keywords of a wrong type, and patterns that cannot be compiled.
pub fn read(document: &Document) -> Result<Schema, String> {
    let (location, mut findings) = (Location::known("", ""), Findings::default());
    super::shape::check_schema(document, &location, &mut findings);
    if findings.errors.is_empty() {
        let read = node(Fields::of(document), &location, &mut findings);
        if findings.errors.is_empty() {
            return Ok(read.with_immutable());
        }
    }
    let errors = findings.errors.iter().map(|fault| format!("{}: {}", fault.pointer, fault.error));
    Err(errors.collect::<Vec<_>>().join("; "))
}

/// A branch of a junctor, which only validates.
fn branch(from: Fields<'_>, location: &Location<'_>, findings: &mut Findings) -> Schema {
    let mut schema = validations(from, location, findings);
    let properties = location.field("properties");
    schema.properties = from
        .entries("properties")
        .map(|(name, property)| (name.to_owned(), branch(property, &properties.key(name), findings)))
        .collect();
    schema.items = from.object("items").map(|items| branch(items, &location.field("items"), findings).into());
    schema
}

/// The keywords that nodes and branches share: they validate.
fn validations(from: Fields<'_>, location: &Location<'_>, findings: &mut Findings) -> Schema {
    let count = |name: &str| from.integer(name).map(|number| u64::try_from(number).unwrap_or_default());
    let schema = Schema {
        format: text(from, "format"),
        enumeration: from.items("enum").iter().cloned().map(settled).collect(),
        minimum: from.number("minimum"),
        exclusive_minimum: from.flag("exclusiveMinimum"),
        maximum: from.number("maximum"),
        exclusive_maximum: from.flag("exclusiveMaximum"),
        multiple_of: from.number("multipleOf"),
        min_length: count("minLength"),
        max_length: count("maxLength"),
        // Structural schemas refuse what is no pattern.
        pattern: text(from, "pattern").and_then(|text| pattern::read(&text).ok()),
        min_items: count("minItems"),
        max_items: count("maxItems"),
        min_properties: count("minProperties"),
        max_properties: count("maxProperties"),
        required: from.texts("required").map(str::to_owned).collect(),
        junctors: junctors(from, location, findings).map(Into::into),
        either: either(from),
        ..Schema::default()
    };
    if let Some(warning) = formats::warning(from) {
        findings.warning(&location.field("format"), warning);
    }
    schema
}

fn type_of(from: Fields<'_>) -> Type {
    match Type::of_name(from.text("type")) {
        _ if from.flag("x-kubernetes-int-or-string") => Type::IntOrString,
        kind => kind.unwrap_or_default(),
    }
}

/// True if a branch says that the value is an integer or text, and nothing else.
fn says_either(branch: Fields<'_>) -> bool {
    branch.is_int_or_string() && branch.keywords().count() == 1
}

fn either(from: Fields<'_>) -> Either {
    match from.objects("allOf").next() {
        _ if from.is_int_or_string() => Either::AnyOf,
        Some(first) if says_either(first) => Either::AllOf,
        _ => Either::Unsaid,
    }
}

/// The junctors. That an integer or text is one or the other is its type already.
fn junctors(from: Fields<'_>, location: &Location<'_>, findings: &mut Findings) -> Option<Junctors> {
    let mut branches = |keyword: &str| {
        let list = location.field(keyword);
        from.objects(keyword)
            .enumerate()
            .filter(|(index, of)| !(keyword == "allOf" && *index == 0 && says_either(*of)))
            .map(|(index, of)| branch(of, &list.index(index), findings))
            .collect::<Vec<_>>()
    };
    let (all_of, one_of) = (branches("allOf"), branches("oneOf"));
    let any_of = if from.is_int_or_string() { Vec::new() } else { branches("anyOf") };
    let not = from.object("not").map(|of| branch(of, &location.field("not"), findings));
    let said = !all_of.is_empty() || !any_of.is_empty() || !one_of.is_empty() || not.is_some();
    said.then_some(Junctors { all_of, any_of, one_of, not })
}

fn text(from: Fields<'_>, name: &str) -> Option<String> {
    Some(from.text(name)).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Numbers as documents have them: those of definitions may come from elsewhere than our decoder.
fn settled(mut value: Document) -> Document {
    crate::schema::number::settle(&mut value);
    value
}
