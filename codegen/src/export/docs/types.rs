//! The tables of fields: one for the objects themselves, and one for each struct in them. Types that are named are described once.

use kindsmith::{
    kind::Kind,
    schema::{Schema, Type},
};
use kindsmith_model::kind::endpoint::DocumentSchema;

use super::{
    limits,
    markdown::{Page, anchor, cell, code, link},
};
use crate::export::node::Node;

/// The structs of a kind in one version.
struct Types<'s> {
    /// The names that anchors begin with: the kind and its version.
    of: [String; 2],
    found: Vec<Struct<'s>>,
}

struct Struct<'s> {
    title: String,
    path: String,
    node: Node<'s>,
}

/// Writes the tables of a kind's fields.
pub(super) fn write(kind: &Kind, page: &mut Page) {
    let of = [kind.names().kind.clone(), kind.version.name.clone()];
    document(of, &DocumentSchema::of(kind), kind.shared.stored, page);
}

/// Writes the tables of the fields of documents. `of` begins anchors.
pub(super) fn document(of: [String; 2], of_kind: &DocumentSchema, is_stored: bool, page: &mut Page) {
    let mut types = Types { of, found: Vec::new() };
    let root = Node::root(&of_kind.schema);
    page.table(&COLUMNS);
    for (name, ty, about) in [
        ("apiVersion", "string", format!("always {}", code(&of_kind.group_version.to_string()))),
        ("kind", "string", format!("always {}", code(&of_kind.kind))),
        ("metadata", "ObjectMeta", "the name, labels and annotations of the object".to_owned()),
    ] {
        let required = if name == "metadata" && !is_stored { "" } else { "yes" };
        page.row(&[code(name), ty.to_owned(), required.to_owned(), String::new(), String::new(), about]);
    }
    types.rows(root, "", page);
    types.structs(page);
}

/// Writes the table of the options of a request.
pub(super) fn options(of: [String; 2], schema: &Schema, page: &mut Page) {
    let mut types = Types { of, found: Vec::new() };
    page.table(&COLUMNS);
    types.rows(Node::root(schema), "", page);
    types.structs(page);
}

const COLUMNS: [&str; 6] = ["Field", "Type", "Required", "Default", "Limits", "Description"];

impl<'s> Types<'s> {
    /// The tables of structs, each of which may name further ones.
    fn structs(&mut self, page: &mut Page) {
        // Tables name further structs, which are appended.
        let mut next = 0;
        while let Some(found) = self.found.get(next) {
            let (title, path, node) = (found.title.clone(), found.path.clone(), found.node);
            page.heading(4, &title, Some(self.anchor(&title)));
            let schema = node.schema;
            page.text(if schema.type_description.is_empty() { &schema.description } else { &schema.type_description });
            if schema.preserve_unknown {
                page.text("Other fields are allowed, and kept.");
            }
            page.table(&COLUMNS);
            self.rows(node, &path, page);
            next += 1;
        }
    }

    fn anchor(&self, title: &str) -> String {
        anchor(&[&self.of[0], &self.of[1], title])
    }

    /// The fields of a struct, the required ones first.
    fn rows(&mut self, node: Node<'s>, path: &str, page: &mut Page) {
        let schema = node.schema;
        let is_required = |name: &str| schema.required.iter().any(|required| required == name);
        let mut fields: Vec<_> = schema.properties.iter().collect();
        fields.sort_by_key(|(name, _)| !is_required(name));
        for (name, field) in fields {
            let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let ty = self.text(node.below(field), &below);
            let required = if is_required(name) && field.default.is_none() { "yes" } else { "" };
            let default = field.default.as_ref().map_or_else(String::new, limits::value);
            let about = if field.description.is_empty() { &field.type_description } else { &field.description };
            page.row(&[code(name), ty, required.to_owned(), default, self::limits(field), cell(about)]);
        }
        if let Some(values) = schema.additional.as_deref().filter(|_| !schema.properties.is_empty()) {
            let ty = self.text(node.below(values), &format!("{path}.*"));
            page.row(&[
                "any other".to_owned(),
                ty,
                String::new(),
                String::new(),
                self::limits(values),
                cell(&values.description),
            ]);
        }
    }

    /// The type of a value, in Markdown.
    fn text(&mut self, node: Node<'s>, path: &str) -> String {
        let schema = node.schema;
        if let Some(definition) = node.leads_to() {
            return self.link(definition, path);
        }
        match schema.kind {
            Type::Array => match &schema.items {
                Some(items) => format!("list of {}", self.text(node.below(items), &format!("{path}[]"))),
                None => "list".to_owned(),
            },
            Type::Object if schema.embedded => "object of any kind".to_owned(),
            Type::Object if !schema.properties.is_empty() => self.link(node, path),
            Type::Object => match &schema.additional {
                Some(values) if values.boolean == Some(false) => "object without fields".to_owned(),
                Some(values) => format!("map of {}", self.text(node.below(values), &format!("{path}.*"))),
                None if schema.preserve_unknown => "object with any fields".to_owned(),
                None => "object without fields".to_owned(),
            },
            Type::IntOrString | Type::String if limits::is_quantity(schema) => "quantity".to_owned(),
            Type::IntOrString => "integer or string".to_owned(),
            Type::Any => "any".to_owned(),
            kind => {
                let name = format!("{kind:?}").to_lowercase();
                schema.format.as_ref().map_or(name.clone(), |format| format!("{name} ({})", cell(format)))
            }
        }
    }

    /// A link to a struct: one with a known name and the same fields, or a new one.
    fn link(&mut self, node: Node<'s>, path: &str) -> String {
        let title = node.schema.name.as_deref().map_or(path, |name| name.rsplit('.').next().unwrap_or(name));
        let is_same = |found: &&Struct<'_>| found.node.schema.properties == node.schema.properties;
        let known = self.found.iter().filter(|found| found.title.split(" (").next() == Some(title)).find(is_same);
        let title = if let Some(known) = known {
            known.title.clone()
        } else {
            let taken = |title: &String| self.found.iter().any(|found| found.title == *title);
            let numbered = (2..).map(|number| format!("{title} ({number})"));
            let free = std::iter::once(title.to_owned()).chain(numbered).find(|title| !taken(title));
            let title = free.unwrap_or_default();
            self.found.push(Struct { title: title.clone(), path: path.to_owned(), node });
            title
        };
        link(&title, &self.anchor(&title))
    }
}

/// The limits of a value, and of the items of a list.
fn limits(schema: &Schema) -> String {
    let own = limits::of(schema);
    let below = schema.items.as_deref().or(schema.additional.as_deref()).map(limits::of).unwrap_or_default();
    match (own.is_empty(), below.is_empty()) {
        (_, true) => own,
        (true, false) => format!("each: {below}"),
        (false, false) => format!("{own}; each: {below}"),
    }
}
