//! A kind from a sample object in YAML or JSON, whose types are inferred.

use std::collections::{BTreeMap, BTreeSet};

use kindsmith::Quantity;
use kindsmith_model::codec::{Limits, yaml};
use serde_json::{Value, json};

use super::{
    field::{Field, Struct},
    names,
};

/// What a sample says.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// The group, if it says one.
    pub group: Option<String>,
    /// The version, if it says one.
    pub version: Option<String>,
    /// It has a status.
    pub has_status: bool,
    /// The types of its `spec`, first that of the `spec` itself.
    pub types: Vec<Struct>,
    /// What was decided where the sample leaves a choice.
    pub remarks: Vec<String>,
}

/// Infers the types of a kind from the text of a sample. `source` is its name, for messages.
///
/// # Errors
/// What is wrong, with file and line.
pub(crate) fn read(source: &str, text: &str, kind: &str) -> Result<Sample, String> {
    let at = |line: usize, error: &str| format!("{source}:{line}: {error}");
    let documents = yaml::documents(text);
    let [(first, body)] = documents[..] else {
        return Err(at(1, &format!("a sample is one object, and the file has {} documents", documents.len())));
    };
    let decoded = yaml::decode(body.as_bytes(), &Limits::default());
    let decoded = decoded.map_err(|error| at(first - 1 + error.line, &error.reason))?;
    if let Some(fault) = decoded.faults.first() {
        return Err(at(first, fault));
    }
    let lines = yaml::Lines::new(body);
    let line = |pointer: &str| first - 1 + lines.of(pointer);
    let object = &decoded.document;
    let said = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    if let Some(other) = said("kind").filter(|other| other != kind) {
        return Err(at(
            line("/kind"),
            &format!("the sample is of the kind {other}, not {kind}; name the kind {other}"),
        ));
    }
    let Some(spec) = object.get("spec").filter(|spec| spec.is_object()) else {
        return Err(at(line("/spec"), "a sample has a `spec`, an object with the fields of the desired state"));
    };
    let (group, version) = match said("apiVersion") {
        None => (None, None),
        Some(both) => match both.split_once('/') {
            Some((group, version)) => (Some(group.to_owned()), Some(version.to_owned())),
            None => (None, Some(both)),
        },
    };
    let about = format!("The desired state of {}.", names::one(kind));
    let mut inferrer = Inferrer { kind, line: &line, types: Vec::new(), taken: BTreeSet::new(), remarks: Vec::new() };
    let spec = [("/spec".to_owned(), spec)];
    inferrer.structure(format!("{kind}Spec"), about, &spec).map_err(|(line, error)| at(line, &error))?;
    let Inferrer { types, mut remarks, .. } = inferrer;
    let observed = object.get("status").and_then(Value::as_object).into_iter().flatten();
    let observed: Vec<&str> = observed.map(|(name, _)| &**name).filter(|name| *name != "conditions").collect();
    if !observed.is_empty() {
        let names = observed.join(", ");
        remarks.push(format!(
            "status: {names}: controllers write it, so that it is not in the sample; declare the fields in {kind}Status"
        ));
    }
    Ok(Sample { group, version, has_status: object.get("status").is_some(), types, remarks })
}

/// The text of a sample as it can be sent: with this `apiVersion`, and without a status, which the server would drop. `None` if it
/// is not written in lines that can be changed.
pub(crate) fn adapted(text: &str, api_version: &str) -> Option<String> {
    let decode = |text: &str| yaml::decode(text.as_bytes(), &Limits::default()).ok().map(|decoded| decoded.document);
    let mut expected = decode(text)?;
    let fields = expected.as_object_mut()?;
    fields.remove("status");
    fields.insert("apiVersion".to_owned(), api_version.into());
    let (mut out, mut is_status) = (String::new(), false);
    for line in text.lines() {
        let begins = !line.starts_with([' ', '\t', '#', '-', '}', ']']) && !line.is_empty();
        is_status = if begins { line.starts_with("status:") } else { is_status };
        if begins && line.starts_with("apiVersion:") {
            out.extend(["apiVersion: ", api_version]);
        } else if is_status {
            continue;
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    decode(&out).filter(|found| *found == expected).map(|_| out)
}

struct Inferrer<'s> {
    kind: &'s str,
    /// The line of the value at a pointer.
    line: &'s dyn Fn(&str) -> usize,
    types: Vec<Struct>,
    taken: BTreeSet<String>,
    remarks: Vec<String>,
}

/// A value, and the JSON pointer to it.
type SampleValue<'v> = (String, &'v Value);

/// An error at a line.
type Fault = (usize, String);

impl Inferrer<'_> {
    /// Declares a struct with the fields of these objects; what not all have is optional.
    fn structure(&mut self, name: String, about: String, objects: &[SampleValue<'_>]) -> Result<String, Fault> {
        let mut free = name;
        while !self.taken.insert(free.clone()) {
            free.push_str("Item");
        }
        let position = self.types.len();
        self.types.push(Struct { name: free.clone(), about, fields: Vec::new() });
        let mut values: BTreeMap<&String, Vec<SampleValue<'_>>> = BTreeMap::new();
        for (pointer, object) in objects {
            for (key, value) in object.as_object().into_iter().flatten() {
                let pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                values.entry(key).or_default().push((pointer, value));
            }
        }
        // In the order of the file, as a person wrote them.
        let mut values: Vec<_> = values.into_iter().collect();
        values.sort_by_key(|(_, samples)| (self.line)(&samples[0].0));
        let mut fields = Vec::new();
        for (key, samples) in values {
            let mut field = self.field(key, &samples)?;
            if samples.len() < objects.len() && !field.is_list_or_map() {
                field.ty = format!("Option<{}>", field.ty);
                field.is_required = false;
            }
            fields.push(field);
        }
        self.types[position].fields = fields;
        Ok(free)
    }

    fn wrong<T>(&self, values: &[SampleValue<'_>], error: String) -> Result<T, Fault> {
        Err(((self.line)(&values[0].0), error))
    }

    fn field(&mut self, key: &str, values: &[SampleValue<'_>]) -> Result<Field, Fault> {
        if !is_field(key) {
            let near = names::camel(key);
            return self.wrong(values, format!("the name of a field is camelCase, not {key:?}; did you mean {near}?"));
        }
        let mut api = Vec::new();
        let ty = self.ty(key, values, &mut api)?;
        let (wire, example) = (key.to_owned(), values[0].1.clone());
        let mut field = Field { name: names::snake(key), wire, ty, api, is_required: false, example };
        field.is_required = !field.is_list_or_map();
        Ok(field)
    }

    /// The type of values, of which there is one at least; `api` gets arguments of `#[api(…)]`.
    fn ty(&mut self, key: &str, values: &[SampleValue<'_>], api: &mut Vec<String>) -> Result<String, Fault> {
        let all = |fits: fn(&Value) -> bool| values.iter().all(|(_, value)| fits(value));
        Ok(match () {
            () if all(Value::is_boolean) => "bool".to_owned(),
            () if all(|value| value.as_i64().is_some_and(|number| i32::try_from(number).is_ok())) => "i32".to_owned(),
            () if all(Value::is_i64) => "i64".to_owned(),
            () if all(Value::is_number) => {
                let why =
                    "the API conventions have no floating-point numbers, which change when they are written and read";
                return self.wrong(values, format!("{key}: {why}; write it as a quantity, such as 500m for a half"));
            }
            () if all(|value| value.as_str().is_some_and(is_time)) => "Time".to_owned(),
            () if all(|value| value.as_str().is_some_and(is_quantity)) => "Quantity".to_owned(),
            () if all(Value::is_string) => "String".to_owned(),
            () if all(|value| value.is_string() || value.is_i64()) => "IntOrString".to_owned(),
            () if all(Value::is_object) => self.object(key, values)?,
            () if all(Value::is_array) => {
                if is_keyed_by_name(values) {
                    api.push("list = map(key = name)".to_owned());
                    self.remarks.push(format!("{key}: its items are identified by their names"));
                }
                format!("Vec<{}>", self.item(key, values)?)
            }
            () if all(Value::is_null) => {
                return self.wrong(values, format!("{key}: the type of null is unknown; give it a value"));
            }
            () => {
                self.remarks.push(format!("{key}: its values are of different types, and became RawJson"));
                "RawJson".to_owned()
            }
        })
    }

    /// The type of the items of lists.
    fn item(&mut self, key: &str, lists: &[SampleValue<'_>]) -> Result<String, Fault> {
        let items = lists.iter().flat_map(|(pointer, list)| {
            let items = list.as_array().into_iter().flatten().enumerate();
            items.map(move |(index, item)| (format!("{pointer}/{index}"), item))
        });
        let items: Vec<SampleValue<'_>> = items.collect();
        if items.is_empty() {
            return self.wrong(lists, format!("{key}: the type of an empty list is unknown; give it an item"));
        }
        self.ty(&singular(key), &items, &mut Vec::new())
    }

    /// A map if its keys are no names of fields, or else a struct.
    fn object(&mut self, key: &str, objects: &[SampleValue<'_>]) -> Result<String, Fault> {
        let entries = objects.iter().flat_map(|(pointer, object)| {
            let entries = object.as_object().into_iter().flatten();
            entries.map(move |(key, value)| (key, (pointer.clone(), value)))
        });
        let (keys, values): (Vec<&String>, Vec<SampleValue<'_>>) = entries.unzip();
        let is_map = ["labels", "annotations"].contains(&key) || !keys.iter().all(|key| is_field(key));
        if values.is_empty() {
            self.remarks.push(format!("{key}: it is empty, and became a map of text"));
            return Ok("BTreeMap<String, String>".to_owned());
        }
        if is_map {
            return Ok(format!("BTreeMap<String, {}>", self.ty(&singular(key), &values, &mut Vec::new())?));
        }
        let name = format!("{}{}", self.kind, names::capital(key));
        let about = format!("The {} of {}.", names::phrase(key), names::one(self.kind));
        self.structure(name, about, objects)
    }
}

/// True for names that fields have.
fn is_field(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_lowercase()) && key.chars().all(|c| c.is_ascii_alphanumeric())
}

/// True for lists of objects that have names, which differ in each list.
fn is_keyed_by_name(lists: &[SampleValue<'_>]) -> bool {
    lists.iter().all(|(_, list)| {
        let items = list.as_array().map_or(&[][..], Vec::as_slice);
        let mut seen = BTreeSet::new();
        items.iter().all(|item| item.get("name").and_then(Value::as_str).is_some_and(|name| seen.insert(name)))
    })
}

fn is_time(text: &str) -> bool {
    text.contains('T') && serde_json::from_value::<kindsmith::Time>(json!(text)).is_ok()
}

/// A number with a unit. Numbers alone are text: they may be names.
fn is_quantity(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_alphabetic())
        && text.parse::<Quantity>().is_ok()
}

fn singular(name: &str) -> String {
    match name.strip_suffix("ies") {
        Some(stem) if stem.len() > 1 => format!("{stem}y"),
        _ if ["ss", "us", "is"].iter().any(|end| name.ends_with(end)) => format!("{name}Item"),
        _ => name.strip_suffix('s').map_or_else(|| format!("{name}Item"), str::to_owned),
    }
}

#[cfg(test)]
mod tests;
