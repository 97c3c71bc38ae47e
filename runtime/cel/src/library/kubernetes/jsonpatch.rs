//! JSON patches: `jsonpatch.escapeKey`, and the type of operations, for policies that change objects.
use crate::{Function, Library, Type, TypeProvider, cost::shared::TRANSFORM, library::arguments::read_text};

/// The library of JSON patches.
pub static JSON_PATCH: Library =
    Library { name: "kubernetes.jsonpatch", functions, macros: &[], types: Vec::new, validators: &[] };

/// The type `JSONPatch`: an operation, `JSONPatch{op: "add", path: "/spec/size", value: 1}`.
#[derive(Clone, Copy, Debug)]
pub struct JsonPatchTypes;

impl TypeProvider for JsonPatchTypes {
    fn has(&self, structure: &str) -> bool {
        structure == "JSONPatch"
    }

    fn field(&self, structure: &str, field: &str) -> Option<Type> {
        match field {
            "op" | "from" | "path" if self.has(structure) => Some(Type::String),
            "value" if self.has(structure) => Some(Type::Dyn),
            _ => None,
        }
    }
}

fn functions() -> Vec<Function> {
    vec![
        Function::new("jsonpatch.escapeKey")
            .global("string_jsonpatch_escapeKey_string", &[Type::String], Type::String)
            .does(|args, meter| Ok(read_text(args, 0, meter)?.replace('~', "~0").replace('/', "~1").into()))
            .costs(TRANSFORM),
    ]
}
