//! The tests of a kind that is added: an object is stored as it was sent, and one without a required field is refused.

use serde_json::Value;

use super::{kind::Kind, names};

/// The module of tests at the end of a kind's file.
pub(crate) fn module(kind: &Kind) -> String {
    let objects = names::snake(&names::plural(&kind.name)).to_uppercase();
    let (one, path) = (names::one(&kind.name).replace(' ', "_"), kind.path());
    let example = example(kind);
    let spec = kind.types.first();
    let required = spec.and_then(|spec| spec.fields.iter().find(|field| field.is_required));
    let refused = required.map_or_else(String::new, |field| {
        let (wire, said) = (&field.wire, field.name.trim_end_matches('_'));
        format!(
            r#"
    #[tokio::test]
    async fn {one}_without_its_{said}_is_refused() {{
        let server = Server::test().configure(crate::serve).start().await;
        let mut object = example();
        object["spec"] = json!({{}});
        let (status, refusal) = server.call("POST", {objects}, object).await;
        assert_eq!(status, 422, "{{refusal}}");
        let causes = refusal["details"]["causes"].as_array().expect("causes");
        let is_named = causes.iter().any(|cause| cause["field"] == "spec.{wire}");
        assert!(is_named, "{{refusal}}");
    }}
"#
        )
    });
    format!(
        r#"
#[cfg(test)]
mod tests {{
    use kindsmith::Server;
    use serde_json::{{Value, json}};

    const {objects}: &str = "{path}";

    pub(super) fn example() -> Value {{
{example}    }}

    #[tokio::test]
    async fn {one}_is_stored_as_it_was_sent() {{
        let server = Server::test().configure(crate::serve).start().await;
        let (status, stored) = server.call("POST", {objects}, example()).await;
        assert_eq!(status, 201, "{{stored}}");
        assert_eq!(stored["spec"], example()["spec"]);
    }}
{refused}}}
"#
    )
}

/// The body of the function that makes an example.
fn example(kind: &Kind) -> String {
    let fields = kind.types.first().map_or(&[][..], |spec| &spec.fields);
    let members: Vec<String> =
        fields.iter().map(|field| format!("{:?}: {}", field.wire, spaced(&field.example))).collect();
    let one_line = format!("{{{}}}", members.join(", "));
    let spec = if one_line.len() <= 70 {
        one_line
    } else {
        format!("{{\n                {},\n            }}", members.join(",\n                "))
    };
    format!(
        "        json!({{\n            \"metadata\": {{\"name\": \"example\"}},\n            \"spec\": {spec},\n        }})\n"
    )
}

/// JSON with a space after each comma and colon.
pub(crate) fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| format!("{key:?}: {}", spaced(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => format!("{text:?}"),
        // Without a type, an integer has 32 bits.
        Value::Number(number) if number.as_i64().is_some_and(|number| i32::try_from(number).is_err()) => {
            format!("{number}_i64")
        }
        Value::Number(number) if number.is_u64() && !number.is_i64() => format!("{number}_u64"),
        scalar => scalar.to_string(),
    }
}
