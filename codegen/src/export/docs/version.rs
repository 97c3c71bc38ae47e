//! A version of a kind: what is served of it, an example, and its fields.

use kindsmith::{
    kind::{
        Kind, Verb,
        model::{Cell, Column, Scope},
    },
    testing,
};
use kindsmith_formats::endpoints;
use kindsmith_model::{
    codec::yaml,
    kind::endpoint::{Answer, Body, DocumentSchema, Endpoint},
};

use super::{
    markdown::{Page, anchor, cell, code, link},
    types,
};

/// Writes a version. The notes follow its name.
pub(super) fn write(kind: &Kind, notes: &[String], page: &mut Page, warnings: &mut Vec<String>) {
    let (name, version) = (&kind.names().kind, &kind.version);
    page.heading(3, &format!("{name} {}", version.name), Some(anchor(&[name, &version.name])));
    for note in notes {
        page.item(note);
    }
    served(kind, page);
    if !version.columns.is_empty() {
        page.markdown("Columns of `kubectl get`:");
        page.table(&["Column", "Type", "Value", "Description"]);
        for column in &version.columns {
            row(column, page);
        }
    }
    match testing::example(kind) {
        Some(example) => {
            let mut text = Vec::new();
            yaml::encode(&example, &mut text);
            page.markdown("An example:");
            page.block("yaml", &String::from_utf8_lossy(&text));
        }
        None => warnings.push(format!(
            "{} {}: no example was found that its schema accepts; `example` in the schema of a field helps",
            kind.shared.group_kind(),
            version.name
        )),
    }
    page.markdown("Fields:");
    types::write(kind, page);
    for endpoint in &version.subresources {
        subresource(kind, endpoint, page);
    }
}

/// A subresource of its own: what each verb takes and answers, and the fields of these documents.
fn subresource(kind: &Kind, endpoint: &Endpoint, page: &mut Page) {
    let of = |what: &str| [kind.names().kind.clone(), format!("{} {} {what}", kind.version.name, endpoint.subresource)];
    let mut documents: Vec<&DocumentSchema> = Vec::new();
    for document in endpoint.documents() {
        if !documents.iter().any(|known| known.kind == document.kind) {
            documents.push(document);
        }
    }
    let named = |document: &DocumentSchema| {
        let [kind, rest] = of(&document.kind);
        link(&document.kind, &anchor(&[&kind, &rest]))
    };
    page.heading(
        4,
        &format!("The subresource {}", endpoint.subresource),
        Some(anchor(&of("").each_ref().map(|part| part.trim()))),
    );
    page.table(&["Verb", "Request", "Response"]);
    for operation in &endpoint.operations {
        let request = match &operation.body {
            Body::None => String::new(),
            Body::Own => code(&kind.names().kind),
            Body::Scale => code("Scale"),
            Body::DeleteOptions => code("DeleteOptions"),
            Body::Document(document) => named(document),
            Body::Patch(_) => "a patch".to_owned(),
        };
        let response = match &operation.answer {
            _ if operation.connects => "a connection".to_owned(),
            Answer::Own => code(&kind.names().kind),
            Answer::List => code(&kind.names().list_kind),
            Answer::Scale => code("Scale"),
            Answer::Status => code("Status"),
            Answer::Document(document) => named(document),
            Answer::Text => "text".to_owned(),
        };
        page.row(&[operation.verb.as_str().to_owned(), request, response]);
    }
    if let Some(options) = &endpoint.options {
        page.markdown("Options of the request, in its query:");
        types::options(of("options"), options, page);
    }
    for document in documents {
        let [kind, rest] = of(&document.kind);
        page.heading(5, &document.kind, Some(anchor(&[&kind, &rest])));
        page.text(&document.schema.description);
        types::document([kind, rest], document, false, page);
    }
}

/// The verbs of objects and subresources, and what can be selected.
fn served(kind: &Kind, page: &mut Page) {
    let version = &kind.version;
    if !version.served {
        return;
    }
    page.table(&["Path", "Verbs", "About"]);
    let group_version = &kind.group_version;
    let root = if group_version.group.is_empty() { "/api" } else { "/apis" };
    let namespace = if kind.shared.scope == Scope::Namespaced { "namespaces/{namespace}/" } else { "" };
    let objects = format!("{root}/{group_version}/{namespace}{}", kind.names().plural);
    for endpoint in endpoints::of(&kind.shared, version) {
        let about = match endpoint.subresource.as_str() {
            "" => "the objects".to_owned(),
            "status" => "the status, which other writes do not change".to_owned(),
            "scale" => version.scale.as_ref().map_or_else(String::new, |scale| {
                let selector = scale.selector.as_ref().map(|path| format!(", selector in {}", code(&path.to_string())));
                let (desired, observed) = (code(&scale.replicas.to_string()), code(&scale.status_replicas.to_string()));
                format!("the replicas in {desired}, observed in {observed}{}", selector.unwrap_or_default())
            }),
            _ if endpoint.connects => "a connection".to_owned(),
            _ => "a subresource of its own".to_owned(),
        };
        let path = match endpoint.subresource.as_str() {
            "" => objects.clone(),
            subresource => format!("{objects}/{{name}}/{subresource}"),
        };
        let verbs: Vec<_> = endpoint.verbs.iter().map(|verb: &Verb| verb.as_str()).collect();
        page.row(&[code(&path), verbs.join(", "), about]);
    }
    if !version.selectable.is_empty() {
        let fields: Vec<_> = version.selectable.iter().map(|path| code(&path.to_string())).collect();
        page.markdown(&format!("Field selectors: {}", fields.join(", ")));
    }
}

fn row(column: &Column, page: &mut Page) {
    let from = match &column.cell {
        Cell::Path(path) => code(&format!(".{path}")),
        Cell::JsonPath(path) => code(&path.to_string()),
        _ => "computed by the server".to_owned(),
    };
    let kind = if column.format.is_empty() {
        column.kind.clone()
    } else {
        format!("{} ({})", column.kind, cell(&column.format))
    };
    let wide = if column.priority > 0 { " (only with `-o wide`)" } else { "" };
    // Columns without a description have this one.
    let is_described = !column.description.starts_with("Custom resource definition column");
    let about = if is_described { cell(&column.description) } else { String::new() };
    page.row(&[cell(&column.name), kind, from, format!("{about}{wide}")]);
}
