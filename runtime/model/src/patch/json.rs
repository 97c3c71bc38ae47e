//! JSON Patch (RFC 6902), with messages close to kube-apiserver's.
//!
//! Like kube-apiserver it differs from the RFC in one point: a `test` for `null` succeeds if the field is absent.
use super::{
    PatchError,
    pointer::{Pointer, index},
    wrong_type,
};
use crate::{
    codec::{self, Limits},
    schema::{Document, Meter, memory},
};

/// kube-apiserver's limit for operations.
const MAX_OPERATIONS: usize = 10_000;
/// kube-apiserver's limit for the total size of copied values, in bytes of JSON.
const MAX_COPIED: usize = 3 << 20;
/// The values that one step of a meter examines or shifts.
const VALUES_OF_STEP: usize = 4;

/// A parsed JSON Patch.
#[derive(Clone, Debug)]
pub struct Patch {
    /// An invalid operation fails only when it is executed, as in kube-apiserver.
    operations: Vec<Result<Operation, String>>,
    /// True if it copies or moves values of the document, which its sender may not be allowed to read.
    pub copies: bool,
    /// Faults for strict validation: repeated members, and unknown members of operations.
    pub faults: Vec<String>,
}

/// Pointers are parsed when they are used: many long ones would take many times the memory of their texts.
#[derive(Clone, Debug)]
enum Operation {
    Add(String, Document),
    Remove(String),
    Replace(String, Document),
    Move { from: String, to: String },
    Copy { from: String, to: String },
    Test(String, Document),
}

impl Patch {
    /// Parses a patch.
    ///
    /// # Errors
    /// [`PatchError::Malformed`] if it is not a JSON list of objects, [`PatchError::TooLarge`].
    pub fn parse(bytes: &[u8]) -> Result<Self, PatchError> {
        let decoded = codec::decode(bytes, &Limits::PATCH);
        let wrong = |given: &Document, wanted: &str| Err(PatchError::Malformed(wrong_type(given, wanted)));
        let decoded = decoded.map_err(|error| PatchError::Malformed(error.to_string()))?;
        let mut faults: Vec<String> = decoded.faults.iter().map(|fault| format!("json patch {fault}")).collect();
        let list = match decoded.document {
            Document::Array(list) => list,
            other => return wrong(&other, "[]handlers.jsonPatchOp"),
        };
        if list.len() > MAX_OPERATIONS {
            let given = list.len();
            return Err(PatchError::TooLarge(format!(
                "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {given}"
            )));
        }
        if let Some(stranger) = list.iter().find(|operation| !operation.is_object()) {
            return wrong(stranger, "handlers.jsonPatchOp");
        }
        for (at, operation) in list.iter().enumerate() {
            let names = operation.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
            let strange = names.filter(|name| !["op", "path", "from", "value"].contains(name));
            faults.extend(strange.map(|name| format!("json patch unknown field \"[{at}].{name}\"")));
        }
        let operations: Vec<_> = list.into_iter().map(operation).collect();
        let copies = |operation: &Result<Operation, String>| {
            matches!(operation, Ok(Operation::Copy { .. } | Operation::Move { .. }))
        };
        Ok(Self { copies: operations.iter().any(copies), operations, faults })
    }

    /// Applies all operations, or none.
    ///
    /// # Errors
    /// [`PatchError::Inapplicable`], also if the meter is exceeded: a patch may insert at the beginning of a long list
    /// thousands of times.
    pub fn apply(&self, document: &Document, meter: &Meter) -> Result<Document, PatchError> {
        let mut run = Run { document: document.clone(), copied: 0, copied_memory: 0, meter };
        for operation in &self.operations {
            let done = operation.as_ref().map_err(Clone::clone).and_then(|operation| run.step(operation));
            done.map_err(PatchError::Inapplicable)?;
        }
        Ok(run.document)
    }
}

fn operation(mut from: Document) -> Result<Operation, String> {
    let kind = from["op"].as_str().unwrap_or("unknown").to_owned();
    let pointer = |name: &str| match &from[name] {
        Document::String(text) => Ok(text.clone()),
        _ => Err(format!("{kind} operation, missing {name} field: missing value")),
    };
    Ok(match kind.as_str() {
        "add" | "replace" | "test" => {
            let path = pointer("path")?;
            let value = from.as_object_mut().and_then(|fields| fields.remove("value"));
            match (kind.as_str(), value) {
                ("test", value) => Operation::Test(path, value.unwrap_or_default()),
                ("add", Some(value)) => Operation::Add(path, value),
                (_, Some(value)) => Operation::Replace(path, value),
                (_, None) => return Err(format!("{kind} operation, missing value field: missing value")),
            }
        }
        "remove" => Operation::Remove(pointer("path")?),
        "move" => Operation::Move { from: pointer("from")?, to: pointer("path")? },
        "copy" => Operation::Copy { from: pointer("from")?, to: pointer("path")? },
        other => return Err(format!("Unexpected kind: {other}")),
    })
}

/// The execution of a patch.
struct Run<'m> {
    document: Document,
    copied: usize,
    copied_memory: usize,
    meter: &'m Meter,
}

impl Run<'_> {
    fn step(&mut self, operation: &Operation) -> Result<(), String> {
        match operation {
            Operation::Add(path, value) => self.add("add", &Pointer::parse(path)?, value.clone()),
            Operation::Remove(path) => self.remove("remove", &Pointer::parse(path)?).map(drop),
            Operation::Replace(path, value) => self.replace(&Pointer::parse(path)?, value),
            Operation::Move { from, to } => {
                let (from, to) = (&Pointer::parse(from)?, &Pointer::parse(to)?);
                if to.is_inside(from) {
                    let (from, to) = (from.text(), to.text());
                    return Err(format!("move operation does not apply: '{to}' is inside of '{from}'"));
                }
                if from == to {
                    return from.find(&self.document).map(drop).ok_or_else(|| missing("move", "from path", from));
                }
                let value = self.remove("move", from)?;
                self.add("move", to, value)
            }
            Operation::Copy { from, to } => {
                let (from, to) = (&Pointer::parse(from)?, &Pointer::parse(to)?);
                let value = from.find(&self.document).ok_or_else(|| missing("copy", "from path", from))?;
                self.copied += codec::size(value);
                if self.copied > MAX_COPIED {
                    return Err(format!(
                        "Unable to complete the copy, the accumulated size increase of copy is {}, exceeding the limit {MAX_COPIED}",
                        self.copied
                    ));
                }
                self.copied_memory += memory::taken(value);
                if self.copied_memory > Limits::PATCH.memory {
                    return Err(format!(
                        "Unable to complete the copy, what is copied takes {} bytes of memory, exceeding the limit {}",
                        self.copied_memory,
                        Limits::PATCH.memory
                    ));
                }
                let value = value.clone();
                self.add("copy", to, value)
            }
            Operation::Test(path, value) => {
                let path = &Pointer::parse(path)?;
                let found = path.find(&self.document);
                if found.map_or(value.is_null(), |found| found == value) {
                    return Ok(());
                }
                Err(format!("testing value {} failed: test failed", path.text()))
            }
        }
    }

    fn add(&mut self, name: &str, path: &Pointer, value: Document) -> Result<(), String> {
        let depth = path.depth() + self.depth_of(&value)?;
        let limit = Limits::default().depth;
        if depth > limit {
            return Err(format!("error in {name} for path: '{}': exceeded max depth of {limit}", path.text()));
        }
        match path.holder(&mut self.document) {
            None => self.document = value,
            Some((Some(Document::Object(fields)), key)) => {
                fields.insert(key.to_owned(), value);
            }
            Some((Some(Document::Array(items)), key)) => {
                let at = if key == "-" { Some(items.len()) } else { index(key) };
                match at.filter(|&at| at <= items.len()) {
                    Some(at) => {
                        let shifted = items.len() - at;
                        items.insert(at, value);
                        return self.spend(shifted);
                    }
                    None => return Err(invalid_index(name, path, key)),
                }
            }
            Some(_) => return Err(missing(name, "path", path)),
        }
        Ok(())
    }

    fn remove(&mut self, name: &str, path: &Pointer) -> Result<Document, String> {
        match path.holder(&mut self.document) {
            None => Err(format!("{name} operation does not apply: the document itself cannot be removed")),
            Some((Some(Document::Object(fields)), key)) => fields.remove(key).ok_or_else(|| {
                let path = path.text();
                format!("error in {name} for path: '{path}': Unable to remove nonexistent key: {key}: missing value")
            }),
            Some((Some(Document::Array(items)), key)) => {
                let at = index(key).filter(|&at| at < items.len()).ok_or_else(|| invalid_index(name, path, key))?;
                let shifted = items.len() - at;
                let removed = items.remove(at);
                self.spend(shifted)?;
                Ok(removed)
            }
            Some(_) => Err(missing(name, "path", path)),
        }
    }

    fn replace(&mut self, path: &Pointer, value: &Document) -> Result<(), String> {
        let depth = path.depth() + self.depth_of(value)?;
        if depth > Limits::default().depth {
            return Err(format!("error in replace for path: '{}': exceeded max depth", path.text()));
        }
        let place = match path.holder(&mut self.document) {
            None => Some(&mut self.document),
            Some((Some(Document::Object(fields)), key)) => fields.get_mut(key),
            Some((Some(Document::Array(items)), key)) => index(key).and_then(|at| items.get_mut(at)),
            Some(_) => return Err(missing("replace", "path", path)),
        };
        place.ok_or_else(|| missing("replace", "key", path))?.clone_from(value);
        Ok(())
    }

    /// The nesting depth of a value; zero for scalars.
    fn depth_of(&mut self, value: &Document) -> Result<usize, String> {
        fn walk(value: &Document, seen: &mut usize) -> usize {
            *seen += 1;
            match value {
                Document::Array(items) => 1 + items.iter().map(|item| walk(item, seen)).max().unwrap_or(0),
                Document::Object(fields) => 1 + fields.values().map(|field| walk(field, seen)).max().unwrap_or(0),
                _ => 0,
            }
        }
        let mut seen = 0;
        let depth = walk(value, &mut seen);
        self.spend(seen)?;
        Ok(depth)
    }

    fn spend(&mut self, values: usize) -> Result<(), String> {
        self.meter.step(values / VALUES_OF_STEP);
        self.meter.check().map_err(|exceeded| exceeded.to_string())
    }
}

fn missing(name: &str, what: &str, path: &Pointer) -> String {
    format!("{name} operation does not apply: doc is missing {what}: {}: missing value", path.text())
}

fn invalid_index(name: &str, path: &Pointer, key: &str) -> String {
    let path = path.text();
    format!("error in {name} for path: '{path}': Unable to access invalid index: {key}: invalid index referenced")
}
