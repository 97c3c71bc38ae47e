//! Converts tables to a [`Schema`].
use std::{collections::HashMap, ptr};

use serde_json::Map;

use super::{
    FieldDecl, ListDecl, Literal, Rules, Shape, TypeDecl, generated, keywords,
    meta_types::{has_empty_texts, is_replaced_whole},
    walk,
};
use crate::schema::{
    Document, Pattern, Scalar, Schema,
    keywords::read as schema_of_keywords,
    model::{ListType, PatchStrategy, Type},
    number,
};

/// Settings of the conversion.
struct Build {
    /// Optional lists and maps are dropped when empty, as built-in kinds do.
    omit_empty: bool,
    /// So are raw JSON, and zeros of fields that are no `Option`.
    omit_zeros: bool,
    /// The schemas of structs. A struct that is used several times is shared.
    made: HashMap<*const TypeDecl, Schema>,
}

impl TypeDecl {
    /// The schema of a type.
    ///
    /// With `omit_empty`, optional lists and maps are dropped when empty, as in built-in kinds. With `omit_zeros`, zeros of fields that
    /// are no `Option` are empty, and raw JSON may be.
    ///
    /// # Errors
    /// An invalid pattern, or a key that items do not have; the text contains the place.
    pub fn schema(&'static self, omit_empty: bool, omit_zeros: bool) -> Result<Schema, String> {
        let mut schema = Build { omit_empty, omit_zeros, made: HashMap::new() }.of(self, &Rules::NONE)?;
        // The root is used nowhere: its description is that of the type.
        schema.type_description.clear();
        schema.keep_root_changeable();
        Ok(schema)
    }
}

impl Build {
    fn of(&mut self, ty: &'static TypeDecl, rules: &'static Rules) -> Result<Schema, String> {
        let ty = ty.inner();
        let mut schema = match ty.shape {
            Shape::Struct(_) | Shape::Union(_) => self.fields(ty)?,
            Shape::Scalar(kind, format, scalar) => {
                Schema { kind, format: (!format.is_empty()).then(|| format.to_owned()), scalar, ..Schema::default() }
            }
            Shape::Enum(variants) => Schema {
                kind: Type::String,
                enumeration: variants.iter().map(|v| Document::from(v.wire)).collect(),
                ..Schema::default()
            },
            Shape::List(item) => {
                let items = Some(self.of(item(), rules.items.unwrap_or(&Rules::NONE))?.into());
                Schema { kind: Type::Array, items, ..Schema::default() }
            }
            Shape::Map(value) => {
                let additional = Some(self.of(value(), rules.items.unwrap_or(&Rules::NONE))?.into());
                Schema { kind: Type::Object, additional, ..Schema::default() }
            }
            Shape::Any => Schema { preserve_unknown: true, ..Schema::default() },
            Shape::Generated(generate) => generate()?,
            Shape::Optional(_) | Shape::Boxed(_) => unreachable!("inner() went through them"),
        };
        if let Shape::Generated(_) = ty.shape {
            generated::apply(&mut schema, ty, rules)?;
        } else {
            ty.doc.clone_into(&mut schema.description);
            if !ty.fields().is_empty() {
                // The definition of the type has it, whatever is said of this use.
                ty.doc.clone_into(&mut schema.type_description);
            }
            schema.name = (!ty.name.is_empty()).then(|| ty.name.to_owned());
            apply(&mut schema, ty, rules)?;
        }
        Self::keywords(&mut schema, ty, rules)?;
        Ok(schema)
    }

    /// The keywords of a type, and those of this use of it.
    fn keywords(schema: &mut Schema, ty: &'static TypeDecl, rules: &Rules) -> Result<(), String> {
        for given in [ty.keywords, rules.keywords].into_iter().filter(|given| !given.is_empty()) {
            let document = given.iter().map(|(keyword, value)| Ok(((*keyword).to_owned(), json(ty, value)?)));
            let document = Document::Object(document.collect::<Result<_, String>>()?);
            let read = schema_of_keywords(&document)?;
            for (keyword, _) in given {
                keywords::adopt(schema, &read, keyword)?;
            }
        }
        Ok(())
    }

    /// A struct or union.
    fn fields(&mut self, ty: &'static TypeDecl) -> Result<Schema, String> {
        if let Some(made) = self.made.get(&ptr::from_ref(ty)) {
            return Ok(made.clone());
        }
        let union = matches!(ty.shape, Shape::Union(_));
        let mut schema = Schema { kind: Type::Object, union, ..Schema::default() };
        let mut fields = Vec::new();
        for field in ty.fields() {
            let required = field.required() && !union;
            fields.push((field.wire.to_owned(), self.field(ty, field, required)?));
            if required {
                schema.required.push(field.wire.to_owned());
            }
        }
        schema.properties = fields.into_iter().collect();
        self.made.insert(ty, schema.clone());
        Ok(schema)
    }

    fn field(&mut self, ty: &TypeDecl, field: &'static FieldDecl, required: bool) -> Result<Schema, String> {
        let mut schema = self.of((field.ty)(), field.rules).map_err(|e| format!("{}.{}: {e}", ty.name, field.rust))?;
        if !field.doc.is_empty() {
            field.doc.clone_into(&mut schema.description);
        }
        let of_go = self.omit_zeros || ty.proto_zeros;
        schema.zero_is_absent = of_go && !(field.ty)().optional() || field.rules.proto_zero;
        let is_collection = schema.kind == Type::Array || schema.additional.is_some() && schema.properties.is_empty();
        schema.omit_empty = self.omit_empty && !required && (of_go || schema.zero_is_absent || is_collection);
        if self.omit_empty && required && has_empty_texts(ty) {
            schema.default = Some("".into());
        }
        Ok(schema)
    }
}

/// Adds the declared rules to the type's schema.
fn apply(schema: &mut Schema, ty: &'static TypeDecl, rules: &'static Rules) -> Result<(), String> {
    if !rules.doc.is_empty() {
        rules.doc.clone_into(&mut schema.description);
    }
    if let Some(format) = rules.format {
        // A format that is said is that of a text, which stays as it was sent, and not of the type in Go.
        schema.format = (!format.is_empty()).then(|| format.to_owned());
        schema.scalar = schema.scalar.filter(|scalar| *scalar == Scalar::IntOrString);
    }
    schema.nullable = rules.nullable;
    if rules.embedded {
        (schema.kind, schema.embedded) = (Type::Object, true);
    }
    if rules.preserve_unknown {
        schema.preserve_unknown = true;
        // Entries of any value are what unknown fields are.
        schema.additional = schema.additional.take().filter(|values| values.kind != Type::Any);
    }
    schema.default = default_of(ty, rules)?;
    schema.minimum = rules.minimum;
    schema.exclusive_minimum = rules.exclusive_minimum;
    schema.maximum = rules.maximum;
    schema.exclusive_maximum = rules.exclusive_maximum;
    schema.multiple_of = rules.multiple_of;
    schema.min_length = rules.min_length;
    schema.max_length = rules.max_length;
    if !rules.pattern.is_empty() {
        let pattern = Pattern::new(rules.pattern);
        schema.pattern = Some(pattern.map_err(|e| format!("the pattern is no regular expression: {e}"))?);
    }
    if !rules.enumeration.is_empty() {
        schema.enumeration = rules.enumeration.iter().map(|&text| text.into()).collect();
    }
    schema.min_items = rules.min_items;
    schema.max_items = rules.max_items;
    schema.min_properties = rules.min_properties;
    schema.max_properties = rules.max_properties;
    schema.list = match rules.list {
        ListDecl::Atomic => ListType::Atomic,
        ListDecl::Set => ListType::Set,
        ListDecl::Map(keys) => ListType::Map(keys.iter().map(|key| key_of(schema, ty, key)).collect::<Result<_, _>>()?),
    };
    schema.map_atomic = rules.map_atomic || is_replaced_whole(ty);
    schema.patch = PatchStrategy {
        merge: rules.merge.merge,
        retain_keys: rules.merge.retain_keys,
        merge_key: rules.merge.key.map(|key| key_of(schema, ty, key)).transpose()?,
    };
    schema.immutable = rules.immutable;
    schema.protobuf = (rules.proto > 0).then_some(rules.proto);
    Ok(())
}

/// The wire name of a key of a list's items.
fn key_of(schema: &Schema, list: &'static TypeDecl, key: &str) -> Result<String, String> {
    let Shape::List(item) = list.shape else { return Err(format!("the key `{key}` is declared on what is no list")) };
    let item = item().inner();
    if let (Shape::Generated(_), Some(items)) = (item.shape, &schema.items) {
        let found =
            generated::wire_name(items, key).filter(|(name, _)| items.required.iter().any(|known| known == name));
        let no_key = || format!("the items have no field `{key}` that is required, which a key is");
        return found.map(|(name, _)| name.to_owned()).ok_or_else(no_key);
    }
    item.field(key).map(|field| field.wire.to_owned()).ok_or_else(|| format!("`{}` has no field `{key}`", item.name))
}

/// A literal as a document. Only paths need the type.
fn json(ty: &'static TypeDecl, value: &Literal) -> Result<Document, String> {
    Ok(match *value {
        Literal::Null => Document::Null,
        Literal::Bool(v) => v.into(),
        Literal::Int(v) => v.into(),
        Literal::Float(v) => number::of_double(v).map(Document::Number).ok_or("the value is no number")?,
        Literal::Text(v) => v.into(),
        Literal::Variant(name) => return Err(format!("`{name}` is a variant of no enumeration")),
        Literal::Path(path) => walk::resolve(ty, path).map_err(|e| e.to_string())?.definition_path().into(),
        Literal::List(items) => items.iter().map(|item| json(ty, item)).collect::<Result<Vec<_>, _>>()?.into(),
        Literal::Map(entries) => {
            let entries = entries.iter().map(|(key, v)| Ok(((*key).to_owned(), json(ty, v)?)));
            entries.collect::<Result<Map<_, _>, String>>()?.into()
        }
    })
}

/// The default that rules declare.
pub(super) fn default_of(ty: &'static TypeDecl, rules: &'static Rules) -> Result<Option<Document>, String> {
    rules.default.as_ref().map(|value| literal(ty, value)).transpose()
}

/// A literal as a document.
fn literal(ty: &'static TypeDecl, value: &Literal) -> Result<Document, String> {
    if let Shape::Generated(_) | Shape::Any = ty.shape {
        return json(ty, value);
    }
    Ok(match *value {
        Literal::Variant(name) => {
            let Shape::Enum(variants) = ty.shape else { return Err(format!("`{name}` is no enumeration's value")) };
            let variant = variants.iter().find(|v| v.rust == name);
            variant.ok_or_else(|| format!("`{}` has no value `{name}`", ty.name))?.wire.into()
        }
        Literal::List(items) => {
            let Shape::List(item) = ty.shape else { return Err("the default is a list".to_owned()) };
            items.iter().map(|v| literal(item().inner(), v)).collect::<Result<Vec<_>, _>>()?.into()
        }
        Literal::Map(entries) => {
            let mut map = Map::new();
            for (key, v) in entries {
                let at = match ty.shape {
                    Shape::Map(value) => Some(value()),
                    _ => ty.fields().iter().find(|f| f.wire == *key).map(|f| (f.ty)()),
                };
                map.insert((*key).to_owned(), at.map_or_else(|| json(ty, v), |at| literal(at.inner(), v))?);
            }
            map.into()
        }
        _ => json(ty, value)?,
    })
}
