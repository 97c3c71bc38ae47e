//! The field `status` of a kind, and its type.

use super::{
    field::{Field, Struct},
    names,
    structure::structure,
};

/// The type of a status.
pub(super) fn declaration(kind: &str, fields: &[Field]) -> String {
    let about = format!("The observed state of {}.", names::one(kind));
    let declared = structure(&Struct { name: format!("{kind}Status"), about, fields: fields.to_vec() });
    let conditions = "    /// The latest observations.\n    #[api(list = map(key = kind), merge)]\n    #[serde(default)]\n    \
                      pub conditions: Vec<Condition>,\n}\n";
    let declared = declared.trim_start().trim_end().trim_end_matches('}').to_owned();
    declared.replacen("Clone, Debug, Serialize", "Clone, Debug, Default, Serialize", 1) + conditions
}

/// The lines of the field `status`.
pub(super) fn field(kind: &str) -> String {
    let one = names::phrase(kind);
    format!("    /// The observed state of the {one}.\n    pub status: Option<{kind}Status>,\n")
}
