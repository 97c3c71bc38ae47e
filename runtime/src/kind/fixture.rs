//! A kind in two versions, for tests: v1 is stored, and v2 has other names for its fields.
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};

use super::{
    Convert, Kind,
    model::{Cell, Column, Hooks, NameRule, Path, Scope},
    policy::Custom,
};
use crate::{
    meta::GroupVersion,
    schema::{Document, Schema, fixture::schema},
};

/// The stored version of gears: `spec.teeth`, `spec.color` and `status.phase`.
pub(crate) fn gears() -> Kind {
    let text = json!({"type": "string"});
    let spec = json!({"type": "object", "properties": {"teeth": {"type": "integer"}, "color": text}});
    let status = json!({"type": "object", "properties": {"phase": text}});
    Kind {
        group_version: GroupVersion { group: "example.com".to_owned(), version: "v1".to_owned() },
        served: true,
        deprecated: None,
        conversion: None,
        kind: "Gear".to_owned(),
        list_kind: "GearList".to_owned(),
        plural: "gears".to_owned(),
        singular: "gear".to_owned(),
        short_names: Vec::new(),
        categories: Vec::new(),
        scope: Scope::Namespaced,
        policy: &Custom,
        names: NameRule::Subdomain,
        schema: named(&json!({"type": "object", "properties": {"spec": spec, "status": status}})),
        strategic: false,
        status: true,
        generation: true,
        scale: None,
        columns: vec![column("Teeth", "spec.teeth")],
        selectable: Vec::new(),
        update_without_version: true,
        create_on_update: false,
        stored: true,
        subresources: Vec::new(),
        grace: None,
        hooks: Hooks::default(),
    }
}

/// Gears in v2: `spec.dents` and `spec.paint.color`.
pub(crate) fn gears_v2(renamed: &Arc<Renamed>) -> Kind {
    let text = json!({"type": "string"});
    let paint = json!({"type": "object", "properties": {"color": text}});
    let spec = json!({"type": "object", "properties": {
        "dents": {"type": "integer"}, "paint": paint, "shape": {"type": "string", "default": "round"},
    }});
    let status = json!({"type": "object", "properties": {"phase": text}});
    Kind {
        group_version: GroupVersion { group: "example.com".to_owned(), version: "v2".to_owned() },
        conversion: Some(renamed.clone()),
        schema: named(&json!({"type": "object", "properties": {"spec": spec, "status": status}})),
        columns: vec![column("Dents", "spec.dents"), column("Paint", "spec.paint.color")],
        ..gears()
    }
}

fn named(from: &Value) -> Arc<Schema> {
    Arc::new(Schema { name: Some("Gear".to_owned()), ..schema(from) })
}

fn column(name: &str, path: &str) -> Column {
    let (name, cell) = (name.to_owned(), Cell::Path(Path::from(path)));
    Column { name, kind: "string", format: "", description: String::new(), priority: 0, cell }
}

/// The conversion of v2. It counts how often it is asked for an object of v2, has none for those that are `unpaintable`, and
/// panics at those that are `slippery`.
#[derive(Debug, Default)]
pub(crate) struct Renamed {
    reads: AtomicUsize,
}

impl Renamed {
    /// How many objects were converted since this was last asked.
    pub fn reads(&self) -> usize {
        self.reads.swap(0, Ordering::SeqCst)
    }
}

impl Convert for Renamed {
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
