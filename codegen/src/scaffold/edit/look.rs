//! Looks into declarations. Where a command expects something else, the error names the line and a way out.

use quote::ToTokens;
use syn::{Item, ItemFn, Visibility, spanned::Spanned};

use super::SourceFile;
use crate::scaffold::names::raw;

/// How tests write what they need.
pub(crate) struct InTests {
    pub server: &'static str,
    pub json: &'static str,
    pub value: &'static str,
    /// The path of the objects, an expression.
    pub objects: String,
    /// The path of the example, an expression.
    pub object: String,
}

impl SourceFile<'_> {
    /// The error that a module is there already.
    pub(crate) fn has_module(&self, module: &str) -> Result<String, String> {
        let found = self.parsed()?.items.into_iter().find_map(|item| match item {
            Item::Mod(item) if item.ident == module => Some(item.ident.span().byte_range()),
            _ => None,
        });
        Ok(self.error(&found.unwrap_or(0..0), &format!("there is a module {module} already, and nothing was written")))
    }

    /// The function `example` of the tests, which returns an object.
    pub(crate) fn example(&self) -> Result<Option<ItemFn>, String> {
        let items = self.tests()?.and_then(|tests| tests.content).map(|(_, items)| items);
        Ok(items.into_iter().flatten().find_map(|item| match item {
            Item::Fn(item) if item.sig.ident == "example" => Some(item),
            _ => None,
        }))
    }

    /// How the tests of this file write what a further test needs: by the names that they import or declare, or by paths.
    pub(crate) fn in_tests(&self, constant: &str, objects: &str) -> Result<InTests, String> {
        let tests = self.tests()?;
        let items = tests.and_then(|tests| tests.content).map(|(_, items)| items).unwrap_or_default();
        let imports: String = items
            .iter()
            .filter(|item| matches!(item, Item::Use(_)))
            .map(|item| &self.text[item.span().byte_range()])
            .collect();
        let name =
            |line: &str, name: &'static str, path: &'static str| if imports.contains(line) { name } else { path };
        let is_constant = |item: &Item| matches!(item, Item::Const(item) if item.ident == constant);
        let has_constant = items.iter().any(is_constant);
        Ok(InTests {
            server: name("use kindsmith::Server;", "Server", "kindsmith::Server"),
            json: name("use serde_json::{Value, json};", "json", "serde_json::json"),
            value: name("use serde_json::{Value, json};", "Value", "serde_json::Value"),
            objects: if has_constant { constant.to_owned() } else { format!("{objects:?}") },
            object: if has_constant {
                format!("&format!(\"{{{constant}}}/example\")")
            } else {
                format!("{:?}", format!("{objects}/example"))
            },
        })
    }

    /// Checks that the tests of modules below can call `example`.
    pub(crate) fn check_example(&self) -> Result<(), String> {
        let signature = "`pub(super) fn example() -> serde_json::Value`, an object that tests create";
        match self.example()? {
            Some(found) if matches!(found.vis, Visibility::Inherited) => {
                let what = format!("`example` is private, and another test needs it; write {signature}");
                Err(self.error(&found.sig.ident.span().byte_range(), &what))
            }
            Some(_) => Ok(()),
            None => {
                let at = self.tests()?.map_or(0..0, |tests| tests.ident.span().byte_range());
                Err(self.error(&at, &format!("the module `tests` has no function `example`; write {signature}")))
            }
        }
    }

    /// Checks that a kind does not have an argument yet.
    pub(crate) fn check_free_argument(&self, kind: &str, argument: &str) -> Result<(), String> {
        let arguments = self.arguments(&self.structure(kind)?)?.unwrap_or_default();
        match arguments.get(argument) {
            Some(found) => Err(self.error(&found.range, &format!("`{kind}` has the subresource {argument} already"))),
            None => Ok(()),
        }
    }

    /// True if a kind has a status with conditions; an error if it has a status that a controller cannot report in.
    pub(crate) fn has_conditions(&self, kind: &str) -> Result<bool, String> {
        let root = self.structure(kind)?;
        if !root.fields.iter().any(|field| field.ident.as_ref().is_some_and(|name| name == "status")) {
            return Ok(false);
        }
        let status = self.below(kind, "status", "the status")?;
        let status = self.structure(&status)?;
        let place = status.ident.span().byte_range();
        let name = &status.ident;
        if !status.fields.iter().any(|field| field.ident.as_ref().is_some_and(|name| name == "conditions")) {
            let field =
                "`#[api(list = map(key = kind), merge)] #[serde(default)] pub conditions: Vec<kindsmith::Condition>`";
            return Err(self
                .error(&place, &format!("`{name}` has no conditions, in which a controller reports; write {field}")));
        }
        let derives = status.attrs.iter().filter(|attribute| attribute.path().is_ident("derive"));
        if !derives.into_iter().any(|attribute| attribute.to_token_stream().to_string().contains("Default")) {
            return Err(
                self.error(&place, &format!("a controller begins with an empty `{name}`; derive `Default` for it"))
            );
        }
        Ok(true)
    }

    /// Checks that a path such as `spec.copies` leads to a field, and returns it as it is written in Rust.
    pub(crate) fn field(&self, kind: &str, path: &str, argument: &str) -> Result<String, String> {
        let mut ty = kind.to_owned();
        let names: Vec<&str> = path.split('.').collect();
        for (at, name) in names.iter().enumerate() {
            let missing = self.missing(&ty, name, &format!("{argument} {path}"))?;
            if let Some(error) = missing {
                return Err(error);
            }
            if at + 1 < names.len() {
                ty = self.below(&ty, name, argument)?;
            }
        }
        Ok(names.into_iter().map(raw).collect::<Vec<_>>().join("."))
    }

    /// The error if a struct does not have a field.
    fn missing(&self, structure: &str, name: &str, argument: &str) -> Result<Option<String>, String> {
        let item = self.structure(structure)?;
        let fields: Vec<String> =
            item.fields.iter().filter_map(|field| field.ident.as_ref()).map(ToString::to_string).collect();
        if fields.contains(&raw(name)) {
            return Ok(None);
        }
        let way_out = if name == "status" {
            "; `kindsmith add subresource KIND status NAME:TYPE` adds it".to_owned()
        } else {
            format!(
                ", but `{}`; name another one with {}, or add it",
                fields.join("`, `"),
                argument.split(' ').next().unwrap_or(argument)
            )
        };
        Ok(Some(self.error(
            &item.ident.span().byte_range(),
            &format!("{argument}: `{structure}` has no field `{name}`{way_out}"),
        )))
    }

    /// The type of a struct's field, without `Option`, which is declared in the same file.
    fn below(&self, structure: &str, name: &str, argument: &str) -> Result<String, String> {
        let item = self.structure(structure)?;
        let field = item.fields.iter().find(|field| field.ident.as_ref().is_some_and(|ident| *ident == raw(name)));
        let Some(field) = field else { return Err(format!("{argument}: `{structure}` has no field `{name}`")) };
        let written = field.ty.to_token_stream().to_string().replace(' ', "");
        let ty = written.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')).unwrap_or(&written);
        if self.structure(ty).is_err() {
            let what = format!(
                "{argument}: `{ty}` is not declared in this file; write the argument of `#[resource(…)]` by hand"
            );
            return Err(self.error(&field.ty.span().byte_range(), &what));
        }
        Ok(ty.to_owned())
    }
}
