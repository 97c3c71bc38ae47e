//! The options of deletions, which clients send as bodies and which are no part of any kind.
use std::sync::LazyLock;

use crate::schema::{Schema, model::Type};

/// The schema of `DeleteOptions`.
pub static DELETE_OPTIONS: LazyLock<Schema> = LazyLock::new(|| {
    let text = |number| field(number, Type::String);
    let items = Some(Box::new(text(0)));
    structure([
        ("gracePeriodSeconds", field(1, Type::Integer)),
        ("preconditions", Schema { protobuf: Some(2), ..structure([("uid", text(1)), ("resourceVersion", text(2))]) }),
        ("orphanDependents", field(3, Type::Boolean)),
        ("propagationPolicy", text(4)),
        ("dryRun", Schema { items, ..field(5, Type::Array) }),
    ])
});

fn field(number: u32, kind: Type) -> Schema {
    Schema { kind, protobuf: (number > 0).then_some(number), ..Schema::default() }
}

fn structure<const N: usize>(fields: [(&str, Schema); N]) -> Schema {
    let properties = fields.map(|(name, schema)| (name.to_owned(), schema)).into();
    Schema { kind: Type::Object, properties, ..Schema::default() }
}
