//! A further version of a kind: its file, which begins as a copy, and the arguments that connect it with the storage version.

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item, ItemMod, ItemStruct, spanned::Spanned};

use super::{
    declarations::KindVersion,
    edit::{InTests, SourceFile},
    names,
};

/// Arguments that the storage version declares for all versions.
const OF_ALL_VERSIONS: [&str; 23] = [
    "group",
    "kind",
    "plural",
    "singular",
    "shortname",
    "shortnames",
    "category",
    "categories",
    "namespaced",
    "cluster",
    "names",
    "builtin",
    "policy",
    "generation",
    "update_without_version",
    "create_on_update",
    "returns_deleted",
    "on_delete",
    "holds_deletion",
    "grace_seconds",
    "lifetime",
    "roles",
    "unstored",
];

/// Arguments that a new version does not take over.
const OF_ONE_VERSION: [&str; 3] = ["version", "deprecated", "unserved"];

/// A version to be added.
pub(crate) struct Plan<'p> {
    /// The version that is copied, the storage version.
    pub from: &'p KindVersion,
    /// The name of the new version.
    pub version: &'p str,
    /// Objects are stored in it from now on.
    pub is_stored: bool,
}

/// Changes of a text at ranges.
#[derive(Default)]
struct Replacements(Vec<(Range<usize>, String)>);

impl Replacements {
    /// Replaces a range.
    fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.0.push((range, text.into()));
    }

    /// The text with the changes.
    fn applied(mut self, text: &str) -> String {
        let mut text = text.to_owned();
        self.0.sort_by_key(|(range, _)| range.start);
        for (range, new) in self.0.into_iter().rev() {
            text.replace_range(range, &new);
        }
        text
    }
}

impl Plan<'_> {
    /// The file of the new version.
    pub(crate) fn file(&self, source: &SourceFile<'_>) -> Result<String, String> {
        let mut copy = source.clone();
        let file = copy.parsed()?;
        let mut changes = Replacements::default();
        for attribute in file.attrs.iter().filter(|attribute| attribute.path().is_ident("doc")) {
            changes.replace(copy.lines(&attribute.span().byte_range()), "");
        }
        for item in &file.items {
            match item {
                // The modules in other files are not copied.
                Item::Mod(item) if item.content.is_none() => {
                    changes.replace(copy.lines(&item.span().byte_range()), "");
                }
                Item::Mod(item) => self.tests(&copy, item, &mut changes),
                item => deeper(item.to_token_stream(), &mut changes),
            }
        }
        let kind = copy.structure(&self.from.name)?;
        self.arguments_of_new(&copy, &kind, &mut changes)?;
        // Paths and manifests in tests.
        let KindVersion { group, version, .. } = self.from;
        let text =
            changes.applied(copy.text()).replace(&format!("{group}/{version}"), &format!("{group}/{}", self.version));
        copy.set_text(text);
        if !self.is_stored {
            copy.add_alias("super", &self.from.name, "Stored")?;
        }
        Ok(format!("{}\n{}", self.about(), copy.into_text().trim_start()))
    }

    /// What is said about the file at its beginning.
    fn about(&self) -> String {
        let objects = names::capital(&names::phrase(&names::plural(&self.from.name)));
        let (version, old) = (self.version, &self.from.version);
        let stored = if self.is_stored { version } else { old };
        let (here, there) = if self.is_stored { (&**old, version) } else { (version, &**old) };
        format!(
            "//! {objects} in the version {version}. Objects are stored in {stored}.\n//!\n\
             //! `#[resource(convert(…))]` on the declaration of {here} says how it differs from {there}, such as\n\
             //! `renamed(spec.new = spec.old)`, `added(spec.field)` or `removed(spec.field)`. The tests report what it omits.\n"
        )
    }

    /// The arguments of the new version.
    fn arguments_of_new(
        &self,
        source: &SourceFile<'_>,
        kind: &ItemStruct,
        changes: &mut Replacements,
    ) -> Result<(), String> {
        let version = format!("version = {:?}", self.version);
        if !self.is_stored {
            return rewrite(source, kind, &[version, "storage = Stored".to_owned()], changes, |name| {
                !OF_ALL_VERSIONS.contains(&name) && !OF_ONE_VERSION.contains(&name)
            });
        }
        rewrite(source, kind, &[format!("group = {:?}", self.from.group), version], changes, |name| {
            name != "group" && !OF_ONE_VERSION.contains(&name)
        })
    }

    /// Makes the copied version one beside the new one, in which objects are stored from now on.
    pub(crate) fn demote(&self, source: &mut SourceFile<'_>, module: &str) -> Result<(), String> {
        let KindVersion { name, version, .. } = self.from;
        let kind = source.structure(name)?;
        let first = [format!("version = {version:?}"), format!("storage = {module}::{name}")];
        let mut changes = Replacements::default();
        rewrite(source, &kind, &first, &mut changes, |name| !OF_ALL_VERSIONS.contains(&name) && name != "version")?;
        let text = changes.applied(source.text());
        source.set_text(text);
        Ok(())
    }

    /// The test that is added: an object is the same in both versions.
    fn tests(&self, source: &SourceFile<'_>, module: &ItemMod, changes: &mut Replacements) {
        let Some((brace, items)) = module.content.as_ref().filter(|_| module.ident == "tests") else { return };
        if !items.iter().any(|item| matches!(item, Item::Fn(item) if item.sig.ident == "example")) {
            return;
        }
        // It parsed a moment ago.
        let Ok(names) = source.in_tests(&names::constant(&self.from.name), &self.from.objects()) else { return };
        let end = brace.span.close().byte_range().start;
        let at = source.lines(&(end..end)).start;
        changes.replace(at..at, self.test(&names));
    }

    fn test(&self, names: &InTests) -> String {
        let (old, new) = (&self.from.version, self.version);
        let InTests { server, json, value, objects, object } = names;
        // Paths in the copy become those of the new version; this one stays.
        let other = self.from.objects().replace(&format!("/{old}/"), "/{OTHER}/");
        let one = names::one_in_test(&self.from.name);
        format!(
            r#"
    #[tokio::test]
    async fn {one}_is_the_same_in_{old}_and_{new}() {{
        const OTHER: &str = "{old}";
        let server = {server}::test().configure(crate::serve).start().await;
        let (status, created) = server.call("POST", {objects}, example()).await;
        assert_eq!(status, 201, "{{created}}");
        let path = format!("{other}/example");
        let (_, other) = server.call("GET", &path, {value}::Null).await;
        // A write in the other version loses nothing.
        let (status, other) = server.call("PATCH", &path, {json}!({{"spec": other["spec"]}})).await;
        assert_eq!(status, 200, "{{other}}");
        let (_, read) = server.call("GET", {object}, {value}::Null).await;
        assert_eq!(read["spec"], created["spec"]);
    }}
"#
        )
    }
}

/// Writes the arguments of a kind again: first these, then those of its own that are kept.
fn rewrite(
    source: &SourceFile<'_>,
    kind: &ItemStruct,
    first: &[String],
    changes: &mut Replacements,
    is_kept: impl Fn(&str) -> bool,
) -> Result<(), String> {
    let is_ours = |attribute: &&Attribute| attribute.path().is_ident("resource");
    let ours: Vec<&Attribute> = kind.attrs.iter().filter(is_ours).collect();
    for (at, attribute) in ours.iter().enumerate() {
        let range = attribute.span().byte_range();
        if source.text()[source.lines(&range)].trim() != &source.text()[range.clone()] {
            return Err(source.error(&range, "`#[resource(…)]` is not on a line of its own; run `cargo fmt`"));
        }
        let mut arguments = if at == 0 { first.to_vec() } else { Vec::new() };
        let read = source.arguments_of(attribute)?;
        let kept = read.iter().filter(|(name, _)| is_kept(name) && name != "storage" && name != "convert");
        arguments.extend(kept.map(|(_, argument)| source.text()[argument.range.clone()].to_owned()));
        let text =
            if arguments.is_empty() { String::new() } else { format!("#[resource({})]\n", arguments.join(", ")) };
        changes.replace(source.lines(&range), text);
    }
    Ok(())
}

/// Paths that begin with `super` are one module deeper in the copy.
fn deeper(tokens: TokenStream, changes: &mut Replacements) {
    let (mut follows_path, mut follows_pub) = (false, false);
    for token in tokens {
        match &token {
            TokenTree::Ident(ident) if ident == "super" && !follows_path => {
                let range = ident.span().byte_range();
                changes.replace(range.start..range.start, "super::");
            }
            // `pub(super)` stays: what only this file uses.
            TokenTree::Group(group) if !follows_pub => deeper(group.stream(), changes),
            _ => {}
        }
        follows_path = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ':');
        follows_pub = matches!(&token, TokenTree::Ident(ident) if ident == "pub");
    }
}
