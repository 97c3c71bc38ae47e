//! Reads an AuthorizationConfiguration (`apiserver.config.k8s.io/v1`) strictly, with the rules and most of the words of kube-apiserver.
//! All errors are reported together, each with the path of its field.

use std::{fs, path::Path, time::Duration};

use serde_json::{Map, Value};

use super::{super::AuthorizationWebhook, Authorizer};
use crate::{
    codec::{self, yaml},
    meta::{duration, go, validate},
    upstream::{
        access_review::{OnFailure, Version},
        conditions::{Conditions, MOST_CONDITIONS},
    },
};

/// The types of authorizers. kube-apiserver has `ABAC` and `Node` in addition.
const TYPES: [&str; 4] = ["AlwaysAllow", "AlwaysDeny", "RBAC", "Webhook"];

/// The authorizers of a file.
///
/// # Errors
/// What is wrong, an error a field.
pub(super) fn authorizers(text: &str) -> Result<Vec<Authorizer>, Vec<String>> {
    let decoded = yaml::decode(text.as_bytes(), &codec::Limits::OPTIONS).map_err(|error| vec![error.to_string()])?;
    let mut errors = decoded.faults;
    let Value::Object(document) = &decoded.document else {
        return Err(vec!["expected an object of the kind AuthorizationConfiguration".to_owned()]);
    };
    let mut root = Fields { object: document, path: String::new(), errors: &mut errors };
    root.known(&["apiVersion", "kind", "authorizers"]);
    for (field, expected) in [("apiVersion", "apiserver.config.k8s.io/v1"), ("kind", "AuthorizationConfiguration")] {
        let given = root.text(field);
        if given != expected {
            root.error(
                field,
                &format!("Unsupported value: {}: supported values: {}", go::quoted(given), go::quoted(expected)),
            );
        }
    }
    let configured = root.list("authorizers");
    if configured.is_empty() {
        root.error("authorizers", "Required value: at least one authorization mode must be defined");
    }
    let (mut authorizers, mut types, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for (index, one) in configured.iter().enumerate() {
        let path = format!("authorizers[{index}]");
        let Value::Object(object) = one else {
            errors.push(format!("{path}: expected an object"));
            continue;
        };
        let mut fields = Fields { object, path, errors: &mut errors };
        authorizers.extend(authorizer(&mut fields, &mut types, &mut names));
    }
    if errors.is_empty() { Ok(authorizers) } else { Err(errors) }
}

/// The fields of an object, and the errors of all objects.
struct Fields<'d, 'e> {
    object: &'d Map<String, Value>,
    path: String,
    errors: &'e mut Vec<String>,
}

impl<'d> Fields<'d, '_> {
    fn path_of(&self, field: &str) -> String {
        if self.path.is_empty() { field.to_owned() } else { format!("{}.{field}", self.path) }
    }

    fn error(&mut self, field: &str, why: &str) {
        let path = self.path_of(field);
        self.errors.push(format!("{path}: {why}"));
    }

    fn required(&mut self, field: &str) {
        self.error(field, "Required value");
    }

    fn unsupported(&mut self, field: &str, given: &str, supported: &[&str]) {
        let supported: Vec<String> = supported.iter().map(|value| go::quoted(value)).collect();
        let why = format!("Unsupported value: {}: supported values: {}", go::quoted(given), supported.join(", "));
        self.error(field, &why);
    }

    /// Reports fields that are not known.
    fn known(&mut self, known: &[&str]) {
        let unknown: Vec<_> = self.object.keys().filter(|field| !known.contains(&field.as_str())).cloned().collect();
        for field in unknown {
            let path = self.path_of(&field);
            self.errors.push(format!("unknown field {}", go::quoted(&path)));
        }
    }

    fn get(&self, field: &str) -> Option<&'d Value> {
        self.object.get(field).filter(|value| !value.is_null())
    }

    /// A text; empty if it is absent.
    fn text(&mut self, field: &str) -> &'d str {
        match self.get(field) {
            None => "",
            Some(Value::String(text)) => text,
            Some(_) => {
                self.error(field, "expected a string");
                ""
            }
        }
    }

    /// A truth value; true if it is absent.
    fn truth(&mut self, field: &str) -> bool {
        match self.get(field) {
            None => true,
            Some(Value::Bool(value)) => *value,
            Some(_) => {
                self.error(field, "expected true or false");
                true
            }
        }
    }

    /// A list; empty if it is absent.
    fn list(&mut self, field: &str) -> &'d [Value] {
        match self.get(field) {
            None => &[],
            Some(Value::Array(items)) => items,
            Some(_) => {
                self.error(field, "expected a list");
                &[]
            }
        }
    }

    fn inner(&mut self, field: &str) -> Option<Fields<'d, '_>> {
        if let Value::Object(object) = self.get(field)? {
            Some(Fields { object, path: self.path_of(field), errors: self.errors })
        } else {
            self.error(field, "expected an object");
            None
        }
    }

    /// A duration in nanoseconds; zero if it is absent or invalid.
    fn nanoseconds(&mut self, field: &str) -> i64 {
        let text = self.text(field);
        if text.is_empty() {
            return 0;
        }
        duration::nanoseconds(text).unwrap_or_else(|why| {
            self.error(field, &why);
            0
        })
    }
}

fn authorizer<'d>(
    fields: &mut Fields<'d, '_>,
    types: &mut Vec<&'d str>,
    names: &mut Vec<&'d str>,
) -> Option<Authorizer> {
    fields.known(&["type", "name", "webhook"]);
    let kind = fields.text("type");
    if kind.is_empty() {
        fields.required("type");
        return None;
    }
    if !TYPES.contains(&kind) {
        fields.unsupported("type", kind, &TYPES);
        return None;
    }
    if kind != "Webhook" && types.contains(&kind) {
        fields.error("type", &format!("Duplicate value: {}", go::quoted(kind)));
        return None;
    }
    types.push(kind);
    let name = fields.text("name");
    if name.is_empty() {
        fields.required("name");
    } else if names.contains(&name) {
        fields.error("name", &format!("Duplicate value: {}", go::quoted(name)));
    } else if let wrong = validate::subdomain(name, false)
        && !wrong.is_empty()
    {
        let why = format!("authorizer name is invalid: {}", wrong.join(", "));
        fields.error("name", &format!("Invalid value: {}: {why}", go::quoted(name)));
    }
    names.push(name);
    if kind != "Webhook" && fields.get("webhook").is_some() {
        fields.error("webhook", "Invalid value: \"non-null\": may only be specified when type=Webhook");
    }
    match kind {
        "RBAC" => Some(Authorizer::Rbac),
        "AlwaysAllow" => Some(Authorizer::AlwaysAllow),
        "AlwaysDeny" => Some(Authorizer::AlwaysDeny),
        _ => {
            if fields.get("webhook").is_none() {
                fields.error("webhook", "Required value: required when type=Webhook");
            }
            fields.inner("webhook").map(|mut webhook| Authorizer::Webhook(Box::new(self::webhook(&mut webhook, name))))
        }
    }
}

/// The settings of a webhook. Those with errors are never used.
fn webhook(fields: &mut Fields<'_, '_>, name: &str) -> AuthorizationWebhook {
    fields.known(&[
        "authorizedTTL",
        "cacheAuthorizedRequests",
        "unauthorizedTTL",
        "cacheUnauthorizedRequests",
        "timeout",
        "subjectAccessReviewVersion",
        "matchConditionSubjectAccessReviewVersion",
        "failurePolicy",
        "connectionInfo",
        "matchConditions",
    ]);
    let mut webhook = AuthorizationWebhook::named(name, None);
    let settings = &mut webhook.settings;
    match fields.nanoseconds("timeout") {
        0 => fields.required("timeout"),
        given => match u64::try_from(given).map(Duration::from_nanos) {
            Ok(time) if time <= Duration::from_secs(30) => settings.deadlines.attempt = time,
            _ => fields.error("timeout", "Invalid value: must be > 0s and <= 30s"),
        },
    }
    settings.allowed_for = kept(fields, "authorizedTTL", "cacheAuthorizedRequests", settings.allowed_for);
    settings.refused_for = kept(fields, "unauthorizedTTL", "cacheUnauthorizedRequests", settings.refused_for);
    match fields.text("subjectAccessReviewVersion") {
        "v1" => settings.version = Version::V1,
        "v1beta1" => settings.version = Version::V1Beta1,
        "" => fields.required("subjectAccessReviewVersion"),
        other => fields.unsupported("subjectAccessReviewVersion", other, &["v1", "v1beta1"]),
    }
    match fields.text("failurePolicy") {
        "NoOpinion" => settings.on_failure = OnFailure::NoOpinion,
        "Deny" => settings.on_failure = OnFailure::Deny,
        "" => fields.required("failurePolicy"),
        other => fields.unsupported("failurePolicy", other, &["NoOpinion", "Deny"]),
    }
    connection(fields, &mut webhook);
    conditions(fields, &mut webhook);
    webhook
}

/// How long answers are kept.
fn kept(fields: &mut Fields<'_, '_>, field: &str, switch: &str, default: Duration) -> Duration {
    let time = match fields.nanoseconds(field) {
        0 => default,
        given => u64::try_from(given).map_or_else(
            |_| {
                fields.error(field, "Invalid value: must be > 0s");
                default
            },
            Duration::from_nanos,
        ),
    };
    if fields.truth(switch) { time } else { Duration::ZERO }
}

fn connection(fields: &mut Fields<'_, '_>, webhook: &mut AuthorizationWebhook) {
    let Some(mut info) = fields.inner("connectionInfo") else { return fields.required("connectionInfo.type") };
    info.known(&["type", "kubeConfigFile"]);
    let file = info.text("kubeConfigFile");
    match info.text("type") {
        "" => info.required("type"),
        "InClusterConfig" if file.is_empty() => {}
        "InClusterConfig" => {
            let why = format!("Invalid value: {}: can only be set when type=KubeConfigFile", go::quoted(file));
            info.error("kubeConfigFile", &why);
        }
        "KubeConfigFile" => {
            let invalid = match (file, Path::new(file).is_absolute(), fs::metadata(file)) {
                ("", ..) => return info.required("kubeConfigFile"),
                (_, false, _) => "must be an absolute path".to_owned(),
                (_, _, Err(error)) => format!("error loading file: {error}"),
                (_, _, Ok(metadata)) if !metadata.is_file() => "must be a regular file".to_owned(),
                _ => {
                    webhook.kubeconfig = Some(file.into());
                    return;
                }
            };
            info.error("kubeConfigFile", &format!("Invalid value: {}: {invalid}", go::quoted(file)));
        }
        other => info.unsupported("type", other, &["InClusterConfig", "KubeConfigFile"]),
    }
}

fn conditions(fields: &mut Fields<'_, '_>, webhook: &mut AuthorizationWebhook) {
    let given = fields.list("matchConditions");
    match fields.text("matchConditionSubjectAccessReviewVersion") {
        "v1" => {}
        "" if given.is_empty() => {}
        "" => fields.error(
            "matchConditionSubjectAccessReviewVersion",
            "Required value: required if match conditions are specified",
        ),
        other => fields.unsupported("matchConditionSubjectAccessReviewVersion", other, &["v1"]),
    }
    if given.len() > MOST_CONDITIONS {
        let why = format!("Too many: {}: must have at most {MOST_CONDITIONS} items", given.len());
        return fields.error("matchConditions", &why);
    }
    for (index, condition) in given.iter().enumerate() {
        let path = fields.path_of(&format!("matchConditions[{index}]"));
        let Value::Object(object) = condition else {
            fields.errors.push(format!("{path}: expected an object"));
            continue;
        };
        let mut condition = Fields { object, path, errors: fields.errors };
        condition.known(&["expression"]);
        let expression = condition.text("expression");
        if expression.trim().is_empty() {
            condition.required("expression");
        } else if webhook.conditions.iter().any(|earlier| earlier == expression) {
            condition.error("expression", &format!("Duplicate value: {}", go::quoted(expression)));
        } else if let Err(why) = Conditions::default().add(expression) {
            condition.error("expression", &format!("Invalid value: {}: {why}", go::quoted(expression)));
        } else {
            webhook.conditions.push(expression.to_owned());
        }
    }
}

#[cfg(test)]
mod tests;
