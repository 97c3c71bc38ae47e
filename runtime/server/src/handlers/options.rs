//! Options of a subresource, read from the query by their declared types: `?follow=true&tailLines=10&command=a&command=b`.
use std::sync::Arc;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Number};

use crate::{
    ApiType,
    meta::{
        FieldError,
        options::{Query, switch},
    },
    schema::{self, At, Document, Meter, Schema, model::Type},
};

/// Options that a handler takes from the query, declared with `#[derive(ApiType)]`.
///
/// Flags count unless they say `false` or `0`; a list is made of a parameter that is given several times, and a list of
/// whole numbers of one with commas, too.
pub trait Options: ApiType + DeserializeOwned + Send + 'static {}

impl<T: ApiType + DeserializeOwned + Send + 'static> Options for T {}

/// No options.
#[derive(ApiType, Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct NoOptions {}

/// Why a query's options are refused.
pub(crate) enum Wrong {
    /// A parameter cannot be read.
    Malformed(String),
    /// The options are not allowed.
    Invalid(Vec<FieldError>),
}

/// The schema of options. Fails if the declaration contradicts itself in a way that the derive does not see.
pub(super) fn schema_of<O: Options>() -> Result<Arc<Schema>, String> {
    let refused = |error: String| format!("the options {} cannot be served: {error}", O::DECLARATION.name);
    let mut schema = O::DECLARATION.schema(false, false).map_err(refused)?;
    schema.name = Some(O::DECLARATION.name.to_owned());
    Ok(schema.into())
}

/// Reads the options out of a query.
pub(crate) fn read(schema: &Schema, query: &Query) -> Result<Document, Wrong> {
    let mut options = Map::new();
    for (name, property) in At::of(schema).properties() {
        if !query.has(name) {
            continue;
        }
        let value = match (property.kind, property.items()) {
            // A number has no comma in it: there, several may come in one parameter.
            (Type::Array, Some(items)) if items.kind == Type::Integer => {
                query.all(name).flat_map(|text| text.split(',')).map(|text| value(&items, text)).collect()
            }
            (Type::Array, Some(items)) => query.all(name).map(|text| value(&items, text)).collect(),
            _ => {
                let given = query.single(name).map_err(|error| Wrong::Malformed(error.to_string()))?;
                given.map_or(Ok(Document::Null), |text| value(&property, text))
            }
        };
        let malformed = |why| Wrong::Malformed(format!("the parameter {name} {why}"));
        options.insert(name.clone(), value.map_err(malformed)?);
    }
    let mut options = Document::Object(options);
    let meter = Meter::default();
    let filled = schema::default(schema, &mut options, &meter);
    let errors = filled.and_then(|()| schema::validate(schema, &options, &meter));
    match errors.map_err(|exceeded| Wrong::Malformed(exceeded.to_string()))? {
        errors if errors.is_empty() => Ok(options),
        errors => Err(Wrong::Invalid(errors)),
    }
}

fn value(schema: &Schema, text: &str) -> Result<Document, String> {
    Ok(match schema.kind {
        Type::Boolean => Document::Bool(switch(text)),
        Type::Integer => {
            let number: i64 = text.parse().map_err(|_| format!("is {text:?}, which is no whole number"))?;
            number.into()
        }
        Type::Number => {
            let number = text.parse().ok().and_then(Number::from_f64);
            number.map(Document::Number).ok_or_else(|| format!("is {text:?}, which is no number"))?
        }
        Type::IntOrString => text.parse::<i64>().map_or_else(|_| text.into(), Document::from),
        Type::String | Type::Any => text.into(),
        Type::Object | Type::Array => return Err("cannot be given in a query".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(ApiType, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct LogOptions {
        follow: Option<bool>,
        #[api(minimum = 0)]
        tail_lines: Option<i64>,
        #[api(default = "main")]
        container: String,
        command: Option<Vec<String>>,
        ports: Option<Vec<i32>>,
    }

    fn read_from(query: &str) -> Result<Document, String> {
        let query = Query::parse(query).expect("a query");
        read(&schema_of::<LogOptions>().expect("options"), &query).map_err(|wrong| match wrong {
            Wrong::Malformed(why) => why,
            Wrong::Invalid(errors) => errors.iter().map(ToString::to_string).collect(),
        })
    }

    #[test]
    fn options_by_their_types() {
        let read = read_from("follow=&tailLines=10&command=a&command=b&other=x");
        let want = json!({"follow": true, "tailLines": 10, "container": "main", "command": ["a", "b"]});
        assert_eq!(read, Ok(want));
        assert_eq!(read_from("follow=False&container="), Ok(json!({"follow": false, "container": ""})));
        let several = json!({"container": "main", "command": ["a,b"], "ports": [1, 2, 3]});
        assert_eq!(read_from("command=a,b&ports=1,2&ports=3"), Ok(several));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let malformed = read_from("tailLines=many").expect_err("no number");
        assert_eq!(malformed, "the parameter tailLines is \"many\", which is no whole number");
        let repeated = read_from("tailLines=1&tailLines=2").expect_err("one number");
        assert_eq!(repeated, "the query parameter \"tailLines\" may be given only once");
        let invalid = read_from("tailLines=-1").expect_err("below its minimum");
        assert!(invalid.starts_with("tailLines: Invalid value: -1"), "{invalid}");
    }
}
