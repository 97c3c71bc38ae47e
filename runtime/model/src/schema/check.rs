//! The consistency of a schema, beyond the derive's checks.
use super::{
    At, Document, Meter, Schema,
    default::fill,
    location::Location,
    model::{ListType, PatchStrategy, Type},
    validate::validate_at,
};

impl Schema {
    /// Checks a kind's schema: list keys exist, defaults are valid, and junctors only validate what is
    /// declared outside of them.
    ///
    /// # Errors
    /// All errors, each with its path.
    pub fn check(&self) -> Result<(), Vec<String>> {
        let mut check = Check::default();
        if self.kind != Type::Object {
            check.add(&Location::Root, "a kind is an object");
        }
        for reserved in ["apiVersion", "kind", "metadata"] {
            if self.properties.contains_key(reserved) {
                check.add(&Location::Root.field(reserved), "every object has this field; a kind does not declare it");
            }
        }
        check.schema(At::of(self), &Location::Root);
        if check.problems.is_empty() { Ok(()) } else { Err(check.problems) }
    }
}

/// The keys of lists that an item may lack, each with its path. Kinds compiled into Kubernetes have such; where someone
/// declares a kind, it is a mistake.
pub(crate) fn optional_keys(root: &Schema) -> Vec<String> {
    let mut check = Check::default();
    check.optional_keys(At::of(root), &Location::Root);
    check.problems
}

/// Bounds that exclude all values, and allowed values and defaults of entries that are not valid, each with its path.
/// They are harmless in definitions of other projects, and mistakes in the declaration of a kind.
pub(crate) fn contradictions(root: &Schema) -> Vec<String> {
    let mut check = Check::default();
    check.contradictions(At::of(root), &Location::Root);
    check.problems
}

#[derive(Default)]
struct Check {
    problems: Vec<String>,
    /// Inside of the entries of a map, whose defaults kube-apiserver does not check.
    in_entries: bool,
}

impl Check {
    fn add(&mut self, location: &Location<'_>, problem: impl AsRef<str>) {
        let path = location.path();
        let at = if location.is_root() { "the object" } else { path.as_str() };
        self.problems.push(format!("{at}: {}", problem.as_ref()));
    }

    fn in_entries(&mut self, check: impl FnOnce(&mut Self)) {
        let outside = std::mem::replace(&mut self.in_entries, true);
        check(self);
        self.in_entries = outside;
    }

    fn schema(&mut self, at: At<'_>, location: &Location<'_>) {
        self.recursion(at, location);
        self.shape(at, location);
        if !self.in_entries {
            self.defaults(at, location);
        }
        self.list(at, location);
        if at.definition.is_none() {
            for (name, property) in at.properties() {
                self.schema(property, &location.field(name));
            }
            if let Some(values) = at.entry() {
                self.in_entries(|check| check.schema(values, &location.field("*")));
            }
            if let Some(items) = at.items() {
                self.schema(items, &location.field("[]"));
            }
        }
        for (index, definition) in at.own_definitions().enumerate() {
            self.schema(definition, &location.field("definitions").item(index));
        }
        self.junctors(at, Some(at), location);
    }

    /// Back references refer to an existing definition, and definitions have names, by which documents refer to them.
    fn recursion(&mut self, at: At<'_>, location: &Location<'_>) {
        for definition in at.own_definitions() {
            if definition.name.is_none() || definition.definition.is_some() || definition.definitions.is_some() {
                self.add(location, "a definition needs a name, and is not a back reference");
            }
        }
        if at.definition.is_none() {
            return;
        }
        let Schema { properties, additional, items, .. } = at.node();
        if at.leads_to().is_none() || !properties.is_empty() || additional.is_some() || items.is_some() {
            self.add(location, "a back reference needs a definition, and has no fields, entries or items of its own");
        }
        if at.default.is_some() {
            self.add(location, "a recursive field has no default: its value would not end");
        }
    }

    /// Checks the branches of a schema, which may be a branch itself; `around` is the schema outside of all junctors.
    fn junctors(&mut self, at: At<'_>, around: Option<At<'_>>, location: &Location<'_>) {
        for (keyword, branches) in at.junctors.iter().flat_map(|junctors| junctors.branches()) {
            let location = location.field(keyword);
            for (index, branch) in branches.iter().enumerate() {
                let item = location.item(index);
                self.branch(at.branch(branch), around, if keyword == "not" { &location } else { &item });
            }
        }
    }

    fn branch(&mut self, branch: At<'_>, around: Option<At<'_>>, location: &Location<'_>) {
        for keyword in misplaced(&branch) {
            self.add(location, format!("{keyword} is not allowed inside allOf, anyOf, oneOf and not"));
        }
        if branch.definition.is_some() {
            return;
        }
        self.defaults(branch, location);
        for (name, property) in branch.properties() {
            let outside = around.and_then(|around| around.property(name));
            self.nested(property, around, outside, &location.field(name));
            if name == "metadata" {
                self.add(&location.field(name), "allOf, anyOf, oneOf and not do not restrict metadata");
            }
        }
        if let Some(items) = branch.items() {
            let outside = around.and_then(At::items);
            self.nested(items, around, outside, &location.field("[]"));
        }
        self.junctors(branch, around, location);
    }

    /// Checks a branch for a field or for items, which must also be declared outside. If it is not, its content is not
    /// checked.
    fn nested(&mut self, branch: At<'_>, around: Option<At<'_>>, outside: Option<At<'_>>, location: &Location<'_>) {
        if around.is_some() && outside.is_none() {
            self.add(location, "what allOf, anyOf, oneOf or not restricts must also be declared outside of them");
        }
        self.branch(branch, outside, location);
    }

    fn shape(&mut self, at: At<'_>, location: &Location<'_>) {
        if at.kind == Type::Array && at.items().is_none() {
            self.add(location, "a list declares its items");
        }
        let is_struct = at.properties().len() > 0;
        if at.union && !is_struct {
            self.add(location, "a union has members");
        }
        if at.union && !at.required.is_empty() {
            self.add(location, "no member of a union is required: exactly one of them is set");
        }
    }

    fn contradictions(&mut self, at: At<'_>, location: &Location<'_>) {
        self.bounds(&at, location);
        if self.in_entries {
            self.defaults(at, location);
        }
        for value in at.enumeration.iter().filter(|value| !value.is_null()) {
            self.value("allowed value", value, at, location);
        }
        if at.definition.is_none() {
            for (name, property) in at.properties() {
                self.contradictions(property, &location.field(name));
            }
            if let Some(values) = at.entry() {
                self.in_entries(|check| check.contradictions(values, &location.field("*")));
            }
            if let Some(items) = at.items() {
                self.contradictions(items, &location.field("[]"));
            }
        }
        for (index, definition) in at.own_definitions().enumerate() {
            self.contradictions(definition, &location.field("definitions").item(index));
        }
        for (keyword, branches) in at.junctors.iter().flat_map(|junctors| junctors.branches()) {
            for (index, branch) in branches.iter().enumerate() {
                self.contradictions(at.branch(branch), &location.field(keyword).item(index));
            }
        }
    }

    fn bounds(&mut self, schema: &Schema, location: &Location<'_>) {
        let pairs = [
            ("length", schema.min_length, schema.max_length),
            ("items", schema.min_items, schema.max_items),
            ("properties", schema.min_properties, schema.max_properties),
        ];
        for (what, least, most) in pairs {
            if let (Some(least), Some(most)) = (least, most)
                && least > most
            {
                self.add(location, format!("{what}: the minimum {least} is above the maximum {most}"));
            }
        }
        if let (Some(least), Some(most)) = (schema.minimum, schema.maximum) {
            let open = schema.exclusive_minimum || schema.exclusive_maximum;
            if least > most || (open && least >= most) {
                self.add(location, format!("no number lies between the minimum {least} and the maximum {most}"));
            }
        }
        if schema.multiple_of.is_some_and(|factor| factor <= 0.0) {
            self.add(location, "multipleOf is above zero");
        }
    }

    fn defaults(&mut self, at: At<'_>, location: &Location<'_>) {
        if let Some(value) = &at.default {
            self.value("default", value, at, location);
        }
    }

    /// Checks that a value that the schema names is valid against it.
    fn value(&mut self, what: &str, value: &Document, at: At<'_>, location: &Location<'_>) {
        let mut filled = value.clone();
        let meter = Meter::default();
        fill(at, &mut filled, &meter);
        if let Err(exceeded) = meter.check() {
            self.add(location, format!("the {what} is too large: {exceeded}"));
            return;
        }
        for error in validate_at(at, &filled, &meter) {
            let inside = if error.path.as_str().is_empty() { String::new() } else { format!(" at {}", error.path) };
            self.add(location, format!("the {what} {value} is not valid{inside}: {}", error.message()));
        }
    }

    fn optional_keys(&mut self, at: At<'_>, location: &Location<'_>) {
        for (name, property) in at.node().properties.keys().filter_map(|name| Some((name, at.property(name)?))) {
            self.optional_keys(property, &location.field(name));
        }
        if at.definition.is_some() {
            return;
        }
        if let Some(values) = at.entry() {
            self.optional_keys(values, &location.field("*"));
        }
        let Some(items) = at.items() else { return };
        self.optional_keys(items, &location.field("[]"));
        let keys = if let ListType::Map(keys) = &at.list { &keys[..] } else { &[] };
        for key in keys.iter().filter(|key| !items.required.contains(key)) {
            if items.property(key).is_some_and(|field| field.default.is_none()) {
                self.add(location, format!("the key {key:?} is neither required nor has it a default"));
            }
        }
    }

    fn list(&mut self, at: At<'_>, location: &Location<'_>) {
        if at.kind != Type::Array && at.list != ListType::Atomic {
            self.add(location, "only a list is a set or a map");
        }
        match (&at.list, at.items()) {
            (ListType::Set, Some(items)) if items.kind == Type::Object && !items.map_atomic => {
                self.add(location, "the items of a set are scalars, or objects that are replaced as a whole");
            }
            (ListType::Map(keys), Some(items)) => {
                if keys.is_empty() {
                    self.add(location, "a map list has keys");
                }
                for key in keys {
                    match items.property(key) {
                        None => self.add(location, format!("the key {key:?} is not a field of the items")),
                        Some(field) if matches!(field.kind, Type::Object | Type::Array | Type::Any) => {
                            self.add(location, format!("the key {key:?} is not a scalar"));
                        }
                        Some(_) => {}
                    }
                }
            }
            _ => {}
        }
    }
}

/// A keyword of a branch that only the surrounding schema may have.
fn misplaced(branch: &Schema) -> impl Iterator<Item = &'static str> {
    let found = [
        ("type", !matches!(branch.kind, Type::Any | Type::IntOrString)),
        ("x-kubernetes-int-or-string", branch.kind == Type::IntOrString),
        ("title", branch.name.is_some()),
        ("description", !branch.description.is_empty()),
        ("default", branch.default.is_some()),
        ("nullable", branch.nullable),
        ("additionalProperties", branch.additional.is_some()),
        ("x-kubernetes-preserve-unknown-fields", branch.preserve_unknown),
        ("x-kubernetes-embedded-resource", branch.embedded),
        ("x-kubernetes-list-type", branch.list != ListType::Atomic),
        ("x-kubernetes-map-type", branch.map_atomic),
        ("x-kubernetes-patch-strategy", branch.patch != PatchStrategy::default()),
        ("what an empty value means", branch.omit_empty || branch.zero_is_absent),
        ("immutability", branch.immutable),
        ("a union", branch.union),
        ("a Protobuf number", branch.protobuf.is_some()),
        ("a back reference", branch.definition.is_some()),
    ];
    found.into_iter().filter_map(|(keyword, said)| said.then_some(keyword))
}
