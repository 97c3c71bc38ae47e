//! Cells of columns that are more than the value at a path: calls of a few named functions, as in
//! `ratio(count(.status.ready[*]), .spec.replicas)`. The functions are listed where overlays are described.
use std::{borrow::Cow, fmt, iter};

use self::template::Template;
use super::jsonpath::{CellMeter, JsonPath, split};
use crate::{meta::Time, schema::Document};

mod metrics;
mod template;

/// The text that kubectl shows for a missing value.
const NONE: &str = "<none>";
/// How deep calls nest.
const MOST_NESTED: usize = 8;

/// A call of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    text: String,
    function: Function,
    arguments: Vec<Argument>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Argument {
    Path(JsonPath),
    Text(String),
    /// The second argument of `join`.
    Template(Template),
    Call(Call),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Age,
    Between,
    Case,
    Count,
    First,
    If,
    Join,
    Keys,
    Labels,
    List,
    Metrics,
    Ratio,
    Sum,
}

/// The functions by name, with the least and the largest number of their arguments.
const FUNCTIONS: [(&str, Function, usize, usize); 13] = [
    ("age", Function::Age, 1, 1),
    ("between", Function::Between, 2, 2),
    ("case", Function::Case, 3, 8),
    ("count", Function::Count, 1, 1),
    ("first", Function::First, 1, 8),
    ("if", Function::If, 2, 3),
    ("join", Function::Join, 1, 2),
    ("keys", Function::Keys, 2, 2),
    ("labels", Function::Labels, 1, 1),
    ("list", Function::List, 1, 8),
    ("metrics", Function::Metrics, 2, 2),
    ("ratio", Function::Ratio, 2, 2),
    ("sum", Function::Sum, 1, 8),
];

impl Call {
    /// Reads a call.
    ///
    /// # Errors
    /// The mistake in the text, with the supported forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::nested(text.trim(), 0)
    }

    fn nested(text: &str, depth: usize) -> Result<Self, String> {
        if depth > MOST_NESTED {
            return Err("calls nest too deeply".to_owned());
        }
        let wrong = || format!("found {text:?}; supported: a JSONPath, or function(argument, …)");
        let (name, rest) = text.split_once('(').ok_or_else(wrong)?;
        let inside = rest.strip_suffix(')').ok_or_else(wrong)?;
        let known = FUNCTIONS.iter().find(|(known, ..)| *known == name);
        let Some((_, function, least, most)) = known else {
            let names: Vec<_> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
            return Err(format!("found the function {name:?}; supported: {}", names.join(", ")));
        };
        let given = if inside.trim().is_empty() { Vec::new() } else { split(inside) };
        let arguments = given.into_iter().map(|argument| Argument::parse(argument, depth));
        let mut arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        if arguments.len() < *least || arguments.len() > *most {
            return Err(format!("found {} arguments of {name}; supported: {least} to {most}", arguments.len()));
        }
        if *function == Function::Join
            && let Some(argument @ Argument::Text(_)) = arguments.get_mut(1)
        {
            *argument = Argument::Template(Template::parse(argument.text().unwrap_or_default())?);
        }
        Ok(Self { text: text.to_owned(), function: *function, arguments })
    }

    /// The cell of an object; null if it takes more than the meter allows.
    pub fn of(&self, object: &Document, meter: &CellMeter) -> Document {
        let cell = self.evaluate(object, meter);
        if meter.is_exhausted() { Document::Null } else { cell }
    }

    fn evaluate(&self, object: &Document, meter: &CellMeter) -> Document {
        let values = |index: usize| self.arguments.get(index).into_iter().flat_map(|of| of.values(object, meter));
        let first = |index: usize| self.arguments.get(index).and_then(|of| of.first(object, meter));
        let time = |index: usize| first(index).and_then(|value| value.as_str()?.parse::<Time>().ok());
        match self.function {
            Function::Age => time(0).map_or_else(|| "<unknown>".into(), |time| time.age(Time::now()).into()),
            Function::Between => match time(0) {
                Some(from) => from.age(time(1).unwrap_or_else(Time::now)).into(),
                None => "".into(),
            },
            Function::Case => {
                let given = first(0).map(|value| text_of(&value)).unwrap_or_default();
                let rest = &self.arguments[1..];
                let chosen = rest.chunks_exact(2).find(|pair| pair[0].text() == Some(&given)).map(|pair| &pair[1]);
                let otherwise = rest.chunks_exact(2).remainder().first();
                chosen.or(otherwise).and_then(|of| of.first(object, meter)).map_or_else(|| "".into(), Cow::into_owned)
            }
            Function::If => {
                let is_so = values(0).any(|value| !is_empty(&value));
                first(if is_so { 1 } else { 2 }).map_or_else(|| "".into(), Cow::into_owned)
            }
            Function::List => joined((0..self.arguments.len()).filter_map(first).map(|value| text_of(&value)), meter),
            Function::Count => match &self.arguments[0] {
                // A path of fields leads to one value, whose items or entries count; others find the values themselves.
                Argument::Path(path) if path.names().is_none() => values(0).count().into(),
                _ => values(0).map(|value| size(&value)).sum::<usize>().into(),
            },
            Function::First => {
                let shown = (0..self.arguments.len()).filter_map(first).map(|value| text_of(&value));
                { shown }.find(|text| !text.is_empty()).unwrap_or_else(|| NONE.to_owned()).into()
            }
            Function::Join => {
                let shown = |value: Cow<'_, Document>| match self.arguments.get(1) {
                    Some(Argument::Template(template)) => template.fill(&value, meter),
                    _ => text_of(&value),
                };
                joined(values(0).map(shown), meter)
            }
            Function::Keys => {
                let prefix = self.arguments.get(1).and_then(Argument::text).unwrap_or_default();
                let found = first(0);
                let keys = found.iter().filter_map(|found| found.as_object()).flat_map(|object| object.keys());
                joined(keys.filter_map(|key| key.strip_prefix(prefix)).map(str::to_owned), meter)
            }
            Function::Labels => match first(0).map(|selector| labels(&selector)) {
                Some(text) if !text.is_empty() => text.into(),
                _ => NONE.into(),
            },
            Function::Metrics => {
                let [specs, statuses] = [0, 1].map(|index| first(index).unwrap_or(Cow::Owned(Document::Null)));
                metrics::of(&specs, &statuses).into()
            }
            Function::Ratio => {
                let part = |index: usize| first(index).map_or_else(|| "0".to_owned(), |value| text_of(&value));
                format!("{}/{}", part(0), part(1)).into()
            }
            Function::Sum => {
                let all = (0..self.arguments.len()).flat_map(values);
                all.filter_map(|value| value.as_i64()).fold(0, i64::saturating_add).into()
            }
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Argument {
    fn parse(text: &str, depth: usize) -> Result<Self, String> {
        let text = text.trim();
        if let Some(inside) = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
            return Ok(Self::Text(inside.to_owned()));
        }
        if text.starts_with(['.', '{', '$']) {
            return JsonPath::parse_in_call(text).map(Self::Path);
        }
        Call::nested(text, depth + 1).map(Self::Call)
    }

    fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    fn first<'a>(&'a self, object: &'a Document, meter: &'a CellMeter) -> Option<Cow<'a, Document>> {
        self.values(object, meter).find(|value| !value.is_null())
    }

    fn values<'a>(
        &'a self,
        object: &'a Document,
        meter: &'a CellMeter,
    ) -> Box<dyn Iterator<Item = Cow<'a, Document>> + 'a> {
        let one = |value: Document| Box::new(iter::once(Cow::Owned(value)));
        match self {
            Self::Path(path) => Box::new(path.find(object, meter).map(Cow::Borrowed)),
            Self::Text(text) => one(text.as_str().into()),
            Self::Template(template) => one(template.fill(object, meter).into()),
            Self::Call(call) => one(call.of(object, meter)),
        }
    }
}

/// A value as text.
fn text_of(value: &Document) -> String {
    match value {
        Document::String(text) => text.clone(),
        Document::Null => String::new(),
        Document::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Texts in a list, as far as the meter allows.
fn joined(texts: impl Iterator<Item = String>, meter: &CellMeter) -> Document {
    let texts: Vec<_> = texts.filter(|text| !text.is_empty()).take_while(|text| meter.text(text.len() + 1)).collect();
    if texts.is_empty() { NONE.into() } else { texts.join(",").into() }
}

/// True if there is nothing in a value, or it is zero.
fn is_empty(value: &Document) -> bool {
    match value {
        Document::Bool(value) => !value,
        Document::Number(number) => number.as_f64() == Some(0.0),
        Document::String(text) => text.is_empty(),
        other => size(other) == 0,
    }
}

fn size(value: &Document) -> usize {
    match value {
        Document::Null => 0,
        Document::Array(items) => items.len(),
        Document::Object(fields) => fields.len(),
        _ => 1,
    }
}

/// A label selector as text, as `kubectl get --selector` takes it; a map of labels is one that requires each of them.
pub fn labels(selector: &Document) -> String {
    let Some(fields) = selector.as_object() else { return text_of(selector) };
    let is_selector = fields.keys().all(|key| ["matchLabels", "matchExpressions"].contains(&key.as_str()));
    let labels = if is_selector { selector.get("matchLabels").and_then(Document::as_object) } else { Some(fields) };
    let equal = labels.into_iter().flatten().map(|(key, value)| format!("{key}={}", text_of(value)));
    let expressions = is_selector.then(|| selector.get("matchExpressions")).flatten().and_then(Document::as_array);
    let expressions = expressions.into_iter().flatten().map(|expression| {
        let part = |name: &str| expression.get(name).map(text_of).unwrap_or_default();
        let (key, values) = (part("key"), part("values"));
        match part("operator").as_str() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key,
        }
    });
    equal.chain(expressions).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cell(call: &str) -> Document {
        let object = json!({
            "metadata": {"labels": {"role/a": "", "role/b": "", "x": "y"}},
            "spec": {"replicas": 3, "ports": [{"port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "UDP", "nodePort": 30053}],
                "selector": {"matchLabels": {"app": "a"}, "matchExpressions": [
                    {"key": "tier", "operator": "In", "values": ["x", "y"]}, {"key": "old", "operator": "DoesNotExist"}]}},
            "status": {"ready": [{"ok": true, "n": 2}, {"ok": false, "n": 5}],
                "from": "2026-01-01T00:00:00Z", "to": "2026-01-01T00:01:30Z", "empty": ""},
        });
        Call::parse(call).unwrap_or_else(|error| panic!("{error}")).of(&object, &CellMeter::of(0))
    }

    #[test]
    fn each_function_shows_what_kubectl_does() {
        for (call, shown) in [
            ("ratio(count(.status.ready[?(@.ok==true)]), .spec.replicas)", json!("1/3")),
            ("ratio(.status.missing, .spec.replicas)", json!("0/3")),
            ("count(.spec.ports)", json!(2)),
            ("count(.status.missing)", json!(0)),
            ("sum(.status.ready[*].n)", json!(7)),
            ("sum(count(.spec.ports), .spec.replicas)", json!(5)),
            ("first(.status.missing, .status.empty, .spec.replicas)", json!("3")),
            ("first(.status.missing)", json!("<none>")),
            ("join(.spec.ports[*].port)", json!("80,53")),
            ("join(.spec.ports[*], '{.port}/{.protocol}')", json!("80/TCP,53/UDP")),
            ("join(.spec.ports[*], '{.port}[:{.nodePort}]/{.protocol}')", json!("80/TCP,53:30053/UDP")),
            ("join(.status.missing[*])", json!("<none>")),
            ("list(.status.empty, .spec.replicas, if(.status.to, 'done'))", json!("3,done")),
            ("list(.status.missing, .status.empty)", json!("<none>")),
            ("if(.status.ready, 'some', 'none')", json!("some")),
            ("if(count(.status.missing), 'some', .spec.replicas)", json!(3)),
            ("if(.status.missing, 'some')", json!("")),
            ("case(.spec.ports[0].protocol, 'UDP', 'u', 'TCP', 't', 'other')", json!("t")),
            ("case(.spec.replicas, '3', .status.to)", json!("2026-01-01T00:01:30Z")),
            ("case(.status.missing, 'UDP', 'u', 'other')", json!("other")),
            ("keys(.metadata.labels, 'role/')", json!("a,b")),
            ("labels(.spec.selector)", json!("app=a,tier in (x,y),!old")),
            ("labels(.metadata.labels)", json!("role/a=,role/b=,x=y")),
            ("labels(.status.missing)", json!("<none>")),
            ("between(.status.from, .status.to)", json!("90s")),
            ("between(.status.missing, .status.to)", json!("")),
            ("age(.status.missing)", json!("<unknown>")),
        ] {
            assert_eq!(cell(call), shown, "{call}");
        }
    }

    #[test]
    fn a_call_that_takes_more_than_the_meter_allows_is_empty() {
        let object = json!({"items": vec![json!("x".repeat(1_000)); 100], "deep": [[[[[[1, 2, 3, 4, 5, 6, 7]]]]]]});
        let all = "[*,*,*,*,*]".repeat(6);
        for call in [
            "join(.items[*,*,*])".to_owned(),
            "join(.items[*,*,*], '{.}{.}')".to_owned(),
            format!("count(.deep{all})"),
            format!("sum(.deep{all})"),
            format!("if(.deep{all}.missing, 'some', 'none')"),
        ] {
            let meter = CellMeter::of(0);
            assert_eq!(Call::parse(&call).unwrap().of(&object, &meter), Document::Null, "{call}");
            assert!(meter.is_exhausted());
        }
    }

    #[test]
    fn what_is_no_call_is_refused_with_what_is_supported() {
        for (call, error) in [
            ("ready", "found \"ready\"; supported: a JSONPath, or function(argument, …)"),
            (
                "largest(.a)",
                "found the function \"largest\"; supported: age, between, case, count, first, if, join, keys, labels, list, metrics, ratio, sum",
            ),
            ("ratio(.a)", "found 1 arguments of ratio; supported: 2 to 2"),
            ("count(.a[)", "unterminated array"),
            ("join(.a, '{.b[}')", "unterminated array"),
        ] {
            assert_eq!(Call::parse(call), Err(error.to_owned()), "{call}");
        }
        let nested = "count(".repeat(20) + ".a" + &")".repeat(20);
        assert_eq!(Call::parse(&nested), Err("calls nest too deeply".to_owned()));
    }
}
