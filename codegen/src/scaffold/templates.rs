//! Files that are written as they stand in `templates/`, except for their placeholders: `{{name}}`.

/// A template with these values in place of its placeholders.
pub(crate) fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) =
            after.split_once("}}").expect("a template is part of this program, and its placeholders end");
        let value = values.iter().find(|(given, _)| *given == name);
        text.extend([before, value.expect("a template's placeholders are known").1]);
        rest = after;
    }
    text + rest
}
