//! A bakery: its orders are defined by a manifest, which is served as it stands. What a schema cannot say is a hook in Rust.

use kindsmith::{Context, FieldError, FieldErrorKind, FieldPath, Hooks, ObjectMeta, handlers::Result, server::Builder};
use serde::{Deserialize, Serialize};

/// The manifest that defines orders.
pub const MANIFEST: &str = include_str!("../../../schemas/bakery.example.com/orders.yaml");

/// The part of an order that the hook needs. Its other fields are kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The metadata.
    pub metadata: ObjectMeta,
    /// What is to be baked.
    pub spec: OrderSpec,
}

/// What is to be baked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OrderSpec {
    /// The breads.
    pub items: Vec<Item>,
}

/// A kind of bread, and how many.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Item {
    /// The kind of bread.
    pub name: String,
    /// How many.
    pub count: u32,
}

/// The oven, which does not bake more than this in an order.
pub struct Oven {
    /// How many breads fit.
    pub room: u64,
}

impl Hooks<Order> for Oven {
    async fn validate(&self, order: &Order, context: &Context<'_, Order>) -> Result<Vec<FieldError>> {
        let breads: u64 = order.spec.items.iter().map(|item| u64::from(item.count)).sum();
        if breads > self.room {
            let path = FieldPath::new("spec").child("items");
            let detail = format!("an order has at most {} breads", self.room);
            return Ok(vec![FieldError::new(&path, FieldErrorKind::Invalid(breads.into()), detail)]);
        }
        if breads * 2 > self.room {
            context.warn("an order of this size takes a day");
        }
        Ok(Vec::new())
    }
}

/// Adds the bakery to a server.
pub fn serve(server: Builder) -> Builder {
    server.crd(MANIFEST).hooks::<Order>("bakery.example.com/v1", "Order", Oven { room: 100 })
}
