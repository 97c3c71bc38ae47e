//! A kind in two versions, for tests: v1 is the storage version, and v2 has renamed fields.
use std::{
    future::ready,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};

use super::{
    Binding, Convert, Kind,
    binding::{DocumentHooks, Hook, HookContext, HookError, HookFuture},
    model::{Cell, Column, Names, Path, Shared, Version},
    policy::Custom,
};
use crate::{
    meta::{FieldError, refusal},
    schema::{Document, Schema, fixture::schema},
};

type FillIn = fn(&mut Document, &HookContext<'_>) -> Result<(), String>;
type Validate = fn(&Document, &HookContext<'_>) -> Result<Vec<FieldError>, String>;
type Admit = fn(&Document, &HookContext<'_>) -> refusal::Result<()>;
type GenerateName = fn(&Document, &str) -> String;

/// Hooks of functions on documents.
#[derive(Clone, Copy, Default)]
pub struct Hooks {
    /// Sets defaults.
    pub default: Option<FillIn>,
    /// Validates.
    pub validate: Option<Validate>,
    /// Admits.
    pub admit: Option<Admit>,
    /// Generates a name.
    pub generate_name: Option<GenerateName>,
    /// Changes an object that is deleted.
    pub on_delete: Option<fn(&mut Document)>,
    /// Keeps an object from being deleted.
    pub holds_deletion: Option<fn(&Document) -> bool>,
}

impl DocumentHooks for Hooks {
    fn runs(&self, hook: Hook) -> bool {
        match hook {
            Hook::Defaults => self.default.is_some(),
            Hook::Validation => self.validate.is_some(),
            Hook::Admission => self.admit.is_some(),
            Hook::Name => self.generate_name.is_some(),
            Hook::Deletion => self.on_delete.is_some(),
            Hook::Hold => self.holds_deletion.is_some(),
        }
    }

    fn set_defaults<'a>(&'a self, object: &'a mut Document, context: HookContext<'a>) -> HookFuture<'a, ()> {
        let done = self.default.map_or(Ok(()), |hook| hook(object, &context));
        Box::pin(ready(done.map_err(HookError::Undecodable)))
    }

    fn validate<'a>(&'a self, object: &'a Document, context: HookContext<'a>) -> HookFuture<'a, Vec<FieldError>> {
        let found = self.validate.map_or(Ok(Vec::new()), |hook| hook(object, &context));
        Box::pin(ready(found.map_err(HookError::Undecodable)))
    }

    fn admit<'a>(&'a self, object: &'a Document, context: HookContext<'a>) -> HookFuture<'a, ()> {
        let decided = self.admit.map_or(Ok(()), |hook| hook(object, &context));
        Box::pin(ready(decided.map_err(HookError::Refused)))
    }

    fn generate_name<'a>(&'a self, object: &'a Document, base: &'a str) -> HookFuture<'a, Option<String>> {
        Box::pin(ready(Ok(self.generate_name.map(|hook| hook(object, base)))))
    }

    fn on_delete<'a>(&'a self, object: &'a mut Document, _: &'a Schema) -> HookFuture<'a, ()> {
        if let Some(hook) = self.on_delete {
            hook(object);
        }
        Box::pin(ready(Ok(())))
    }

    fn holds_deletion<'a>(&'a self, object: &'a Document) -> HookFuture<'a, bool> {
        Box::pin(ready(Ok(self.holds_deletion.is_some_and(|hook| hook(object)))))
    }
}

/// The storage version of gears: `spec.teeth`, `spec.color` and `status.phase`.
pub fn gears() -> Kind {
    let text = json!({"type": "string"});
    let spec = json!({"type": "object", "properties": {"teeth": {"type": "integer"}, "color": text}});
    let status = json!({"type": "object", "properties": {"phase": text}});
    let version = Version {
        status: true,
        generation: true,
        columns: vec![column("Teeth", "spec.teeth")],
        update_without_version: true,
        ..Version::new("v1", named(&json!({"type": "object", "properties": {"spec": spec, "status": status}})))
    };
    Kind::new(Shared::new("example.com", Names::new("Gear", "gears")), version, Binding::new(&Custom))
}

/// Gears in v2: `spec.dents` and `spec.paint.color`.
pub fn gears_v2(conversion: &Arc<RenamingConversion>) -> Kind {
    let text = json!({"type": "string"});
    let paint = json!({"type": "object", "properties": {"color": text}});
    let spec = json!({"type": "object", "properties": {
        "dents": {"type": "integer"}, "paint": paint, "shape": {"type": "string", "default": "round"},
    }});
    let status = json!({"type": "object", "properties": {"phase": text}});
    gears().with(|_, version, binding| {
        "v2".clone_into(&mut version.name);
        binding.conversion = Some(conversion.clone());
        version.schema = Arc::new(named(&json!({"type": "object", "properties": {"spec": spec, "status": status}})));
        version.columns = vec![column("Dents", "spec.dents"), column("Paint", "spec.paint.color")];
    })
}

fn named(from: &Value) -> Schema {
    Schema { name: Some("Gear".to_owned()), ..schema(from) }
}

fn column(name: &str, path: &str) -> Column {
    Column::new(name, "string", Cell::Path(Path::from(path)))
}

/// The conversion of v2. Counts conversions to v2, fails for `unpaintable` objects, and panics for `slippery` ones.
#[derive(Debug, Default)]
pub struct RenamingConversion {
    reads: AtomicUsize,
}

impl RenamingConversion {
    /// The number of conversions since the last call.
    pub fn reads(&self) -> usize {
        self.reads.swap(0, Ordering::SeqCst)
    }
}

impl Convert for RenamingConversion {
    fn write(&self, mut document: Document) -> Result<Document, String> {
        let spec = &mut document["spec"];
        *spec = json!({"teeth": spec["dents"], "color": spec["paint"]["color"]});
        Ok(document)
    }

    fn read(&self, mut document: Document) -> Result<Document, String> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let spec = &mut document["spec"];
        match spec["color"].as_str() {
            Some("unpaintable") => return Err("v2 has no such paint".to_owned()),
            Some("slippery") => panic!("it slipped"),
            _ => {}
        }
        *spec = json!({"dents": spec["teeth"], "paint": {"color": spec["color"]}, "undeclared": 1});
        Ok(document)
    }
}
