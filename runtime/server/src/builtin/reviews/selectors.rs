//! The selectors of a review, as authorizers get them.
use super::{FieldSelectorAttributes, LabelSelectorAttributes, ResourceAttributes};
use crate::meta::{
    LabelSelector, LabelSelectorRequirement,
    selector::{FieldTerm, Fields, Labels},
};

/// The selectors of an action, as far as they can be read, and what is said of the rest.
#[derive(Default)]
pub(super) struct Selectors {
    pub fields: Option<Fields>,
    pub labels: Option<Labels>,
    /// The message for the field `evaluationError`.
    pub error: String,
}

/// A selector, and whether a part of it was ignored.
type Partial<S> = (Option<S>, bool);

impl Selectors {
    /// Reads the selectors. A part that cannot be read is ignored: the answer is about more objects then.
    pub(super) fn of(action: &ResourceAttributes) -> Self {
        let (fields, fields_lost) = action.field_selector.as_ref().map(fields).unwrap_or_default();
        let (labels, labels_lost) = action.label_selector.as_ref().map(labels).unwrap_or_default();
        let errors = [
            fields_lost.then(|| ignored("fieldSelector", fields.is_some())),
            labels_lost.then(|| ignored("labelSelector", labels.is_some())),
        ];
        Self { error: errors.into_iter().flatten().collect::<Vec<_>>().join("; "), fields, labels }
    }
}

/// In kube-apiserver's words.
fn ignored(selector: &str, partially: bool) -> String {
    let partially = if partially { "partially " } else { "" };
    format!("spec.resourceAttributes.{selector} {partially}ignored due to parse error")
}

/// Terms compare with one value.
fn fields(given: &FieldSelectorAttributes) -> Partial<Fields> {
    if !given.raw_selector.is_empty() {
        let read = Fields::parse(&given.raw_selector).ok();
        return (read.clone().filter(|fields| !fields.is_empty()), read.is_none());
    }
    let term = |requirement: &crate::meta::FieldSelectorRequirement| {
        let equal = match requirement.operator.as_str() {
            "In" => true,
            "NotIn" => false,
            _ => return None,
        };
        let [value] = &requirement.values[..] else { return None };
        Some(FieldTerm { field: requirement.key.as_str().into(), equal, value: value.as_str().into() })
    };
    let terms: Vec<FieldTerm> = given.requirements.iter().filter_map(term).collect();
    let lost = terms.len() < given.requirements.len();
    (Some(Fields::new(terms)).filter(|fields| !fields.is_empty()), lost)
}

fn labels(given: &LabelSelectorAttributes) -> Partial<Labels> {
    if !given.raw_selector.is_empty() {
        let read = Labels::parse(&given.raw_selector).ok();
        return (read.clone().filter(|labels| !labels.is_empty()), read.is_none());
    }
    let selector = |requirements: Vec<LabelSelectorRequirement>| {
        Labels::from_field(&LabelSelector { match_expressions: requirements, ..LabelSelector::default() })
    };
    let can_be_read = |one: &&LabelSelectorRequirement| selector(vec![(*one).clone()]).is_ok();
    let read: Vec<_> = given.requirements.iter().filter(can_be_read).cloned().collect();
    let lost = read.len() < given.requirements.len();
    (selector(read).ok().filter(|labels| !labels.is_empty()), lost)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(fields: &Value, labels: &Value) -> [String; 3] {
        let action = json!({"resource": "pods", "fieldSelector": fields, "labelSelector": labels});
        let read = Selectors::of(&serde_json::from_value(action).unwrap());
        let shown = |text: Option<String>| text.unwrap_or_default();
        [shown(read.fields.map(|s| s.to_string())), shown(read.labels.map(|s| s.to_string())), read.error]
    }

    #[test]
    fn authorizers_get_both_forms() {
        let raw = read(&json!({"rawSelector": "spec.nodeName=one"}), &json!({"rawSelector": "app in (a,b)"}));
        assert_eq!(raw, ["spec.nodeName=one", "app in (a,b)", ""]);
        let one =
            |key: &str, operator: &str, values: &[&str]| json!({"key": key, "operator": operator, "values": values});
        let requirements = read(
            &json!({"requirements": [one("spec.nodeName", "In", &["one"]), one("a", "NotIn", &["b"])]}),
            &json!({"requirements": [one("app", "Exists", &[])]}),
        );
        assert_eq!(requirements, ["spec.nodeName=one,a!=b", "app", ""]);
    }

    #[test]
    fn what_cannot_be_read_is_ignored_and_reported() {
        let (unread, partly) = ("ignored due to parse error", "partially ignored due to parse error");
        let two = json!({"key": "a", "operator": "In", "values": ["b", "c"]});
        let [fields, labels, error] = read(&json!({"requirements": [two]}), &json!({"rawSelector": "//"}));
        assert_eq!((fields.as_str(), labels.as_str()), ("", ""));
        let of = |selector: &str, what: &str| format!("spec.resourceAttributes.{selector} {what}");
        assert_eq!(error, format!("{}; {}", of("fieldSelector", unread), of("labelSelector", unread)));
        let newer = json!({"key": "app", "operator": "Newer"});
        let known = json!({"key": "app", "operator": "Exists"});
        let [_, labels, error] = read(&Value::Null, &json!({"requirements": [newer, known]}));
        assert_eq!((labels.as_str(), error), ("app", of("labelSelector", partly)));
    }
}
