//! Types of fields: what a name in a file refers to, and which types are the same on the wire.
use crate::model::{Field, File, Label};

/// The scalar types.
const SCALARS: [&str; 15] = [
    "bool", "bytes", "double", "fixed32", "fixed64", "float", "int32", "int64", "sfixed32", "sfixed64", "sint32",
    "sint64", "string", "uint32", "uint64",
];

/// True for a scalar type.
pub fn is_scalar(kind: &str) -> bool {
    SCALARS.contains(&kind)
}

/// The resolved type of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolvedType {
    /// A scalar type.
    Scalar,
    /// A message of the file, with its name in the package.
    Message(String),
    /// An enum of the file.
    Enum,
    /// A type of another file, without the dot before it.
    Elsewhere(String),
}

impl File {
    /// Resolves a type that is written inside of a message, from the innermost name outwards.
    pub fn resolve(&self, kind: &str, around: &str) -> ResolvedType {
        if is_scalar(kind) {
            return ResolvedType::Scalar;
        }
        if let Some(full) = kind.strip_prefix('.') {
            let inner = full.strip_prefix(&self.package).and_then(|rest| rest.strip_prefix('.'));
            let inner = if self.package.is_empty() { Some(full) } else { inner };
            return inner
                .and_then(|name| self.defined(name))
                .unwrap_or_else(|| ResolvedType::Elsewhere(full.to_owned()));
        }
        let mut around = around;
        loop {
            let name = if around.is_empty() { kind.to_owned() } else { format!("{around}.{kind}") };
            if let Some(found) = self.defined(&name) {
                return found;
            }
            if around.is_empty() {
                break;
            }
            around = around.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
        // With a part of the package before it.
        let absolute = self.all().into_iter().map(|(name, _)| name);
        let full = |name: &String| format!("{}.{name}", self.package);
        let suffix = format!(".{kind}");
        let is_partial = |name: &String| kind.contains('.') && (full(name) == kind || full(name).ends_with(&suffix));
        absolute
            .into_iter()
            .find(is_partial)
            .map_or_else(|| ResolvedType::Elsewhere(kind.to_owned()), ResolvedType::Message)
    }

    /// The message or enum of a name in the package.
    fn defined(&self, name: &str) -> Option<ResolvedType> {
        if self.message(name).is_some() {
            return Some(ResolvedType::Message(name.to_owned()));
        }
        let (others, last) = match name.rsplit_once('.') {
            Some((around, last)) => (&self.message(around)?.others, last),
            None => (&self.others, name),
        };
        others.iter().any(|other| other.defines.as_deref() == Some(last)).then_some(ResolvedType::Enum)
    }
}

/// True if a file may refer to a full name so: with all of it, or its end.
pub fn names_same(full: &str, written: &str) -> bool {
    let (full, written) = (full.trim_start_matches('.'), written.trim_start_matches('.'));
    full == written || full.strip_suffix(written).is_some_and(|rest| rest.ends_with('.'))
}

/// The messages of any JSON, whose first field has its text.
const RAW: [&str; 3] = ["RawExtension", "JSON", "FieldsV1"];

/// Seconds and nanoseconds, as the messages of times have them.
const TIMESTAMP: &str = "google.protobuf.Timestamp";

/// True if a field as it is published and one as it is declared now have the same type on the wire. Of two messages of their
/// files this does not compare the fields.
pub fn same_wire((published, at): (&Field, &ResolvedType), (declared, to): (&Field, &ResolvedType)) -> bool {
    let is_same_label = match (&published.label, &declared.label) {
        (Label::Map(one), Label::Map(other)) => one == other,
        (Label::Repeated, Label::Repeated) => true,
        (Label::Map(_) | Label::Repeated, _) | (_, Label::Map(_) | Label::Repeated) => false,
        _ => true,
    };
    let last = |kind: &str| kind.rsplit('.').next().unwrap_or_default().to_owned();
    let is_raw = |kind: &str| RAW.contains(&last(kind).as_str());
    is_same_label
        && match (at, to) {
            // The server writes no negative numbers where the schema forbids them, which is all that tells these apart.
            (ResolvedType::Scalar, ResolvedType::Scalar) => {
                published.kind == declared.kind
                    || matches!(
                        (&*published.kind, &*declared.kind),
                        ("uint32", "int32" | "int64") | ("uint64", "int64")
                    )
            }
            (ResolvedType::Enum, ResolvedType::Scalar) => declared.kind == "int32",
            (_, ResolvedType::Elsewhere(full)) if is_raw(full) => is_raw(&published.kind),
            (ResolvedType::Elsewhere(written), ResolvedType::Elsewhere(full)) => {
                let is_time = ["Time", "MicroTime"].contains(&&*last(full));
                names_same(full, written) || is_time && (written == TIMESTAMP || last(written) == "MicroTime")
            }
            (ResolvedType::Message(_) | ResolvedType::Elsewhere(_), ResolvedType::Message(_)) => true,
            _ => false,
        }
}
