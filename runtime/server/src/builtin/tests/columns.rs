//! Tests of the columns of built-in kinds.

use serde_json::{Value, json};

use super::super::*;
use crate::{
    kind::{CellMeter, model::Cell},
    meta::Time,
    schema::Document,
};

/// The headers and cells of a Table; `wide` includes the columns of lower priority.
fn table(kind: &Kind, object: &Document, wide: bool) -> Vec<(String, Value)> {
    let shown = kind.version.columns.iter().filter(|column| wide || column.priority == 0);
    shown
        .map(|column| {
            let value = match &column.cell {
                Cell::Path(path) => path.of(object).cloned().unwrap_or_default(),
                Cell::JsonPath(path) => path.find(object, &CellMeter::of(0)).next().cloned().unwrap_or_default(),
                Cell::Call(call) => call.of(object, &CellMeter::of(0)),
                Cell::Computed => kind.compute(column, object),
            };
            (column.name.clone(), value)
        })
        .collect()
}

#[test]
fn columns_are_those_of_kube_apiserver() {
    let headers = |kind: &Kind, wide: bool| -> Vec<String> {
        table(kind, &json!({"metadata": {"name": "x"}}), wide).into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(headers(&ConfigMap::kind(), true), ["Data", "Age"]);
    assert_eq!(headers(&Secret::kind(), true), ["Type", "Data", "Age"]);
    assert_eq!(headers(&ServiceAccount::kind(), true), ["Secrets", "Age"]);
    assert_eq!(headers(&Namespace::kind(), true), ["Status", "Age"]);
    assert_eq!(headers(&Lease::kind(), true), ["Holder", "Age"]);
    assert_eq!(headers(&Event::kind(), false), ["Last Seen", "Type", "Reason", "Object", "Message"]);
    assert_eq!(
        headers(&Event::kind(), true),
        ["Last Seen", "Type", "Reason", "Object", "Subobject", "Source", "Message", "First Seen", "Count", "Name"]
    );
}

#[test]
fn cells_of_events_are_those_of_kube_apiserver() {
    let at = |minutes: i64| Time::now().plus_seconds(-60 * minutes - 30).to_string(); // a second that passes changes no text
    let event = json!({
        "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec.x"},
        "reason": "R", "message": " said \n", "source": {"component": "c", "host": "h"}, "type": "Warning",
        "firstTimestamp": at(60 * 5), "lastTimestamp": at(60 * 3 + 20), "count": 7
    });
    let cells: Vec<Value> = table(&Event::kind(), &event, true).into_iter().map(|(_, cell)| cell).collect();
    assert_eq!(
        cells,
        ["3h20m", "Warning", "R", "pod/p", "spec.x", "c, h", "said", "5h"]
            .map(Value::from)
            .into_iter()
            .chain([7.into(), "e".into()])
            .collect::<Vec<_>>()
    );
    let new_style = json!({"involvedObject": {"kind": "Node"}, "eventTime": format!("{}.000000Z", at(11).trim_end_matches('Z')), "reportingComponent": "k"});
    let cells: std::collections::BTreeMap<String, Value> =
        table(&Event::kind(), &new_style, true).into_iter().collect();
    assert_eq!((&cells["Last Seen"], &cells["First Seen"], &cells["Count"]), (&json!("11m"), &json!("11m"), &json!(1)));
    assert_eq!((&cells["Object"], &cells["Source"]), (&json!("node"), &json!("k")));
    let bare: std::collections::BTreeMap<String, Value> = table(&Event::kind(), &json!({}), true).into_iter().collect();
    assert_eq!(bare["Last Seen"], "<unknown>");
    let data =
        table(&ConfigMap::kind(), &json!({"metadata": {}, "data": {"a": ""}, "binaryData": {"b": "", "c": ""}}), true);
    assert_eq!(data[0], ("Data".to_owned(), json!(3)));
}
