//! Validation of metadata: names, labels, annotations, finalizers, owners, and immutable fields. Works on the
//! document's `metadata`. A member of a wrong type counts as absent, because decoding has already refused it.

mod names;
mod object;
mod owners;
mod selector;
#[cfg(test)]
mod tests;
mod update;

pub use names::{NameCheck, dns_1035_label, label, label_value, path_segment, qualified_name, subdomain};
pub use object::{MAX_FIELD_MANAGER, field_manager, is_printable};
pub use object::{changed_texts, finalizer_warnings, object_meta, standard_finalizers};
pub use selector::label_selector;
pub use update::object_meta_update;

use serde_json::Value;

/// A string member; empty if it is absent or not a string.
fn text<'m>(metadata: &'m Value, name: &str) -> &'m str {
    metadata.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The items of a list member; none if it is absent or not a list.
fn items<'m>(metadata: &'m Value, name: &str) -> &'m [Value] {
    metadata.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
