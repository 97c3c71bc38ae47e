//! What the file says: kube-apiserver's `AuthenticationConfiguration` of `apiserver.config.k8s.io`, in the versions v1 and v1beta1, which
//! have the same fields. Absent texts and lists are empty.
use serde::Deserialize;
use serde_json::Value;

use super::{super::AnonymousAccess, shape};
use crate::{
    codec::{Limits, yaml},
    meta::{FieldError, FieldErrorKind, FieldPath},
};

const KIND: &str = "AuthenticationConfiguration";
const VERSIONS: [&str; 2] = ["apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1"];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Configuration {
    pub jwt: Vec<JwtAuthenticator>,
    pub anonymous: Option<Anonymous>,
}

/// The settings for requests without credentials.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Anonymous {
    pub enabled: bool,
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Condition {
    pub path: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct JwtAuthenticator {
    pub issuer: IssuerSettings,
    pub claim_validation_rules: Vec<ClaimValidationRule>,
    pub claim_mappings: ClaimMappings,
    pub user_validation_rules: Vec<UserValidationRule>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct IssuerSettings {
    pub url: String,
    #[serde(rename = "discoveryURL")]
    pub discovery_url: String,
    pub certificate_authority: String,
    pub audiences: Vec<String>,
    pub audience_match_policy: String,
    pub egress_selector_type: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ClaimValidationRule {
    pub claim: String,
    pub required_value: String,
    pub expression: String,
    pub message: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaimMappings {
    pub username: PrefixedClaimOrExpression,
    pub groups: PrefixedClaimOrExpression,
    pub uid: ClaimOrExpression,
    pub extra: Vec<ExtraMapping>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PrefixedClaimOrExpression {
    pub claim: String,
    pub prefix: Option<String>,
    pub expression: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaimOrExpression {
    pub claim: String,
    pub expression: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ExtraMapping {
    pub key: String,
    pub value_expression: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct UserValidationRule {
    pub expression: String,
    pub message: String,
}

impl Configuration {
    /// Reads a file in YAML or JSON.
    ///
    /// # Errors
    /// All unknown and repeated fields, and values of other types.
    pub(super) fn read(text: &str) -> Result<Self, Vec<String>> {
        let decoded = yaml::decode(text.as_bytes(), &Limits::default()).map_err(|error| vec![error.to_string()])?;
        let (mut document, mut faults) = (decoded.document, decoded.faults);
        check_type(&document, &mut faults);
        shape::FILE.check(&mut document, &FieldPath::root(), &mut faults);
        if faults.is_empty() {
            serde_json::from_value(document).map_err(|error| vec![error.to_string()])
        } else {
            Err(faults)
        }
    }
}

fn check_type(document: &Value, faults: &mut Vec<String>) {
    for (field, supported) in [("apiVersion", &VERSIONS[..]), ("kind", &[KIND][..])] {
        let given = document.get(field).unwrap_or(&Value::Null);
        if given.as_str().is_some_and(|given| supported.contains(&given)) {
            continue;
        }
        let kind = match given {
            Value::String(text) if !text.is_empty() => {
                let supported = supported.iter().map(|one| format!("{one:?}")).collect();
                FieldErrorKind::NotSupported { given: given.clone(), supported }
            }
            _ => FieldErrorKind::Required,
        };
        let detail = if kind == FieldErrorKind::Required { format!("such as {}", supported[0]) } else { String::new() };
        faults.push(FieldError::new(&FieldPath::new(field), kind, detail).to_string());
    }
}

impl From<Anonymous> for AnonymousAccess {
    fn from(anonymous: Anonymous) -> Self {
        match anonymous {
            Anonymous { enabled: false, .. } => Self::Refused,
            Anonymous { conditions, .. } if conditions.is_empty() => Self::Allowed,
            Anonymous { conditions, .. } => {
                Self::Paths(conditions.into_iter().map(|condition| condition.path).collect())
            }
        }
    }
}
