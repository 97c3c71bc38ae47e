//! HorizontalPodAutoscalers in v1 and v2: Kubernetes' documents do not say how the versions belong together. v1 has one target, for the
//! processor, which is one of the metrics of v2. What else v2 has, v1 keeps in annotations, with metrics in the form of v1.
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::{
    kind::{Convert, Kind},
    schema::{Document, Schema, check_types},
};

/// What the names of the annotations begin with.
const PREFIX: &str = "autoscaling.alpha.kubernetes.io/";
/// The annotations of metrics.
const METRICS: [&str; 2] = ["metrics", "current-metrics"];
/// The annotations of all else, each with the place of its value in v2.
const OTHERS: [(&str, &str, &str); 2] = [("behavior", "spec", "behavior"), ("conditions", "status", "conditions")];

/// The target that an autoscaler has, or its current state.
#[derive(Clone, Copy)]
struct Side {
    /// The member of an object that has it.
    part: &'static str,
    annotation: &'static str,
    /// The processor's value in v1.
    utilization: &'static str,
    /// The metrics in v2.
    metrics: &'static str,
    /// The values in a metric of v2. In v1, the names of the values begin so.
    values: &'static str,
}

const TARGET: Side = Side {
    part: "spec",
    annotation: METRICS[0],
    utilization: "targetCPUUtilizationPercentage",
    metrics: "metrics",
    values: "target",
};
const CURRENT: Side = Side {
    part: "status",
    annotation: METRICS[1],
    utilization: "currentCPUUtilizationPercentage",
    metrics: "currentMetrics",
    values: "current",
};

/// Gives v1 its conversion, if these are the versions of HorizontalPodAutoscaler in documents, and v2 is stored.
pub(crate) fn convert(kinds: &mut [Kind]) {
    let is = |kind: &Kind, version: &str| {
        let of = &kind.group_version;
        let is_one = of.group == "autoscaling" && kind.names().plural == "horizontalpodautoscalers";
        is_one && of.version == version && kind.policy().has_routes()
    };
    let stored = kinds.iter().find(|kind| is(kind, "v2") && kind.binding.conversion.is_none());
    let Some(stored) = stored.map(|kind| kind.version.schema.clone()) else { return };
    if let Some(kind) = kinds.iter_mut().find(|kind| is(kind, "v1")) {
        kind.binding.conversion = Some(Arc::new(V1 { stored }));
    }
}

/// Converts v1.
struct V1 {
    /// The schema of v2.
    stored: Arc<Schema>,
}

impl Convert for V1 {
    fn write(&self, mut document: Document) -> Result<Document, String> {
        for side in [TARGET, CURRENT] {
            let kept: Option<Vec<Value>> = take_annotation(&mut document, side.annotation);
            let is_kept = kept.is_some();
            let mut metrics: Vec<Value> = kept.iter().flatten().filter_map(|old| side.new_metric(old)).collect();
            let utilization = part(&mut document, side.part).and_then(|part| part.remove(side.utilization));
            // The annotation of current metrics has the processor's, too.
            if let Some(utilization) = utilization
                && (side.part == TARGET.part || !is_kept)
            {
                let old = format!("{}AverageUtilization", side.values);
                let cpu = json!({"type": "Resource", "resource": {"name": "cpu", old: utilization}});
                metrics.extend(side.new_metric(&cpu));
            }
            if !metrics.is_empty() {
                set(&mut document, side.part, side.metrics, metrics.into());
            }
        }
        for (annotation, part, member) in OTHERS {
            if let Some(value) = take_annotation(&mut document, annotation) {
                set(&mut document, part, member, value);
            }
        }
        // Annotations may say anything.
        match check_types(&self.stored, &document) {
            Some(why) => Err(format!("an annotation {PREFIX}… is not right: {why}")),
            None => Ok(document),
        }
    }

    fn read(&self, mut document: Document) -> Result<Document, String> {
        for annotation in METRICS.into_iter().chain(OTHERS.map(|(annotation, ..)| annotation)) {
            take_annotation::<Value>(&mut document, annotation);
        }
        for side in [TARGET, CURRENT] {
            let metrics = part(&mut document, side.part).and_then(|part| part.remove(side.metrics));
            let metrics = metrics.and_then(|metrics| metrics.as_array().cloned()).unwrap_or_default();
            let utilization = |metric: &Value| {
                let is_cpu = metric["type"] == "Resource" && metric["resource"]["name"] == "cpu";
                metric["resource"][side.values].get("averageUtilization").filter(|_| is_cpu).cloned()
            };
            if let Some(first) = metrics.iter().find_map(utilization) {
                set(&mut document, side.part, side.utilization, first);
            }
            let is_left = |metric: &&Value| side.part == CURRENT.part || utilization(metric).is_none();
            let left: Vec<Value> = metrics.iter().filter(is_left).filter_map(|new| side.old_metric(new)).collect();
            if !left.is_empty() {
                annotate(&mut document, side.annotation, &left.into());
            }
        }
        for (annotation, of, member) in OTHERS {
            let value = part(&mut document, of).and_then(|part| part.remove(member));
            if let Some(value) = value.filter(|value| *value != json!([])) {
                annotate(&mut document, annotation, &value);
            }
        }
        Ok(document)
    }

    fn fills(&self) -> bool {
        false
    }
}

impl Side {
    /// Where a metric of a type has its values, each in v2 and in v1.
    fn places(self, of: &str) -> Vec<(String, String)> {
        let values = self.values;
        let new = |name: &str| format!("/{values}/{name}");
        let old = |name: &str| format!("{values}{name}");
        let metric = |selector: &str| {
            [("/metric/name", "metricName"), ("/metric/selector", selector)].map(|(new, old)| (new.into(), old.into()))
        };
        let average = (new("averageValue"), old("AverageValue"));
        match of {
            "resource" | "containerResource" => {
                let utilization = (new("averageUtilization"), old("AverageUtilization"));
                let names = ["name", "container"].map(|name| (format!("/{name}"), name.into()));
                names.into_iter().chain([utilization, average]).collect()
            }
            "pods" => metric("selector").into_iter().chain([average]).collect(),
            "object" => {
                let others = [
                    ("/describedObject".into(), "target".into()),
                    (new("value"), old("Value")),
                    (new("averageValue"), "averageValue".into()),
                ];
                metric("selector").into_iter().chain(others).collect()
            }
            "external" => metric("metricSelector").into_iter().chain([(new("value"), old("Value")), average]).collect(),
            _ => Vec::new(),
        }
    }

    /// A metric of v2 in the form of v1. `None` if it has no values of its type.
    fn old_metric(self, metric: &Value) -> Option<Value> {
        let (kind, member) = type_of(metric)?;
        let new = metric.get(&member)?;
        let values = self.places(&member).into_iter();
        let values: Map<_, _> = values.filter_map(|(from, to)| Some((to, new.pointer(&from)?.clone()))).collect();
        Some(json!({"type": kind, member: values}))
    }

    /// A metric of v1 in the form of v2.
    fn new_metric(self, metric: &Value) -> Option<Value> {
        let (kind, member) = type_of(metric)?;
        let old = metric.get(&member)?;
        let mut values = json!({});
        for (to, from) in self.places(&member) {
            let Some(value) = old.get(&from) else { continue };
            let (parent, name) = to.rsplit_once('/').expect("a pointer has a slash");
            let at = if parent.is_empty() { &mut values } else { &mut values[&parent[1..]] };
            at[name] = value.clone();
        }
        if self.part == TARGET.part {
            let of = |name: &str| values[self.values].get(name).is_some();
            let kind = match (of("averageUtilization"), of("averageValue")) {
                (true, _) => "Utilization",
                (false, true) => "AverageValue",
                (false, false) => "Value",
            };
            values[self.values]["type"] = kind.into();
        }
        Some(json!({"type": kind, member: values}))
    }
}

/// The type of a metric, and the member that has its values.
fn type_of(metric: &Value) -> Option<(&str, String)> {
    let kind = metric["type"].as_str().filter(|kind| kind.is_ascii())?;
    let (first, rest) = kind.split_at_checked(1)?;
    Some((kind, first.to_ascii_lowercase() + rest))
}

fn part<'d>(document: &'d mut Document, name: &str) -> Option<&'d mut Map<String, Value>> {
    document.get_mut(name)?.as_object_mut()
}

fn set(document: &mut Document, in_part: &str, member: &str, value: Value) {
    if part(document, in_part).is_none() {
        document[in_part] = json!({});
    }
    document[in_part][member] = value;
}

/// Removes an annotation and reads it. `None`, and it stays, if it is none of ours.
fn take_annotation<T: serde::de::DeserializeOwned>(document: &mut Document, name: &str) -> Option<T> {
    let annotations = document.get_mut("metadata")?.get_mut("annotations")?.as_object_mut()?;
    let name = format!("{PREFIX}{name}");
    let value = serde_json::from_str(annotations.get(&name)?.as_str()?).ok()?;
    annotations.remove(&name);
    if annotations.is_empty() {
        part(document, "metadata")?.remove("annotations");
    }
    Some(value)
}

fn annotate(document: &mut Document, name: &str, value: &Value) {
    if document["metadata"]["annotations"].is_null() {
        document["metadata"]["annotations"] = json!({});
    }
    document["metadata"]["annotations"][format!("{PREFIX}{name}")] = value.to_string().into();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v1() -> V1 {
        V1 { stored: Arc::default() }
    }

    /// An autoscaler in v2 and in v1; annotations are written as documents here.
    fn pairs() -> Vec<(Value, Value)> {
        let (cpu, memory) = (
            json!({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}}),
            json!({"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}}),
        );
        let object = json!({"type": "Object", "object": {
            "describedObject": {"kind": "Ingress", "name": "a"},
            "metric": {"name": "hits", "selector": {"matchLabels": {"a": "b"}}},
            "target": {"type": "Value", "value": "10"},
        }});
        let pods = json!({"type": "Pods", "pods": {"metric": {"name": "p"}, "target": {"type": "AverageValue", "averageValue": "1"}}});
        let external = json!({"type": "External", "external": {
            "metric": {"name": "queue", "selector": {}}, "target": {"type": "AverageValue", "averageValue": "30"},
        }});
        let container = json!({"type": "ContainerResource", "containerResource": {
            "name": "cpu", "container": "c", "target": {"type": "Utilization", "averageUtilization": 5},
        }});
        let now = json!({"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 9, "averageValue": "1m"}}});
        vec![
            (
                json!({"metadata": {}, "spec": {"metrics": [cpu]}}),
                json!({"metadata": {}, "spec": {"targetCPUUtilizationPercentage": 70}}),
            ),
            (
                json!({"metadata": {"annotations": {"a": "b"}}, "spec": {"metrics": [memory, object, pods, external, container, cpu]}}),
                json!({
                    "metadata": {"annotations": {"a": "b", "metrics": [
                        {"type": "Resource", "resource": {"name": "memory", "targetAverageValue": "1Gi"}},
                        {"type": "Object", "object": {
                            "target": {"kind": "Ingress", "name": "a"}, "metricName": "hits",
                            "selector": {"matchLabels": {"a": "b"}}, "targetValue": "10",
                        }},
                        {"type": "Pods", "pods": {"metricName": "p", "targetAverageValue": "1"}},
                        {"type": "External", "external": {"metricName": "queue", "metricSelector": {}, "targetAverageValue": "30"}},
                        {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c", "targetAverageUtilization": 5}},
                    ]}},
                    "spec": {"targetCPUUtilizationPercentage": 70},
                }),
            ),
            (
                json!({
                    "metadata": {},
                    "spec": {"behavior": {"scaleUp": {"selectPolicy": "Max"}}},
                    "status": {"currentMetrics": [now], "conditions": [{"type": "AbleToScale", "status": "True"}]},
                }),
                json!({
                    "metadata": {"annotations": {
                        "current-metrics": [{"type": "Resource", "resource": {
                            "name": "cpu", "currentAverageUtilization": 9, "currentAverageValue": "1m",
                        }}],
                        "behavior": {"scaleUp": {"selectPolicy": "Max"}},
                        "conditions": [{"type": "AbleToScale", "status": "True"}],
                    }},
                    "spec": {},
                    "status": {"currentCPUUtilizationPercentage": 9},
                }),
            ),
        ]
    }

    /// The same with the annotations as text.
    fn as_text(mut document: Value) -> Value {
        if let Some(annotations) = part(&mut document, "metadata").and_then(|metadata| metadata.get_mut("annotations"))
        {
            let texts = annotations.as_object().unwrap().iter().map(|(name, value)| match value {
                Value::String(_) => (name.clone(), value.clone()),
                _ => (format!("{PREFIX}{name}"), value.to_string().into()),
            });
            *annotations = Value::Object(texts.collect());
        }
        document
    }

    #[test]
    fn nothing_is_lost_between_v1_and_v2() {
        for (new, old) in pairs() {
            let old = as_text(old);
            assert_eq!(v1().read(new.clone()).unwrap(), old);
            assert_eq!(v1().write(old).unwrap(), new);
        }
    }

    #[test]
    fn what_is_no_metric_is_left_out_and_other_annotations_stay() {
        let odd = json!({"metadata": {"annotations": {"autoscaling.alpha.kubernetes.io/metrics": "{"}}, "spec": {}});
        assert_eq!(v1().write(odd.clone()).unwrap(), odd);
        for metric in [json!(null), json!({}), json!({"type": ""}), json!({"type": "é"}), json!({"type": "Pods"})] {
            let document = json!({"metadata": {}, "spec": {"metrics": [metric]}});
            assert_eq!(v1().read(document).unwrap(), json!({"metadata": {}, "spec": {}}));
        }
    }
}
