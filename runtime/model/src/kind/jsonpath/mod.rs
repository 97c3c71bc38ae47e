//! The JSONPath of columns, as kubectl and kube-apiserver read it (`client-go/util/jsonpath`): fields, indexes, slices, wildcards,
//! descent, unions and filters. If an object lacks the values of a path, or a step is not possible, the result is empty.
//!
//! A [`CellMeter`] bounds what is looked at.
use std::fmt;

use crate::schema::Document;

mod find;
mod meter;
mod parse;
#[cfg(test)]
mod tests;

pub use meter::CellMeter;
pub(super) use parse::split;

/// A JSONPath such as `.status.conditions[?(@.type=="Ready")].status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath {
    text: String,
    steps: Vec<Step>,
}

/// A step, which leads from the values so far to others.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    Slice(Slice),
    Wildcard,
    /// The values with all that is in them, as far as something is.
    Descent,
    /// The values to which each of these paths leads.
    Union(Vec<Vec<Step>>),
    Filter(Box<Filter>),
    /// The same text, whatever there was before.
    Text(Document),
    /// This value in place of each of those before.
    Literal(Document),
    /// A word that means something in templates alone.
    Identifier,
}

/// Items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slice {
    from: i64,
    /// `None` for the end of the list.
    to: Option<i64>,
    /// Only the item at `from` is meant: `to` is the next one.
    is_index: bool,
    by: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Filter {
    left: Vec<Step>,
    /// `None` tests if the left side exists.
    comparison: Option<(Operator, Vec<Step>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// One of other signs, which finds nothing.
    Unknown,
}

impl JsonPath {
    /// Parses a path, which may be in braces.
    ///
    /// # Errors
    /// A description of the syntax error.
    pub fn parse(text: &str) -> Result<Self, String> {
        let inside = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
        Ok(Self { text: text.to_owned(), steps: parse::steps(inside)? })
    }

    /// The same in the call of a function, where a point alone is the object. In a JSONPath it is a field without a name.
    ///
    /// # Errors
    /// A description of the syntax error.
    pub(super) fn parse_in_call(text: &str) -> Result<Self, String> {
        Self::parse(if text == "." { "$" } else { text })
    }

    /// The names of the fields, if the path consists only of fields.
    pub fn names(&self) -> Option<Vec<String>> {
        let name = |step: &Step| if let Step::Field(name) = step { Some(name.clone()) } else { None };
        self.steps.iter().map(name).collect()
    }

    /// True if both paths find the same values, however they are written.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.steps == other.steps
    }

    /// The number of its steps, with those in unions and filters.
    pub fn len(&self) -> usize {
        count(&self.steps)
    }

    /// True for the path of the object itself.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The values at the path, in the order of the document; none if the meter does not allow to look at them all.
    ///
    /// ```
    /// # extern crate kindsmith_model as kindsmith;
    /// use kindsmith::kind::{JsonPath, CellMeter};
    ///
    /// let path = JsonPath::parse(".ports[*].port")?;
    /// let object = serde_json::json!({"ports": [{"port": 80}, {"port": 443}]});
    /// let meter = CellMeter::of(1_000);
    /// assert_eq!(path.find(&object, &meter).next(), Some(&80.into()));
    /// # Ok::<_, String>(())
    /// ```
    pub fn find<'a>(&'a self, document: &'a Document, meter: &CellMeter) -> impl Iterator<Item = &'a Document> {
        find::values(&self.steps, document, meter).into_iter()
    }
}

fn count(steps: &[Step]) -> usize {
    let below = |step: &Step| match step {
        Step::Union(paths) => paths.iter().map(|path| count(path)).sum(),
        Step::Filter(filter) => count(&filter.left) + filter.comparison.as_ref().map_or(0, |(_, right)| count(right)),
        _ => 0,
    };
    steps.iter().map(|step| 1 + below(step)).sum()
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
