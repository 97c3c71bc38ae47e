//! The attributes `#[resource(…)]`: what a kind is beside its fields.
use kindsmith::{
    kind::{
        UserRoles,
        model::{Cell, Column, NameRule, Path, Scope},
    },
    schema::Type,
};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{
    Warning,
    emit::Emitter,
    literal,
    model::{Field, Kind, Ty, TypeDeclaration, Use},
    names,
};

impl Emitter<'_> {
    /// The attributes `#[resource(…)]` of a kind.
    pub(super) fn resource(&mut self, kind: &Kind, declaration: &TypeDeclaration) -> TokenStream {
        let (shared, version) = (&kind.shared, &kind.version);
        let mut first = Vec::new();
        let number = &version.name;
        match kind.storage {
            Some((home, root)) => {
                let (home, root) = (self.model.modules[home].name(), &self.model.types[root].name);
                let (home, root) = (names::ident(&home), names::ident(root));
                first.push(quote!(version = #number));
                first.push(quote!(storage = super::#home::#root));
                // A definition's versions may differ in any way.
                first.push(quote!(convert = none));
            }
            None => Self::shared(kind, declaration, &mut first),
        }
        if version.status {
            first.push(quote!(status));
        }
        if !version.served {
            first.push(quote!(unserved));
        }
        let mut all = vec![first];
        if let Some(verbs) = version.verbs.as_ref().filter(|_| shared.stored) {
            let verbs = verbs.iter().map(|verb| names::ident(verb.as_str()));
            all.push(vec![quote!(verbs(#(#verbs),*))]);
        }
        if let Some(text) = &version.deprecated {
            let usual = format!("{}/{number} {} is deprecated", shared.group, shared.names.kind);
            all.push(vec![if *text == usual { quote!(deprecated) } else { quote!(deprecated = #text) }]);
        }
        if let Some(scale) = &version.scale {
            let path = |path: &Path| self.path(declaration, path).map(|(path, _)| path);
            let selector = scale.selector.as_ref().map(path);
            if let (Some(replicas), Some(status), None | Some(Some(_))) =
                (path(&scale.replicas), path(&scale.status_replicas), &selector)
            {
                let selector = selector.flatten().map(|path| quote!(, selector = #path));
                all.push(vec![quote!(scale(replicas = #replicas, status = #status #selector))]);
            } else {
                self.warn(
                    declaration,
                    "scale is left out: found paths to fields that are not declared; supported: paths of the schema",
                );
            }
        }
        let mut selectable = Vec::new();
        for path in &version.selectable {
            match self.path(declaration, path) {
                Some((path, Some(_))) => selectable.push(path),
                _ => self.warn(declaration, &format!("the selectable field {path} is left out: found no scalar there")),
            }
        }
        if !selectable.is_empty() {
            all.push(vec![quote!(selectable(#(#selectable),*))]);
        }
        all.extend(self.columns(kind, declaration).into_iter().map(|column| vec![column]));
        quote!(#(#[resource(#(#all),*)])*)
    }

    /// What all versions of the kind share.
    fn shared(kind: &Kind, declaration: &TypeDeclaration, first: &mut Vec<TokenStream>) {
        let shared = &kind.shared;
        let (group, number, names) = (&shared.group, &kind.version.name, &shared.names);
        first.push(quote!(group = #group));
        first.push(quote!(version = #number));
        let text = |name: &str, value: &str| {
            let name = names::ident(name);
            quote!(#name = #value)
        };
        if names.kind != declaration.name {
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
        match shared.name_rule {
            NameRule::Label => first.push(quote!(names = label)),
            NameRule::PathSegment => first.push(quote!(names = path_segment)),
            NameRule::Subdomain => {}
        }
        if shared.roles != UserRoles::default() {
            let [read, write] = shared.roles.names().map(names::ident);
            first.push(quote!(roles(read = #read, write = #write)));
        }
        if !shared.stored {
            first.push(quote!(unstored));
        }
        if kind.is_builtin {
            first.push(quote!(builtin));
            first.push(quote!(policy = kindsmith::kind::Described));
            if kind.version.generation {
                first.push(quote!(generation));
            }
        }
        if kind.version.update_without_version {
            first.push(quote!(update_without_version));
        }
        if kind.version.create_on_update {
            first.push(quote!(create_on_update));
        }
        if kind.version.returns_deleted {
            first.push(quote!(returns_deleted));
        }
    }

    fn columns(&mut self, kind: &Kind, declaration: &TypeDeclaration) -> Vec<TokenStream> {
        let created = |column: &Column| matches!(&column.cell, Cell::Path(path) if path.0.join(".") == "metadata.creationTimestamp");
        let all = &kind.version.columns;
        // What the derive adds by itself.
        let mut age = Column::age();
        if all.len() > 1 {
            age.description = Column::usual_description("metadata.creationTimestamp");
        }
        let mut columns = Vec::new();
        for (index, column) in all.iter().enumerate() {
            if !(index + 1 == all.len() && *column == age) {
                columns.extend(self.column(declaration, column));
            }
        }
        let has_age = |column: &Column| column.name == "Age" || column.name == "Name" || created(column);
        if !all.iter().any(has_age) {
            columns.push(quote!(no_age));
        }
        columns
    }

    fn column(&mut self, declaration: &TypeDeclaration, column: &Column) -> Option<TokenStream> {
        let (header, kind) = (&column.name, &column.kind);
        let shown = names::ident(kind);
        let found = match &column.cell {
            Cell::Path(path) => self.path(declaration, path).filter(|(_, of)| *of == Some(kind)).map(|(path, _)| path),
            _ => None,
        };
        let (text, cell) = match (&column.cell, found) {
            (Cell::Path(path), Some(found)) => (format!(".{path}"), quote!(path = #found)),
            (Cell::Path(path), None) => {
                let text = json_path(path);
                (text.clone(), quote!(json_path = #text, type = #shown))
            }
            (Cell::JsonPath(path), _) => {
                let text = path.to_string();
                (text.clone(), quote!(json_path = #text, type = #shown))
            }
            _ => {
                self.warn(
                    declaration,
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
        if column.description != Column::usual_description(text.strip_prefix('.').unwrap_or(&text)) {
            let description = &column.description;
            arguments.push(quote!(description = #description));
        }
        if !column.format.is_empty() {
            let format = &column.format;
            arguments.push(quote!(format = #format));
        }
        Some(quote!(column(#(#arguments),*)))
    }

    /// A path of Rust fields, and the type of a column that shows what is there, if that is a scalar.
    fn path(&self, declaration: &TypeDeclaration, path: &Path) -> Option<(TokenStream, Option<&'static str>)> {
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
            return Some((quote!(metadata.#name), Some(kind)));
        }
        let mut found: Vec<Ident> = Vec::new();
        let mut fields = &declaration.fields;
        let mut owner = declaration;
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
            (Ty::Known("Time" | "MicroTime"), _) => Some("date"),
            (Ty::Known("i32" | "i64"), _) => Some("integer"),
            (Ty::Known("f64"), _) => Some("number"),
            (Ty::Known("bool"), _) => Some("boolean"),
            (Ty::Known("String" | "IntOrString" | "Quantity" | "ByteString"), _) | (_, Type::String) => Some("string"),
            _ => None,
        };
        Some((quote!(#(#found).*), kind))
    }

    fn warn(&mut self, declaration: &TypeDeclaration, message: &str) {
        let Use { kind, pointer, .. } = declaration.uses[0].clone();
        self.warnings.push(Warning { source: String::new(), kind, pointer, message: message.to_owned() });
    }
}

/// A path in JSONPath, in which a backslash stands before a letter that is no part of a name otherwise.
fn json_path(path: &Path) -> String {
    let mut text = String::new();
    for name in &path.0 {
        text.push('.');
        for letter in name.chars() {
            if "\\.[]{}$@,*\"'".contains(letter) || letter.is_whitespace() {
                text.push('\\');
            }
            text.push(letter);
        }
    }
    text
}
