//! Kinds as a program exports them: as definitions and as OpenAPI documents, since neither says everything. Definitions have the
//! columns and the names; documents have the names of types, the subresources, and kinds that are not stored.

use std::sync::Arc;

use kindsmith::{
    kind::{Definition, UserRoles, model::Version},
    schema::Schema,
};
use serde_json::Value;

use crate::{Error, Kinds};

impl Kinds {
    /// Reads what a program wrote, that was run with the environment variable `KINDSMITH_EXPORT`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn of_program(exported: &Value) -> Result<Self, Error> {
        let definition = |definition: &Value| {
            let name = definition["metadata"]["name"].as_str().unwrap_or_default();
            (format!("the program's {name}"), definition.to_string().into_bytes())
        };
        let definitions: Vec<_> = exported["definitions"].as_array().into_iter().flatten().map(definition).collect();
        let document = |(path, document): (&String, &Value)| {
            (format!("the program's OpenAPI document {path}"), document.to_string().into_bytes())
        };
        let documents: Vec<_> = exported["openapi"].as_object().into_iter().flatten().map(document).collect();
        let mut kinds = Self::of_texts(&definitions)?;
        for mut described in Self::of_texts(&documents)?.kinds {
            let name = described.definition.shared.group_resource();
            if let [Some(read), Some(write)] = [0, 1].map(|index| exported["roles"][name.to_string()][index].as_str())
                && let Ok(roles) = UserRoles::named(Some(read), Some(write))
            {
                Arc::make_mut(&mut described.definition.shared).roles = roles;
            }
            let mut defined = kinds.kinds.iter_mut().map(|declaration| &mut declaration.definition);
            match defined.find(|definition| definition.shared.group_resource() == name) {
                Some(definition) => complete(definition, &described.definition),
                None => kinds.kinds.push(described),
            }
        }
        Ok(kinds)
    }
}

/// Adds what a document says of a resource, and its definition does not.
fn complete(definition: &mut Definition, described: &Definition) {
    for version in &mut definition.versions {
        let Some(other) = described.versions.iter().find(|other| other.name == version.name) else { continue };
        let mut completed = Version::clone(version);
        completed.subresources.clone_from(&other.subresources);
        completed.verbs.clone_from(&other.verbs);
        name_types(Arc::make_mut(&mut completed.schema), &other.schema);
        *version = Arc::new(completed);
    }
}

/// Names the types of a schema as another one for the same values does.
fn name_types(schema: &mut Schema, described: &Schema) {
    schema.name.clone_from(&described.name);
    schema.type_description.clone_from(&described.type_description);
    if described.definition.is_some() {
        // A definition ends where the type begins anew.
        return;
    }
    let names: Vec<String> = schema.properties.keys().cloned().collect();
    for name in names {
        if let (Some(field), Some(other)) = (schema.properties.get_mut(&name), described.properties.get(&name)) {
            name_types(field, other);
        }
    }
    for (own, other) in [(&mut schema.items, &described.items), (&mut schema.additional, &described.additional)] {
        if let (Some(own), Some(other)) = (own, other) {
            name_types(Arc::make_mut(own), other);
        }
    }
}
