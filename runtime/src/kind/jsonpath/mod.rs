//! The JSONPath of columns, as in kubectl and kube-apiserver: fields, indexes, slices, wildcards, descent, unions and
//! filters. If an object lacks the values of a path, the result is empty.
//!
//! Values are found one by one: what takes the first does not look for the others. A [`CellMeter`] bounds what is looked at.
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

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    /// Start, end and step.
    Slice(Option<i64>, Option<i64>, i64),
    Index(i64),
    Wildcard,
    Descent,
    Union(Vec<Step>),
    Filter(Box<Filter>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Filter {
    left: Operand,
    /// `None` tests if the left side exists.
    comparison: Option<(Comparison, Operand)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operand {
    Path(Vec<Step>),
    Literal(Document),
}

impl JsonPath {
    /// Parses a path, which may be in braces.
    ///
    /// # Errors
    /// A description of the syntax error.
    pub fn parse(text: &str) -> Result<Self, String> {
        let inside = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
        Ok(Self { text: text.to_owned(), steps: parse::steps(inside.strip_prefix('$').unwrap_or(inside), 0)? })
    }

    /// The names of the fields, if the path consists only of fields.
    pub fn names(&self) -> Option<Vec<String>> {
        let name = |step: &Step| if let Step::Field(name) = step { Some(name.clone()) } else { None };
        self.steps.iter().map(name).collect()
    }

    /// It finds the same as another path, which may be written otherwise.
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

    /// The values at the path, in the order of the document, as far as the meter allows.
    ///
    /// ```
    /// use kindsmith::kind::{JsonPath, CellMeter};
    ///
    /// let path = JsonPath::parse(".ports[*].port")?;
    /// let object = serde_json::json!({"ports": [{"port": 80}, {"port": 443}]});
    /// let meter = CellMeter::of(1_000);
    /// assert_eq!(path.find(&object, &meter).next(), Some(&80.into()));
    /// # Ok::<_, String>(())
    /// ```
    pub fn find<'a>(&'a self, document: &'a Document, meter: &'a CellMeter) -> impl Iterator<Item = &'a Document> {
        find::Found::new(&self.steps, document, meter)
    }
}

fn count(steps: &[Step]) -> usize {
    let operand = |operand: &Operand| if let Operand::Path(steps) = operand { count(steps) } else { 0 };
    let below = |step: &Step| match step {
        Step::Union(parts) => count(parts),
        Step::Filter(filter) => {
            operand(&filter.left) + filter.comparison.as_ref().map_or(0, |(_, right)| operand(right))
        }
        _ => 0,
    };
    steps.iter().map(|step| 1 + below(step)).sum()
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
