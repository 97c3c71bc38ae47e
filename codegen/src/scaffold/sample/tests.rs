//! Tests of samples and of the types that are inferred.
mod fuzz;

use super::*;

const SAMPLE: &str = "\
# An order.
apiVersion: shop.example.com/v1beta1
kind: Order
metadata:
  name: breakfast
spec:
  title: Breakfast
  express: true
  weight: 500m
  due: 2030-01-01T08:00:00Z
  total: 5000000000
  labels: {a/b: c}
  address:
    street: Main Street
    number: 7
  items:
  - name: rye
    count: 2
  - name: baguette
    note: crisp
  tags: [warm, fresh]
status: {}
";

fn fields(of: &Struct) -> Vec<(&str, &str)> {
    of.fields.iter().map(|field| (&*field.name, &*field.ty)).collect()
}

#[test]
fn the_types_of_a_sample_are_inferred_in_its_order() {
    let sample = read("order.yaml", SAMPLE, "Order").unwrap();
    let named = (sample.group.as_deref(), sample.version.as_deref(), sample.has_status);
    assert_eq!(named, (Some("shop.example.com"), Some("v1beta1"), true));
    let [spec, address, item] = &sample.types[..] else { panic!("{sample:#?}") };
    let expected = [
        ("title", "String"),
        ("express", "bool"),
        ("weight", "Quantity"),
        ("due", "Time"),
        ("total", "i64"),
        ("labels", "BTreeMap<String, String>"),
        ("address", "OrderAddress"),
        ("items", "Vec<OrderItem>"),
        ("tags", "Vec<String>"),
    ];
    assert_eq!(fields(spec), expected);
    assert_eq!(spec.fields[7].api, ["list = map(key = name)"]);
    assert_eq!((&*address.name, fields(address)), ("OrderAddress", vec![("street", "String"), ("number", "i32")]));
    let optional = vec![("name", "String"), ("count", "Option<i32>"), ("note", "Option<String>")];
    assert_eq!((&*item.name, fields(item)), ("OrderItem", optional));
}

#[test]
fn a_sample_is_written_as_it_can_be_sent() {
    let text = SAMPLE.replace("status: {}\n", "status:\n  phase: Ready\n\n  # Of two.\n  count: 3\n");
    let expected = SAMPLE.replace("v1beta1", "v1").replace("status: {}\n", "");
    assert_eq!(adapted(&text, "shop.example.com/v1"), Some(expected));
    assert_eq!(adapted("spec: {a: 1}", "shop.example.com/v1"), None);
    let remarks = read("order.yaml", &text, "Order").unwrap().remarks;
    assert!(remarks.iter().any(|remark| remark.starts_with("status: count, phase: ")), "{remarks:?}");
}

#[test]
fn a_sample_that_leaves_a_type_open_is_refused_with_its_line() {
    for (from, to, expected) in [
        ("  express: true", "  express: 0.5", "order.yaml:8: express: the API conventions have no floating-point"),
        ("[warm, fresh]", "[]", "order.yaml:21: tags: the type of an empty list is unknown; give it an item"),
        ("  weight: 500m", "  weight: null", "order.yaml:9: weight: the type of null is unknown"),
        ("  title:", "  Title:", "order.yaml:7: the name of a field is camelCase, not \"Title\"; did you mean title?"),
        ("kind: Order", "kind: Meal", "order.yaml:3: the sample is of the kind Meal, not Order; name the kind Meal"),
        ("spec:", "desired:", "a sample has a `spec`"),
        ("count: 2", "count: 0.5", "order.yaml:18: count: the API conventions have no floating-point"),
        ("  tags: [warm", "  tags: [[warm", "order.yaml:"),
    ] {
        let error = read("order.yaml", &SAMPLE.replace(from, to), "Order").unwrap_err();
        assert!(error.starts_with("order.yaml:") && error.contains(expected), "{error}");
    }
    let error = read("order.yaml", &format!("{SAMPLE}---\na: b\n"), "Order").unwrap_err();
    assert_eq!(error, "order.yaml:1: a sample is one object, and the file has 2 documents");
}

#[test]
fn values_of_different_types_are_raw_json_and_that_is_said() {
    let sample = read("x", "spec: {port: [80, http], mixed: [1, {a: b}]}", "Order").unwrap();
    assert_eq!(fields(&sample.types[0]), [("mixed", "Vec<RawJson>"), ("port", "Vec<IntOrString>")]);
    assert_eq!(sample.remarks.len(), 1);
}
