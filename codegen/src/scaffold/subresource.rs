//! A subresource that code answers: the file of its handler, with a test.

use super::{
    declarations::KindVersion,
    field::{Field, Struct},
    names,
    structure::{imported, structure},
    templates,
};

/// How a subresource is answered by code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Handler {
    /// POST with an object of the action's own kind.
    Post,
    /// GET of an object that is computed.
    Get,
    /// GET of text.
    Text,
}

impl Handler {
    /// The function of `kindsmith::handlers`.
    pub(crate) fn function(self) -> &'static str {
        match self {
            Self::Post => "post",
            Self::Get => "get",
            Self::Text => "text",
        }
    }
}

/// A subresource that code answers.
pub(crate) struct Subresource<'s> {
    /// Its kind.
    pub parent: &'s KindVersion,
    /// Its name in URLs.
    pub name: &'s str,
    /// How it is answered.
    pub handler: Handler,
    /// The fields of the request.
    pub fields: &'s [Field],
}

/// Names of subresources that Kubernetes gives a meaning.
const TAKEN: [&str; 4] = ["status", "scale", "finalize", "approval"];

/// Checks the name of a subresource.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(allowed) || name.ends_with('-') {
        return Err(format!(
            "a subresource is called by lower-case letters, digits and dashes, such as ship or take-back, not {name:?}"
        ));
    }
    if TAKEN.contains(&name) {
        return Err(format!("a subresource that code answers cannot be called {name}; choose another name"));
    }
    Ok(())
}

impl Subresource<'_> {
    /// Its function and module.
    pub(crate) fn module(&self) -> String {
        names::module(self.name)
    }

    /// The kind of its body or answer.
    fn kind(&self) -> String {
        let words: String = names::words(self.name).iter().map(|word| names::capital(word)).collect();
        format!("{}{words}", self.parent.name)
    }

    /// The file of the handler.
    pub(crate) fn source(&self) -> String {
        let Self { parent, name, .. } = self;
        let (root, kind) = (&parent.name, self.kind());
        let (maps, imports) = imported(["ApiType", "ObjectMeta", "Resource", "Time"], &self.fields.iter());
        let (spec, spec_type) = self.request_type();
        let template = match self.handler {
            Handler::Post => include_str!("templates/post.txt"),
            Handler::Get => include_str!("templates/get.txt"),
            Handler::Text => include_str!("templates/text.txt"),
        };
        let values = [
            ("name", *name),
            ("root", root),
            ("kind", &kind),
            ("function", &self.module()),
            ("plural", &parent.plural),
            ("group", &parent.group),
            ("one", &names::phrase(root)),
            ("declaration", &self.declaration()),
            ("variable", &self.variable()),
            ("maps", maps),
            ("imports", &imports),
            ("spec", &spec),
            ("spec_type", &spec_type),
        ];
        templates::filled(template, &values) + &self.tests()
    }

    /// The field of the request's own fields, and its type; both are empty without fields.
    fn request_type(&self) -> (String, String) {
        if self.fields.is_empty() {
            return (String::new(), String::new());
        }
        let name = format!("{}Spec", self.kind());
        let (action, parent) = (names::phrase(self.name), names::one(&self.parent.name));
        let about = format!("The request to {action} {parent}.");
        let field = format!("    /// The request.\n    pub spec: {name},\n");
        (field, structure(&Struct { name, about, fields: self.fields.to_vec() }))
    }

    /// What the handler calls its parent.
    fn variable(&self) -> String {
        let name = names::module(&self.parent.name);
        let is_taken = ["request", "time", "change", "options", "events", "out", "metadata"].contains(&&*name);
        if is_taken { "parent".to_owned() } else { name }
    }

    fn declaration(&self) -> String {
        format!("group = {:?}, version = {:?}, unstored", self.parent.group, self.parent.version)
    }

    fn tests(&self) -> String {
        let Self { parent, name, .. } = self;
        let (objects, path, module) = (names::constant(&parent.name), parent.objects(), &parent.module);
        let one = names::one_in_test(&parent.name);
        let function = self.module();
        let (title, request, checks) = match self.handler {
            Handler::Post => (
                format!("{function}_changes_{one}"),
                format!(r#""POST", &path, {}"#, self.request()),
                format!(
                    r#"        assert_eq!(status, 201, "{{answer}}");
        let (_, changed) = server.call("GET", &format!("{{{objects}}}/example"), Value::Null).await;
        assert_eq!(changed["metadata"]["annotations"][super::ANNOTATION], answer["status"]["time"]);
"#
                ),
            ),
            Handler::Get => (
                format!("{function}_of_{one}_is_computed"),
                r#""GET", &path, Value::Null"#.to_owned(),
                "        assert_eq!((status, &answer[\"status\"]), (200, &json!({\"generation\": 1, \"labels\": 0})));\n"
                    .to_owned(),
            ),
            Handler::Text => (
                format!("{function}_of_{one}_is_text"),
                r#""GET", &path, Value::Null"#.to_owned(),
                "        assert_eq!((status, answer), (200, json!(\"example: generation 1\\n\")));\n".to_owned(),
            ),
        };
        format!(
            r#"
#[cfg(test)]
mod tests {{
    use kindsmith::Server;
    use serde_json::{{Value, json}};

    use crate::{module}::tests::example;

    const {objects}: &str = "{path}";

    #[tokio::test]
    async fn {title}() {{
        let server = Server::test().configure(crate::serve).start().await;
        let (status, created) = server.call("POST", {objects}, example()).await;
        assert_eq!(status, 201, "{{created}}");
        let path = format!("{{{objects}}}/example/{name}");
        let (status, answer) = server.call({request}).await;
{checks}    }}
}}
"#
        )
    }

    /// The body of the request in the test.
    fn request(&self) -> String {
        if self.fields.is_empty() {
            return "json!({})".to_owned();
        }
        let members: Vec<String> = self.fields.iter().map(Field::member).collect();
        format!("json!({{\"spec\": {{{}}}}})", members.join(", "))
    }
}
