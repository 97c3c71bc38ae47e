//! The tests of a kind that is added: an object is stored as it was sent, and one without a required field is refused.

use super::{field::Field, names};

/// The module of tests at the end of a kind's file: the path of its objects, and the fields of its desired state.
pub(super) fn module(kind: &str, path: &str, fields: &[Field]) -> String {
    let (objects, one, example) = (names::constant(kind), names::one_in_test(kind), example(fields));
    let required = fields.iter().find(|field| field.is_required);
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
fn example(fields: &[Field]) -> String {
    let members: Vec<String> = fields.iter().map(Field::member).collect();
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
