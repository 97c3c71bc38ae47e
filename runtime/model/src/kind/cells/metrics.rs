//! The metrics of a HorizontalPodAutoscaler, as kubectl's printer shows them (`formatHPAMetrics`).
use super::{NONE, text_of};
use crate::schema::Document;

/// The number of metrics that are shown.
const MOST: usize = 2;

/// The metrics of a spec with the statuses at the same positions.
pub(super) fn of(specs: &Document, statuses: &Document) -> String {
    let specs = specs.as_array().map(Vec::as_slice).unwrap_or_default();
    if specs.is_empty() {
        return NONE.to_owned();
    }
    let shown = specs.iter().enumerate().take(MOST).map(|(index, spec)| metric(spec, &statuses[index]));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match specs.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} + {more} more..."),
    }
}

fn metric(spec: &Document, status: &Document) -> String {
    let (source, named) = match text_of(&spec["type"]).as_str() {
        "External" => ("external", false),
        "Pods" => ("pods", false),
        "Object" => ("object", false),
        "Resource" => ("resource", true),
        "ContainerResource" => ("containerResource", true),
        _ => return "<unknown type>".to_owned(),
    };
    let (spec, target, current) = (&spec[source], &spec[source]["target"], &status[source]["current"]);
    let value = |of: &Document, name: &str| Some(text_of(&of[name])).filter(|text| !text.is_empty());
    let has_average = value(target, "averageValue").is_some() || source == "pods";
    let (member, unit) = match (has_average, named) {
        (true, _) => ("averageValue", ""),
        (false, true) => ("averageUtilization", "%"),
        (false, false) => ("value", ""),
    };
    let shown = |of: &Document, missing: &str| value(of, member).map_or(missing.to_owned(), |value| value + unit);
    let name = if named { format!("{}: ", text_of(&spec["name"])) } else { String::new() };
    let average = if has_average && !named && source != "pods" { " (avg)" } else { "" };
    format!("{name}{}/{}{average}", shown(current, "<unknown>"), shown(target, "<auto>"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn metrics_are_shown_as_kubectl_shows_them() {
        let of_cpu = |kind: &str, source: &str, target: Document, current: Document| {
            (
                json!({"type": kind, source: {"name": "cpu", "target": target}}),
                json!({"type": kind, source: {"name": "cpu", "current": current}}),
            )
        };
        for ((spec, status), shown) in [
            (
                of_cpu(
                    "Resource",
                    "resource",
                    json!({"averageUtilization": 80}),
                    json!({"averageUtilization": 5, "averageValue": "1m"}),
                ),
                "cpu: 5%/80%",
            ),
            (of_cpu("Resource", "resource", json!({"averageUtilization": 80}), json!({})), "cpu: <unknown>/80%"),
            (of_cpu("Resource", "resource", json!({}), json!({})), "cpu: <unknown>/<auto>"),
            (
                of_cpu(
                    "ContainerResource",
                    "containerResource",
                    json!({"averageValue": "100m"}),
                    json!({"averageValue": "50m"}),
                ),
                "cpu: 50m/100m",
            ),
            (of_cpu("Pods", "pods", json!({"averageValue": "100m"}), json!({"averageValue": "50m"})), "50m/100m"),
            (of_cpu("Object", "object", json!({"value": "100"}), json!({"value": "50"})), "50/100"),
            (
                of_cpu(
                    "External",
                    "external",
                    json!({"averageValue": "100"}),
                    json!({"averageValue": "50", "value": "7"}),
                ),
                "50/100 (avg)",
            ),
            (of_cpu("Other", "other", json!({}), json!({})), "<unknown type>"),
        ] {
            assert_eq!(of(&json!([spec]), &json!([status])), shown);
        }
        let (spec, status) = of_cpu("Object", "object", json!({"value": "2"}), json!({"value": "1"}));
        let specs = json!([spec, spec, spec, spec]);
        assert_eq!(of(&specs, &json!([status])), "1/2, <unknown>/2 + 2 more...");
        assert_eq!(of(&specs, &Document::Null), "<unknown>/2, <unknown>/2 + 2 more...");
        assert_eq!(of(&json!([]), &json!([status])), "<none>");
    }
}
