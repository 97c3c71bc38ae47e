//! Types that implement `schemars::JsonSchema` as parts of kinds: `#[api(schema = schemars)]`. Their structural schema is made
//! from their JSON Schema when a kind is built.
use std::marker::PhantomData;

use crate::schema::declare::{ApiType, Shape, TypeDecl};

/// The declaration of a type that implements `schemars::JsonSchema`. Derived code puts it in place of the type.
pub struct JsonSchemaOf<T>(PhantomData<T>);

#[cfg(feature = "schemars")]
#[diagnostic::do_not_recommend]
impl<T: schemars::JsonSchema> ApiType for JsonSchemaOf<T> {
    type Inner = Self;
    const DECLARATION: &'static TypeDecl = &TypeDecl::unnamed(Shape::Generated(structural_schema::<T>));
    const NESTING: usize = 1;
}

/// The structural schema of a type that implements `schemars::JsonSchema`.
///
/// A type that contains itself has a recursive schema. A CustomResourceDefinition, which cannot say it, preserves unknown
/// fields below the first turn. Integers have the formats `int32` and `int64`, with the bounds of their type in Rust. The
/// variants of an enum are joined: their fields are all in `properties`, and the branches of `oneOf` or `anyOf` tell them apart.
///
/// # Errors
/// If a structural schema cannot say what the JSON Schema says: the type, and for each error the JSON pointer into its JSON
/// Schema (`schemars::schema_for!`), what was found and what is supported.
///
/// ```
/// use kindsmith_formats::generated::structural_schema;
/// use kindsmith_model::schema::Type;
///
/// #[derive(schemars::JsonSchema)]
/// struct Port {
///     number: u16,
/// }
///
/// let number = &structural_schema::<Port>()?.properties["number"];
/// assert_eq!((number.kind, number.maximum), (Type::Integer, Some(65535.0)));
/// # Ok::<_, String>(())
/// ```
#[cfg(feature = "schemars")]
pub fn structural_schema<T: schemars::JsonSchema>() -> Result<crate::schema::Schema, String> {
    let mut generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let root = generator.subschema_for::<T>().to_value();
    let definitions = generator.take_definitions(true);
    super::openapi::json_schema::read(&root, &definitions).map_err(|errors| {
        format!("{} has no structural schema:\n  {}", std::any::type_name::<T>(), errors.join("\n  "))
    })
}

/// Checks that the JSON Schema of a type can be read, so that one error says what is missing.
#[cfg(feature = "schemars")]
pub fn described<T: schemars::JsonSchema>() {}

#[cfg(not(feature = "schemars"))]
pub use missing::described;

#[cfg(not(feature = "schemars"))]
mod missing {
    use super::{ApiType, JsonSchemaOf, Shape, TypeDecl};

    #[diagnostic::on_unimplemented(
        message = "`schema = schemars` needs the feature `schemars` of kindsmith",
        label = "its JSON Schema cannot be read",
        note = "in Cargo.toml: kindsmith = {{ …, features = [\"schemars\"] }}"
    )]
    /// A type whose JSON Schema can be read. Without the feature no type implements it.
    pub trait Readable {}

    /// Checks that the JSON Schema of a type can be read.
    pub fn described<T: Readable>() {}

    #[diagnostic::do_not_recommend]
    impl<T> ApiType for JsonSchemaOf<T> {
        type Inner = Self;
        const DECLARATION: &'static TypeDecl = &TypeDecl::unnamed(Shape::Any);
        const NESTING: usize = 1;
    }
}
