//! A schema of documents, as a server would have one: types for the checker, shapes for values, and documents at random.
use std::sync::{Arc, LazyLock};

use kindsmith_cel::{
    Error, Range, Sizes, Type, TypeProvider, Value,
    value::{Items, Json, List, ListKind, Map, Object, Shape},
};
use serde_json::json;

use crate::random::Random;

/// The type with fields.
pub(crate) const OBJECT: &str = "Object";

/// The type of a document's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schema {
    Bool,
    Int,
    Double,
    String,
    Dyn,
    List(&'static Schema),
    Set(&'static Schema),
    Keyed(&'static Schema),
    Map(&'static Schema),
    Object,
}

/// The fields of the type.
pub(crate) const FIELDS: [(&str, Schema); 15] = [
    ("flag", Schema::Bool),
    ("count", Schema::Int),
    ("ratio", Schema::Double),
    ("name", Schema::String),
    ("any", Schema::Dyn),
    ("numbers", Schema::List(&Schema::Int)),
    ("names", Schema::List(&Schema::String)),
    ("matrix", Schema::List(&Schema::List(&Schema::Int))),
    ("set", Schema::Set(&Schema::String)),
    ("labels", Schema::Map(&Schema::String)),
    ("counts", Schema::Map(&Schema::Int)),
    ("lists", Schema::Map(&Schema::List(&Schema::String))),
    ("inner", Schema::Object),
    ("items", Schema::List(&Schema::Object)),
    ("keyed", Schema::Keyed(&Schema::Object)),
];

static KEYS: LazyLock<Vec<String>> = LazyLock::new(|| vec!["name".to_owned()]);

impl Schema {
    pub(crate) fn kind(self) -> Type {
        match self {
            Self::Bool => Type::Bool,
            Self::Int => Type::Int,
            Self::Double => Type::Double,
            Self::String => Type::String,
            Self::Dyn => Type::Dyn,
            Self::List(of) | Self::Set(of) | Self::Keyed(of) => Type::list(of.kind()),
            Self::Map(of) => Type::map(Type::String, of.kind()),
            Self::Object => Type::Struct(OBJECT.into()),
        }
    }

    fn of_field(name: &str) -> Option<&'static Self> {
        FIELDS.iter().find(|(own, _)| *own == name).map(|(_, schema)| schema)
    }

    /// A document.
    pub(crate) fn document(self, random: &mut Random, depth: usize) -> Json {
        let most = 1 + depth * 2;
        match self {
            Self::Bool => random.one_in(2).into(),
            Self::Int => number(random).into(),
            Self::Double => json!(f64::from(u32::try_from(random.below(1000)).unwrap()) / 8.0),
            Self::String => (*random.pick(&TEXTS)).into(),
            Self::Dyn if depth > 0 => {
                let (_, schema) = *random.pick(&FIELDS);
                schema.document(random, depth - 1)
            }
            Self::Dyn => Json::Null,
            Self::List(of) | Self::Set(of) | Self::Keyed(of) => {
                (0..random.below(most)).map(|_| of.document(random, depth.saturating_sub(1))).collect()
            }
            Self::Map(of) => {
                let keys = (0..random.below(most)).map(|_| (*random.pick(&TEXTS)).to_owned()).collect::<Vec<_>>();
                keys.into_iter().map(|key| (key, of.document(random, depth.saturating_sub(1)))).collect()
            }
            Self::Object if depth == 0 => json!({}),
            Self::Object => {
                let mut object = Object::new();
                for (name, schema) in FIELDS {
                    // Few values cannot be read.
                    let value = if random.one_in(50) { Json::Null } else { schema.document(random, depth - 1) };
                    if !random.one_in(5) {
                        object.insert(name.to_owned(), value);
                    }
                }
                object.into()
            }
        }
    }
}

/// Texts that documents and expressions have.
pub(crate) const TEXTS: [&str; 14] =
    ["", "a", "b", "ab", "abc", "a.b", "x-1", "1", "true", "1h", "Ä€😀", "a, b, c", " A b\\t", "10.0.0.1"];

fn number(random: &mut Random) -> i64 {
    match random.below(8) {
        0 => i64::MAX,
        1 => i64::MIN,
        2 => -1,
        small => i64::try_from(small).unwrap() - 3,
    }
}

impl Shape for Schema {
    fn read<'a>(&'a self, json: &'a Json) -> Result<Value<'a>, Error> {
        let list =
            |items: &'a [Json], shape: &'a Self, kind| Value::List(List { items: Items::Document(items, shape), kind });
        Ok(match (self, json) {
            (Self::Bool, Json::Bool(value)) => Value::Bool(*value),
            (Self::Int, Json::Number(number)) => Value::Int(number.as_i64().ok_or_else(|| Error::new("no int"))?),
            (Self::Double, Json::Number(number)) => {
                Value::Double(number.as_f64().ok_or_else(|| Error::new("no double"))?)
            }
            (Self::String, Json::String(text)) => Value::from(text.as_str()),
            (Self::Dyn, json) => kindsmith_cel::value::Dynamic.read(json)?,
            (Self::List(of), Json::Array(items)) => list(items, of, ListKind::Atomic),
            (Self::Set(of), Json::Array(items)) => list(items, of, ListKind::Set),
            (Self::Keyed(of), Json::Array(items)) => list(items, of, ListKind::Map(&KEYS)),
            (Self::Map(_) | Self::Object, Json::Object(object)) => Value::Map(Map::Document(object, self)),
            _ => return Err(Error::new("the value has another type")),
        })
    }

    fn field<'a>(&'a self, object: &'a Object, name: &str) -> Option<Result<Value<'a>, Error>> {
        let schema = match self {
            Self::Map(of) => of,
            _ => Self::of_field(name)?,
        };
        object.get(name).map(|json| schema.read(json))
    }

    fn knows(&self, name: &str) -> bool {
        matches!(self, Self::Map(_)) || Self::of_field(name).is_some()
    }
}

/// The types that expressions name.
#[derive(Debug)]
pub(crate) struct Types;

impl TypeProvider for Types {
    fn has(&self, structure: &str) -> bool {
        structure == OBJECT
    }

    fn field(&self, structure: &str, field: &str) -> Option<Type> {
        if structure == OBJECT { Schema::of_field(field).map(|schema| schema.kind()) } else { None }
    }
}

/// The variables, all of documents or values of one type.
pub(crate) fn variables() -> Vec<(&'static str, Type)> {
    vec![
        ("self", Schema::Object.kind()),
        ("any", Type::Dyn),
        ("n", Type::Int),
        ("u", Type::Uint),
        ("f", Type::Double),
        ("s", Type::String),
        ("long", Type::String),
        ("data", Type::Bytes),
        ("span", Type::Duration),
        ("time", Type::Timestamp),
        ("maybe", Type::optional(Type::Int)),
        ("old", Type::optional(Schema::Object.kind())),
        ("ints", Type::list(Type::Int)),
        ("texts", Type::list(Type::String)),
        ("table", Type::map(Type::Int, Type::list(Type::String))),
    ]
}

/// The largest sizes that values have, for the estimate.
pub(crate) struct Measured {
    /// The most that any list, map or text of the documents has.
    pub(crate) most: u64,
}

impl Sizes for Measured {
    fn size(&self, path: &[&str], kind: &Type) -> Option<Range> {
        let known = !path.is_empty()
            && matches!(kind, Type::String | Type::Bytes | Type::List(_) | Type::Map(..) | Type::Struct(_) | Type::Dyn);
        known.then_some(Range::new(0, self.most))
    }
}

/// Shared by all setups.
pub(crate) fn provider() -> Arc<dyn TypeProvider> {
    Arc::new(Types)
}
