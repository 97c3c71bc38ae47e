//! What a schema must hold to by itself, beyond what the derive can see. Kinds that come from elsewhere, such as a CRD
//! manifest, are checked by nothing else.
use super::{
    Document, Schema, default, junctors,
    model::{ListType, Type},
    place::Place,
    validate,
};

impl Schema {
    /// Checks a kind's schema by itself: required fields and list keys exist, bounds leave room, defaults and allowed
    /// values are valid, junctors only validate what is declared outside of them.
    ///
    /// # Errors
    /// Everything that is wrong, each with its path.
    pub fn check(&self) -> Result<(), Vec<String>> {
        let mut check = Check { problems: Vec::new() };
        if self.kind != Type::Object {
            check.add(&Place::Root, "a kind is an object");
        }
        for reserved in ["apiVersion", "kind", "metadata"] {
            if self.properties.contains_key(reserved) {
                check.add(&Place::Root.field(reserved), "every object has this field; a kind does not declare it");
            }
        }
        check.schema(self, &Place::Root);
        if check.problems.is_empty() { Ok(()) } else { Err(check.problems) }
    }
}

struct Check {
    problems: Vec<String>,
}

impl Check {
    fn add(&mut self, place: &Place<'_>, problem: impl AsRef<str>) {
        let path = place.path();
        let at = if place.is_root() { "the object" } else { path.as_str() };
        self.problems.push(format!("{at}: {}", problem.as_ref()));
    }

    fn schema(&mut self, schema: &Schema, place: &Place<'_>) {
        self.shape(schema, place);
        self.room(schema, place);
        self.values(schema, place);
        self.list(schema, place);
        for (name, property) in &schema.properties {
            self.schema(property, &place.field(name));
        }
        if let Some(values) = &schema.additional {
            self.schema(values, &place.field("*"));
        }
        if let Some(items) = &schema.items {
            self.schema(items, &place.field("[]"));
        }
        self.junctors(schema, Some(schema), place);
    }

    /// The branches of a schema, which itself may be a branch; `around` is what stands outside of all junctors.
    fn junctors(&mut self, schema: &Schema, around: Option<&Schema>, place: &Place<'_>) {
        for (keyword, branches) in schema.junctors.iter().flat_map(|junctors| junctors.branches()) {
            let place = place.field(keyword);
            for (index, branch) in branches.iter().enumerate() {
                let item = place.item(index);
                self.branch(branch, around, if keyword == "not" { &place } else { &item });
            }
        }
    }

    fn branch(&mut self, branch: &Schema, around: Option<&Schema>, place: &Place<'_>) {
        for keyword in junctors::misplaced(branch) {
            self.add(place, format!("{keyword} is not allowed inside allOf, anyOf, oneOf and not"));
        }
        self.room(branch, place);
        self.values(branch, place);
        for (name, property) in &branch.properties {
            let outside = around.and_then(|around| around.properties.get(name));
            self.nested(property, around, outside, &place.field(name));
            if name == "metadata" {
                self.add(&place.field(name), "allOf, anyOf, oneOf and not do not restrict metadata");
            }
        }
        if let Some(items) = &branch.items {
            let outside = around.and_then(|around| around.items.as_deref());
            self.nested(items, around, outside, &place.field("[]"));
        }
        self.junctors(branch, around, place);
    }

    /// A branch for a field or for items, which must be declared outside, too. What is in them is then not looked for.
    fn nested(&mut self, branch: &Schema, around: Option<&Schema>, outside: Option<&Schema>, place: &Place<'_>) {
        if around.is_some() && outside.is_none() {
            self.add(place, "what allOf, anyOf, oneOf or not restricts must also be declared outside of them");
        }
        self.branch(branch, outside, place);
    }

    fn shape(&mut self, schema: &Schema, place: &Place<'_>) {
        for name in schema.required.iter().filter(|&name| !schema.properties.contains_key(name)) {
            self.add(place, format!("{name:?} is required but not among the properties"));
        }
        if schema.kind == Type::Array && schema.items.is_none() {
            self.add(place, "a list declares its items");
        }
        let fields = !schema.properties.is_empty() || schema.additional.is_some();
        if fields && !matches!(schema.kind, Type::Object | Type::Any) {
            self.add(place, "only an object has properties or entries");
        }
        if schema.union && schema.properties.is_empty() {
            self.add(place, "a union has members");
        }
        if schema.union && !schema.required.is_empty() {
            self.add(place, "no member of a union is required: exactly one of them is set");
        }
    }

    fn room(&mut self, schema: &Schema, place: &Place<'_>) {
        let pairs = [
            ("length", schema.min_length, schema.max_length),
            ("items", schema.min_items, schema.max_items),
            ("properties", schema.min_properties, schema.max_properties),
        ];
        for (what, least, most) in pairs {
            if let (Some(least), Some(most)) = (least, most)
                && least > most
            {
                self.add(place, format!("{what}: the minimum {least} is above the maximum {most}"));
            }
        }
        if let (Some(least), Some(most)) = (schema.minimum, schema.maximum) {
            let open = schema.exclusive_minimum || schema.exclusive_maximum;
            if least > most || (open && least >= most) {
                self.add(place, format!("no number lies between the minimum {least} and the maximum {most}"));
            }
        }
        if schema.multiple_of.is_some_and(|factor| factor <= 0.0) {
            self.add(place, "multipleOf is above zero");
        }
    }

    /// Defaults and allowed values are valid against the schema itself.
    fn values(&mut self, schema: &Schema, place: &Place<'_>) {
        let mut refuse = |what: &str, value: &Document| {
            let mut filled = value.clone();
            default(schema, &mut filled);
            for error in validate(schema, &filled) {
                let at = if error.path.as_str().is_empty() { String::new() } else { format!(" at {}", error.path) };
                self.add(place, format!("the {what} {value} is not valid{at}: {}", error.message()));
            }
        };
        if let Some(value) = &schema.default {
            refuse("default", value);
        }
        for value in &schema.enumeration {
            refuse("allowed value", value);
        }
    }

    fn list(&mut self, schema: &Schema, place: &Place<'_>) {
        let items = schema.items.as_deref();
        if schema.kind != Type::Array && schema.list != ListType::Atomic {
            self.add(place, "only a list is a set or a map");
        }
        match (&schema.list, items) {
            (ListType::Set, Some(items)) if items.kind == Type::Object && !items.map_atomic => {
                self.add(place, "the items of a set are scalars, or objects that are replaced as a whole");
            }
            (ListType::Map(keys), Some(items)) => {
                if keys.is_empty() {
                    self.add(place, "a map list has keys");
                }
                for key in keys {
                    match items.properties.get(key) {
                        None => self.add(place, format!("the key {key:?} is not a field of the items")),
                        Some(field) if matches!(field.kind, Type::Object | Type::Array | Type::Any) => {
                            self.add(place, format!("the key {key:?} is not a scalar"));
                        }
                        Some(field) if field.default.is_none() && !items.required.contains(key) => {
                            self.add(place, format!("the key {key:?} is neither required nor has it a default"));
                        }
                        Some(_) => {}
                    }
                }
            }
            _ => {}
        }
    }
}
