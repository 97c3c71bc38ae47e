//! Match conditions of authorization webhooks: expressions in CEL about the spec of a SubjectAccessReview, in the variable `request`.
use std::sync::{Arc, LazyLock};

use kindsmith_cel::{
    Env, Program, Type, TypeProvider, Unmetered, Value,
    value::{Dynamic, Shape},
};
use serde_json::{Value as Json, json};

/// The maximum cost of an expression, as in kube-apiserver.
const MOST_COST: u64 = 1_000_000;
/// The maximum number of conditions.
pub(crate) const MOST_CONDITIONS: usize = 64;

/// The name of the type of `request`.
const SPEC: &str = "kubernetes.SubjectAccessReviewSpec";

/// Compiled conditions, all of which must hold. None hold for every request.
#[derive(Debug, Default)]
pub(crate) struct Conditions(Vec<(String, Program)>);

/// The types of the variable.
#[derive(Debug)]
struct Types;

impl TypeProvider for Types {
    fn has(&self, structure: &str) -> bool {
        matches!(
            structure.strip_prefix("kubernetes."),
            Some(
                "SubjectAccessReviewSpec"
                    | "ResourceAttributes"
                    | "NonResourceAttributes"
                    | "FieldSelectorAttributes"
                    | "LabelSelectorAttributes"
                    | "SelectorRequirement"
            )
        )
    }

    fn field(&self, structure: &str, field: &str) -> Option<Type> {
        let of = |name: &str| Type::Struct(format!("kubernetes.{name}").into());
        let texts = || Type::list(Type::String);
        Some(match (structure.strip_prefix("kubernetes.")?, field) {
            ("SubjectAccessReviewSpec", "resourceAttributes") => of("ResourceAttributes"),
            ("SubjectAccessReviewSpec", "nonResourceAttributes") => of("NonResourceAttributes"),
            ("SubjectAccessReviewSpec", "groups") | ("SelectorRequirement", "values") => texts(),
            ("SubjectAccessReviewSpec", "extra") => Type::map(Type::String, texts()),
            ("ResourceAttributes", "fieldSelector") => of("FieldSelectorAttributes"),
            ("ResourceAttributes", "labelSelector") => of("LabelSelectorAttributes"),
            ("FieldSelectorAttributes" | "LabelSelectorAttributes", "requirements") => {
                Type::list(of("SelectorRequirement"))
            }
            ("SubjectAccessReviewSpec", "user" | "uid")
            | (
                "ResourceAttributes",
                "namespace" | "verb" | "group" | "version" | "resource" | "subresource" | "name",
            )
            | ("NonResourceAttributes", "path" | "verb")
            | ("FieldSelectorAttributes" | "LabelSelectorAttributes", "rawSelector")
            | ("SelectorRequirement", "key" | "operator") => Type::String,
            _ => return None,
        })
    }
}

static ENVIRONMENT: LazyLock<Env> =
    LazyLock::new(|| Env::kubernetes_latest().types(Arc::new(Types)).variable("request", Type::Struct(SPEC.into())));

impl Conditions {
    /// Compiles an expression, and adds it.
    ///
    /// # Errors
    /// Why the expression is invalid, in kube-apiserver's words.
    pub(crate) fn add(&mut self, expression: &str) -> Result<(), String> {
        let checked = ENVIRONMENT.compile(expression).map_err(|issues| format!("compilation failed: {issues}"))?;
        if *checked.result_type() != Type::Bool {
            return Err(format!("must evaluate to bool but got {}", checked.result_type()));
        }
        let program = Program::new(&checked).map_err(|error| format!("program instantiation failed: {error}"))?;
        self.0.push((expression.to_owned(), program));
        Ok(())
    }

    /// True if all conditions hold for the spec of a review of version 1. A condition that does not hold counts more than one that
    /// fails, as in kube-apiserver.
    ///
    /// # Errors
    /// The conditions that fail, if all others hold.
    pub(crate) fn hold(&self, spec: &Json) -> Result<bool, String> {
        if self.0.is_empty() {
            return Ok(true);
        }
        let request = complete(spec);
        let mut errors = Vec::new();
        for (expression, program) in &self.0 {
            let why = match Dynamic.read(&request) {
                Ok(request) => match program.evaluate(&[("request", request)], Some(MOST_COST), &Unmetered).value {
                    Ok(Value::Bool(true)) => continue,
                    Ok(Value::Bool(false)) => return Ok(false),
                    Ok(_) => "the result is no bool".to_owned(),
                    Err(error) => error.to_string(),
                },
                Err(error) => error.to_string(),
            };
            errors.push(format!("cel evaluation error: expression '{expression}' resulted in error: {why}"));
        }
        if errors.is_empty() { Ok(true) } else { Err(errors.join(", ")) }
    }
}

/// The spec as expressions see it: with all members that are texts, as in kube-apiserver.
fn complete(spec: &Json) -> Json {
    let text = |of: &Json, member: &str| of.get(member).cloned().unwrap_or_else(|| json!(""));
    let mut request = json!({
        "user": text(spec, "user"),
        "uid": text(spec, "uid"),
        "groups": spec.get("groups").cloned().unwrap_or_else(|| json!([])),
        "extra": spec.get("extra").cloned().unwrap_or_else(|| json!({})),
    });
    if let Some(given) = spec.get("resourceAttributes") {
        let mut action = given.clone();
        for member in ["namespace", "verb", "group", "version", "resource", "subresource", "name"] {
            action[member] = text(given, member);
        }
        for selector in ["fieldSelector", "labelSelector"] {
            let requirements = action.get_mut(selector).and_then(|selector| selector["requirements"].as_array_mut());
            for requirement in requirements.into_iter().flatten() {
                if requirement.get("values").is_none() {
                    requirement["values"] = json!([]);
                }
            }
        }
        request["resourceAttributes"] = action;
    }
    if let Some(given) = spec.get("nonResourceAttributes") {
        request["nonResourceAttributes"] = json!({"path": text(given, "path"), "verb": text(given, "verb")});
    }
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(expressions: &[&str]) -> Conditions {
        let mut conditions = Conditions::default();
        for expression in expressions {
            conditions.add(expression).unwrap();
        }
        conditions
    }

    #[test]
    fn conditions_see_the_spec_with_all_its_texts() {
        let spec = json!({
            "user": "ada",
            "groups": ["a", "b"],
            "extra": {"scope": ["x"]},
            "resourceAttributes": {
                "verb": "list",
                "resource": "pods",
                "labelSelector": {"requirements": [{"key": "app", "operator": "Exists"}]},
            },
        });
        for expression in [
            "has(request.resourceAttributes) && !has(request.nonResourceAttributes)",
            "request.user == 'ada' && request.uid == '' && 'b' in request.groups",
            "request.resourceAttributes.namespace == '' && request.resourceAttributes.verb == 'list'",
            "request.extra['scope'] == ['x']",
            "request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'app' && r.values == [])",
            "!has(request.resourceAttributes.fieldSelector)",
            "request.?resourceAttributes.namespace.orValue('') != 'kube-system'",
        ] {
            assert_eq!(conditions(&[expression]).hold(&spec), Ok(true), "{expression}");
        }
        let path = json!({"user": "ada", "nonResourceAttributes": {"path": "/metrics", "verb": "get"}});
        assert_eq!(conditions(&["request.nonResourceAttributes.path == '/metrics'"]).hold(&path), Ok(true));
        assert_eq!(conditions(&["has(request.resourceAttributes)"]).hold(&path), Ok(false));
    }

    #[test]
    fn a_condition_that_does_not_hold_counts_more_than_one_that_fails() {
        let spec = json!({"user": "ada"});
        let (fails, refuses) = ("request.resourceAttributes.verb == 'get'", "request.user == 'eve'");
        let why = conditions(&[fails]).hold(&spec).unwrap_err();
        assert!(why.starts_with(&format!("cel evaluation error: expression '{fails}' resulted in error: ")), "{why}");
        assert_eq!(conditions(&[fails, refuses]).hold(&spec), Ok(false));
        assert_eq!(Conditions::default().hold(&spec), Ok(true));
    }

    #[test]
    fn expressions_are_checked() {
        for (expression, why) in [
            ("request.user", "must evaluate to bool but got string"),
            ("request.name == ''", "compilation failed: ERROR: <input>:1:8: undefined field 'name'"),
            ("object.x", "compilation failed: ERROR: <input>:1:1: undeclared reference to 'object'"),
            ("", "compilation failed: "),
        ] {
            let error = Conditions::default().add(expression).unwrap_err();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
