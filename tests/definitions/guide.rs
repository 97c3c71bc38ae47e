//! The rules in the guide: each is accepted as part of a definition, allows what the page says it allows, and refuses the rest.
use std::{fs, path::Path};

use kindsmith::{
    kind::crd,
    schema::{Meter, validate},
};
use kindsmith_model::{codec::yaml, schema::rules::RuleSet};
use serde_json::{Value, json};

/// A rule of the page: its schema, and the values beside it, each with its old one if it is a transition.
struct Example {
    schema: String,
    /// True if the value is allowed.
    values: Vec<(bool, Option<Value>, Value)>,
}

fn value(text: &str) -> Value {
    let decoded = yaml::decode(format!("value: {text}").as_bytes(), &kindsmith_model::codec::Limits::default());
    decoded.unwrap_or_else(|error| panic!("{text}: {error}")).document["value"].take()
}

fn examples() -> Vec<Example> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/docs/rules.md");
    let page = fs::read_to_string(page).expect("the page");
    let blocks = page.split("\n```yaml\n").skip(1).map(|rest| rest.split("\n```").next().expect("a block ends"));
    let example = |block: &str| {
        let mut values = Vec::new();
        for line in block.lines() {
            let Some(said) = line.strip_prefix("# ") else { continue };
            let (is_valid, change) = match said.split_once(": ") {
                Some(("valid", change)) => (true, change),
                Some(("invalid", change)) => (false, change),
                _ => panic!("{line}: neither valid nor invalid"),
            };
            let (old, new) = change.split_once(" -> ").map_or((None, change), |(old, new)| (Some(value(old)), new));
            values.push((is_valid, old, value(new)));
        }
        Example { schema: block.to_owned(), values }
    };
    blocks.map(example).collect()
}

/// A definition whose spec has a value with a schema.
fn definition(schema: &str) -> String {
    let schema = schema.lines().map(|line| format!("                  {line}")).collect::<Vec<_>>().join("\n");
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: examples.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: examples, singular: example, kind: Example, listKind: ExampleList}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              value:
{schema}"
    )
}

#[test]
fn the_rules_of_the_guide_do_what_it_says() {
    let examples = examples();
    assert_eq!(examples.len(), 20);
    for Example { schema, values } in examples {
        let read = crd::read("guide", definition(&schema).as_bytes());
        let read = read.unwrap_or_else(|error| panic!("{schema}\n{error}"));
        let defined = &read.definitions[0].definition.versions[0].schema;
        let rules = RuleSet::of(defined, true).expect("rules");
        assert!(
            values.iter().any(|(is_valid, ..)| *is_valid) && values.iter().any(|(is_valid, ..)| !is_valid),
            "{schema}"
        );
        for (is_valid, old, new) in values {
            let object = |value: &Value| json!({"spec": {"value": value}});
            let (new, old) = (object(&new), old.as_ref().map(object));
            let errors = validate(defined, &new, &Meter::default()).expect("within the limits");
            assert!(errors.is_empty(), "{schema}\n{new}: {errors:?}");
            let outcome = rules.evaluate(&new, old.as_ref(), &Meter::default()).expect("within the limits");
            let errors: Vec<_> = outcome.errors.iter().map(ToString::to_string).collect();
            assert_eq!(errors.is_empty(), is_valid, "{schema}\n{old:?} -> {new}: {errors:?}");
            assert!(!errors.iter().any(|error| error.contains("evaluating rule")), "{errors:?}");
        }
    }
}
