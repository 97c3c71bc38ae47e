//! The attributes `#[resource(…)]`: what a kind is beside its fields.
use kindsmith::{
    kind::model::{Cell, Column, Path, Scope},
    schema::Type,
};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{
    Warning,
    emit::Emitter,
    literal,
    model::{Declared, Field, Kind, Ty, Use},
    names,
};

impl Emitter<'_> {
    /// The attributes `#[resource(…)]` of a kind.
    pub(super) fn resource(&mut self, kind: &Kind, declared: &Declared) -> TokenStream {
        let (shared, version) = (&kind.shared, &kind.version);
        let mut first = Vec::new();
        let number = &version.name;
        match kind.storage {
            Some((home, root)) => {
                let (home, root) = (&self.model.modules[home].version, &self.model.types[root].name);
                let (home, root) = (names::ident(home), names::ident(root));
                first.push(quote!(version = #number));
                first.push(quote!(storage = super::#home::#root));
                // A definition's versions may differ in any way.
                first.push(quote!(convert = none));
            }
            None => Self::shared(kind, declared, &mut first),
        }
        if version.status {
            first.push(quote!(status));
        }
        if !version.served {
            first.push(quote!(unserved));
        }
        let mut all = vec![first];
        if let Some(text) = &version.deprecated {
            let usual = format!("{}/{number} {} is deprecated", shared.group, shared.names.kind);
            all.push(vec![if *text == usual { quote!(deprecated) } else { quote!(deprecated = #text) }]);
        }
        if let Some(scale) = &version.scale {
            let path = |path: &Path| self.path(declared, path);
            if let (Some(replicas), Some(status)) = (path(&scale.replicas), path(&scale.status_replicas)) {
                let selector = scale.selector.as_ref().and_then(path).map(|path| quote!(, selector = #path));
                all.push(vec![quote!(scale(replicas = #replicas, status = #status #selector))]);
            } else {
                self.warn(
                    declared,
                    "scale is left out: found paths to fields that are not declared; supported: paths of the schema",
                );
            }
        }
        let selectable: Vec<_> = version.selectable.iter().map(|path| (path, self.path(declared, path))).collect();
        for (path, found) in &selectable {
            if found.is_none() {
                self.warn(declared, &format!("the selectable field {path} is left out: it is not declared"));
            }
        }
        let selectable: Vec<_> = selectable.into_iter().filter_map(|(_, path)| path).collect();
        if !selectable.is_empty() {
            all.push(vec![quote!(selectable(#(#selectable),*))]);
        }
        all.extend(self.columns(kind, declared).into_iter().map(|column| vec![column]));
        quote!(#(#[resource(#(#all),*)])*)
    }

    /// What all versions of the kind share.
    fn shared(kind: &Kind, declared: &Declared, first: &mut Vec<TokenStream>) {
        let shared = &kind.shared;
        let (group, number, names) = (&shared.group, &kind.version.name, &shared.names);
        first.push(quote!(group = #group));
        first.push(quote!(version = #number));
        let text = |name: &str, value: &str| {
            let name = names::ident(name);
            quote!(#name = #value)
        };
        if names.kind != declared.name {
            first.push(text("kind", &names.kind));
        }
        if names.list_kind != format!("{}List", names.kind) {
            first.push(text("list_kind", &names.list_kind));
        }
        first.push(text("plural", &names.plural));
        if names.singular != names.kind.to_lowercase() {
            first.push(text("singular", &names.singular));
        }
        for (one, many, given) in
            [("shortname", "shortnames", &names.short_names), ("category", "categories", &names.categories)]
        {
            let many = names::ident(many);
            match &given[..] {
                [] => {}
                [only] => first.push(text(one, only)),
                _ => first.push(quote!(#many(#(#given),*))),
            }
        }
        if shared.scope == Scope::Cluster {
            first.push(quote!(cluster));
        }
    }

    fn columns(&mut self, kind: &Kind, declared: &Declared) -> Vec<TokenStream> {
        let created = |column: &Column| matches!(&column.cell, Cell::Path(path) if path.0.join(".") == "metadata.creationTimestamp");
        let all = &kind.version.columns;
        let usual = |column: &Column| {
            let description = &column.description;
            let is_usual = description.ends_with(": .metadata.creationTimestamp") == (all.len() > 1);
            column.name == "Age" && created(column) && is_usual && column.format.is_empty() && column.priority == 0
        };
        let mut columns = Vec::new();
        for (index, column) in all.iter().enumerate() {
            if !(index + 1 == all.len() && usual(column)) {
                columns.extend(self.column(declared, column));
            }
        }
        let has_age = |column: &Column| column.name == "Age" || column.name == "Name" || created(column);
        if !all.iter().any(has_age) {
            columns.push(quote!(no_age));
        }
        columns
    }

    fn column(&mut self, declared: &Declared, column: &Column) -> Option<TokenStream> {
        let (header, kind) = (&column.name, &column.kind);
        let shown = names::ident(kind);
        let found = match &column.cell {
            Cell::Path(path) => self.leaf(declared, path).filter(|(_, leaf)| leaf == kind).map(|(path, _)| path),
            _ => None,
        };
        let (text, cell) = match (&column.cell, found) {
            (Cell::Path(path), Some(found)) => (format!(".{path}"), quote!(path = #found)),
            (Cell::Path(path), None) => {
                let text = format!(".{path}");
                (text.clone(), quote!(json_path = #text, type = #shown))
            }
            (Cell::JsonPath(path), _) => {
                let text = path.to_string();
                (text.clone(), quote!(json_path = #text, type = #shown))
            }
            _ => {
                self.warn(
                    declared,
                    &format!("the column {header} is left out: found a computed one; supported: paths"),
                );
                return None;
            }
        };
        let mut arguments = vec![quote!(#header), cell];
        if column.priority != 0 {
            let priority = literal::number(&column.priority.to_string());
            arguments.push(quote!(priority = #priority));
        }
        let usual = format!(
            "Custom resource definition column (in JSONPath format): .{}",
            text.strip_prefix('.').unwrap_or(&text)
        );
        if column.description != usual {
            let description = &column.description;
            arguments.push(quote!(description = #description));
        }
        if !column.format.is_empty() {
            let format = &column.format;
            arguments.push(quote!(format = #format));
        }
        Some(quote!(column(#(#arguments),*)))
    }

    /// A path on the wire as one of Rust fields.
    fn path(&self, declared: &Declared, path: &Path) -> Option<TokenStream> {
        self.leaf(declared, path).map(|(path, _)| path)
    }

    /// A path of Rust fields to a scalar, and the type of a column that shows it.
    fn leaf(&self, declared: &Declared, path: &Path) -> Option<(TokenStream, &'static str)> {
        let (first, rest) = path.0.split_first()?;
        if first == "metadata" {
            let [name] = rest else { return None };
            let kind = match name.as_str() {
                "creationTimestamp" | "deletionTimestamp" => "date",
                "generation" => "integer",
                "name" | "namespace" | "uid" => "string",
                _ => return None,
            };
            let name = names::ident(&names::snake(name));
            return Some((quote!(metadata.#name), kind));
        }
        let mut found: Vec<Ident> = Vec::new();
        let mut fields = &declared.fields;
        let mut owner = declared;
        let mut leaf = None;
        for wire in &path.0 {
            let field = fields.iter().find(|field| field.wire == *wire)?;
            let renamed = self.options.renamed_field(&owner.plain_name, wire);
            found.push(names::ident(renamed.unwrap_or(&field.rust)));
            if let Ty::Declared(id) = &field.ty {
                owner = &self.model.types[*id];
                fields = &owner.fields;
            } else {
                const NONE: &Vec<Field> = &Vec::new();
                fields = NONE;
            }
            leaf = Some(field);
        }
        let leaf = leaf?;
        let kind = match (&leaf.ty, leaf.schema.kind) {
            (Ty::Known("Time" | "MicroTime"), _) => "date",
            (Ty::Known("i32" | "i64"), _) => "integer",
            (Ty::Known("f64"), _) => "number",
            (Ty::Known("bool"), _) => "boolean",
            (Ty::Known("String" | "IntOrString" | "Quantity" | "ByteString"), _) | (_, Type::String) => "string",
            _ => return None,
        };
        Some((quote!(#(#found).*), kind))
    }

    fn warn(&mut self, declared: &Declared, message: &str) {
        let Use { kind, pointer, .. } = declared.uses[0].clone();
        self.warnings.push(Warning { source: String::new(), kind, pointer, message: message.to_owned() });
    }
}
