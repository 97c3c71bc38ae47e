//! The check that a type of kube's `#[derive(CustomResource)]` and its schema agree.
use kindsmith_model::testing::type_agrees_with;

use crate::{crd, kind::Custom};

/// The check of [`schema_and_type_agree`](kindsmith_model::testing::schema_and_type_agree) for a type that kube's
/// `#[derive(CustomResource)]` declares, and the schema of its definition.
///
/// # Panics
/// If the check fails, or the definition cannot be served. The message shows the document.
pub fn custom_resource_agrees<T>()
where
    T: ::kube::CustomResourceExt + serde::Serialize + serde::de::DeserializeOwned,
{
    let manifest = crd::of_value(&T::crd()).unwrap_or_else(|report| panic!("{report}"));
    for defined in &manifest.definitions {
        defined.definition.kinds(&Custom).iter().for_each(type_agrees_with::<T>);
    }
}
