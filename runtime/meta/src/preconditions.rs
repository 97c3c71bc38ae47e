//! Preconditions: the object, and the state of it, to which a request applies. This module checks them. The wording of
//! a refusal differs between verbs, as in kube-apiserver.
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Conditions that an object must meet for a request to be carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Preconditions {
    /// The expected uid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// The expected resourceVersion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
}

/// The field that a precondition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The uid.
    Uid,
    /// The resourceVersion.
    ResourceVersion,
}

/// A precondition that is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The field.
    pub of: Identity,
    /// The expected value.
    pub expected: String,
    /// The object's value; empty if there is no object.
    pub found: String,
}

impl Preconditions {
    /// The preconditions in a document's metadata. Empty values, and version zero, are no preconditions.
    pub fn of(metadata: &Value) -> Self {
        let named = |member: &str| metadata.get(member)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        Self { uid: named("uid"), resource_version: named("resourceVersion").filter(|version| version != "0") }
    }

    /// Checks the preconditions against an object's metadata, if there is an object. The uid is checked first.
    ///
    /// # Errors
    /// `Mismatch`.
    pub fn check(&self, metadata: Option<&Value>) -> Result<(), Mismatch> {
        let asked =
            [(Identity::Uid, "uid", &self.uid), (Identity::ResourceVersion, "resourceVersion", &self.resource_version)];
        for (of, member, expected) in asked {
            let Some(expected) = expected else { continue };
            let found = metadata.and_then(|metadata| metadata.get(member)?.as_str()).unwrap_or_default();
            if found != expected {
                return Err(Mismatch { of, expected: expected.clone(), found: found.to_owned() });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_metadata_of_a_document_gives_its_preconditions() {
        let of = |metadata: Value| Preconditions::of(&metadata);
        for nothing in [json!(null), json!({}), json!({"uid": "", "resourceVersion": "0"}), json!({"uid": 7})] {
            assert_eq!(of(nothing.clone()), Preconditions::default(), "{nothing}");
        }
        let both = of(json!({"uid": "u", "resourceVersion": "5", "name": "n"}));
        assert_eq!(both, Preconditions { uid: Some("u".into()), resource_version: Some("5".into()) });
    }

    #[test]
    fn the_uid_is_checked_before_the_version() {
        let asked = Preconditions { uid: Some("u".into()), resource_version: Some("5".into()) };
        let mismatch =
            |of, expected: &str, found: &str| Mismatch { of, expected: expected.into(), found: found.into() };
        assert_eq!(asked.check(Some(&json!({"uid": "u", "resourceVersion": "5"}))), Ok(()));
        for (metadata, expected) in [
            (json!({"uid": "v", "resourceVersion": "6"}), mismatch(Identity::Uid, "u", "v")),
            (json!({"uid": "u", "resourceVersion": "6"}), mismatch(Identity::ResourceVersion, "5", "6")),
            (json!({"uid": "u"}), mismatch(Identity::ResourceVersion, "5", "")),
        ] {
            assert_eq!(asked.check(Some(&metadata)), Err(expected), "{metadata}");
        }
        assert_eq!(asked.check(None), Err(mismatch(Identity::Uid, "u", "")), "a missing object has no uid");
        assert_eq!(Preconditions::default().check(None), Ok(()));
    }
}
