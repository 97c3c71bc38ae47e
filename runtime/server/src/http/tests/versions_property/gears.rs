//! A kind in three versions.
use super::super::*;
use crate::{
    kind::{
        convert::{Change, DeclaredConversion, Unchanged, Version},
        fixture::gears,
        model::{Path, ScalePaths},
    },
    schema::{Schema, fixture::schema},
};

/// The storage version, one with renamed and moved fields, and one that lacks some fields.
pub(super) const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v2"];
pub(super) const STORED: usize = 0;
pub(super) const BETA: usize = 1;
pub(super) const NARROW: usize = 2;

/// Gears in these versions, and namespaces.
pub(super) fn kinds() -> Vec<Kind> {
    let text = json!({"type": "string"});
    let finish = json!({"type": "string", "default": "Plain"});
    let integer = |default: i64| json!({"type": "integer", "default": default});
    let of = |version: usize, spec: Value, further: Value| {
        let mut properties = json!({
            "spec": {"type": "object", "properties": spec},
            "status": {"type": "object", "properties": {"phase": text}},
        });
        properties.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
        let object = schema(&json!({"type": "object", "properties": properties}));
        let schema = Arc::new(Schema { name: Some("Gear".to_owned()), ..object });
        gears().with(|_, data, _| {
            VERSIONS[version].clone_into(&mut data.name);
            data.schema = schema;
            data.columns = Vec::new();
            let teeth = Path::from(if version == BETA { "spec.cogs" } else { "spec.teeth" });
            data.scale = Some(ScalePaths::new(teeth, Path::from("status.teeth")));
        })
    };
    let stored = of(STORED, json!({"teeth": integer(12), "color": text, "finish": finish}), json!({}));
    let mut beta = of(BETA, json!({"cogs": integer(10), "tone": text}), json!({"color": text}));
    let mut narrow = of(NARROW, json!({"teeth": integer(20), "color": text}), json!({}));
    let changes = [
        Change::Renamed(Path::from("spec.cogs"), Path::from("spec.teeth")),
        Change::Renamed(Path::from("color"), Path::from("spec.color")),
        Change::Added(Path::from("spec.finish")),
        Change::Removed(Path::from("spec.tone")),
    ];
    let declared = DeclaredConversion::new(version(&beta), version(&stored), &changes).expect("a conversion");
    beta.binding.conversion = Some(Arc::new(declared));
    narrow.binding.conversion = Some(Arc::new(Unchanged { fills: true }));
    vec![Namespace::kind(), beta, stored, narrow]
}

fn version(kind: &Kind) -> Version<'_> {
    Version { name: &kind.group_version, schema: &kind.version.schema }
}
