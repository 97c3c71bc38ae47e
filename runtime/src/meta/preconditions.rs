//! Preconditions: of which object, and of which state of it, a request speaks. Whether they hold is decided here; how a
//! refusal is worded differs from verb to verb, as in kube-apiserver.
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What must hold of an object for a request to be carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Preconditions {
    /// Its uid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// Its resourceVersion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
}

/// A precondition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The uid.
    Uid,
    /// The resourceVersion.
    ResourceVersion,
}

/// A precondition that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Which.
    pub of: Identity,
    /// What was asked for.
    pub expected: String,
    /// What the object has; empty where there is none.
    pub found: String,
}

impl Preconditions {
    /// Those that a document names in its metadata. Empty text asks for nothing, as does version zero.
    pub fn of(metadata: &Value) -> Self {
        let named = |member: &str| metadata.get(member)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        Self { uid: named("uid"), resource_version: named("resourceVersion").filter(|version| version != "0") }
    }

    /// Holds them against the metadata of an object, or of none: the uid first.
    ///
    /// # Errors
    /// [`Mismatch`].
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
    fn what_a_document_names_is_expected_and_nothing_else() {
        let of = |metadata: Value| Preconditions::of(&metadata);
        for nothing in [json!(null), json!({}), json!({"uid": "", "resourceVersion": "0"}), json!({"uid": 7})] {
            assert_eq!(of(nothing.clone()), Preconditions::default(), "{nothing}");
        }
        let both = of(json!({"uid": "u", "resourceVersion": "5", "name": "n"}));
        assert_eq!(both, Preconditions { uid: Some("u".into()), resource_version: Some("5".into()) });
    }

    #[test]
    fn the_uid_is_held_against_the_object_before_the_version() {
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
        assert_eq!(asked.check(None), Err(mismatch(Identity::Uid, "u", "")), "of nothing every uid is another");
        assert_eq!(Preconditions::default().check(None), Ok(()));
    }
}
