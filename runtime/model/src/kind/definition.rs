//! A whole resource, as data: the properties that its versions share, the versions, and the storage version. One check
//! reports all errors.
use std::{fmt, sync::Arc};

use super::{
    Binding, Convert, Kind, Policy, Versions,
    convert::{ByWebhook, Conversion, Unchanged},
    model::{Shared, Version},
};
use crate::meta::GroupVersion;

/// All errors of a declaration, one per line, each with its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<String>);

impl Problems {
    /// Notes an error.
    pub fn push(&mut self, problem: impl Into<String>) {
        self.0.push(problem.into());
    }

    /// Notes all errors of another list.
    pub fn extend(&mut self, problems: Self) {
        self.0.extend(problems.0);
    }

    /// The value, or `None` for an error, which is noted.
    pub fn note<T>(&mut self, result: Result<T, String>) -> Option<T> {
        result.map_err(|problem| self.push(problem)).ok()
    }

    /// The value, if no error was noted.
    ///
    /// # Errors
    /// The noted errors.
    pub fn or<T>(self, value: T) -> Result<T, Self> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }

    /// One by one.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl From<String> for Problems {
    fn from(problem: String) -> Self {
        Self(vec![problem])
    }
}

impl FromIterator<String> for Problems {
    fn from_iter<I: IntoIterator<Item = String>>(problems: I) -> Self {
        Self(problems.into_iter().collect())
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for Problems {}

impl From<Problems> for String {
    fn from(problems: Problems) -> Self {
        problems.to_string()
    }
}

/// A resource in all of its versions.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The properties that the versions share.
    pub shared: Arc<Shared>,
    /// The name of the version in which objects are stored; it need not be served.
    pub storage_version: String,
    /// The versions, in the order in which they were given.
    pub versions: Vec<Arc<Version>>,
    /// How objects are converted between the versions.
    pub conversion: Conversion,
}

impl Definition {
    /// The resource whose versions are these kinds.
    ///
    /// # Errors
    /// If they are not the versions of one resource.
    ///
    /// ```
    /// # extern crate kindsmith_model as kindsmith;
    /// use kindsmith::{ApiType, ObjectMeta, Resource, kind::Definition};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Resource, Clone, Debug)]
    /// # #[resource(group = "library.example.com", version = "v1")]
    /// # pub struct Book { pub metadata: ObjectMeta, pub spec: BookSpec }
    /// # #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
    /// # pub struct BookSpec { pub genre: String }
    ///
    /// let definition = Definition::of(vec![Book::kind()]).map_err(|problems| problems.to_string())?;
    /// assert_eq!(definition.shared.names.plural, "books");
    /// # Ok::<_, String>(())
    /// ```
    pub fn of(versions: Vec<Kind>) -> Result<Self, Problems> {
        Versions::new(versions).map(|versions| versions.definition().clone())
    }

    /// The kind in each of its versions, with this policy and no code of its own.
    pub fn kinds(&self, policy: &'static dyn Policy) -> Vec<Kind> {
        let kind = |version: &Arc<Version>| {
            let conversion = (!self.stores(version)).then(|| self.conversion_of(version));
            Kind::new(self.shared.clone(), version.clone(), Binding { conversion, ..Binding::new(policy) })
        };
        self.versions.iter().map(kind).collect()
    }

    /// The same with `immutable` in place of the rules that say so, as declarations in Rust have it.
    #[must_use]
    pub fn with_immutable(mut self) -> Self {
        for version in self.versions.iter_mut().filter(|version| version.schema.has_rules()) {
            let mut schema = version.schema.with_immutable();
            schema.keep_root_changeable();
            Arc::make_mut(version).schema = schema.into();
        }
        self
    }

    /// True for the storage version.
    pub fn stores(&self, version: &Version) -> bool {
        version.group.is_none() && version.name == self.storage_version
    }

    /// The groups that it is served in, its own first.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        let others = self.versions.iter().filter_map(|version| version.group.as_deref());
        std::iter::once(self.shared.group.as_str()).chain(others)
    }

    fn conversion_of(&self, version: &Version) -> Arc<dyn Convert> {
        let Conversion::Webhook(webhook) = &self.conversion else { return Arc::new(Unchanged { fills: false }) };
        Arc::new(ByWebhook {
            webhook: webhook.clone(),
            definition: self.shared.group_resource().to_string().into(),
            kind: self.shared.names.kind.clone(),
            here: version.group_version(&self.shared),
            stored: GroupVersion { group: self.shared.group.clone(), version: self.storage_version.clone() },
        })
    }

    /// Finds what is wrong, except in the schemas: each front end has rules for these.
    ///
    /// # Errors
    /// All problems.
    pub fn check(&self) -> Result<(), Problems> {
        let mut all = Problems::default();
        self.problems().into_iter().for_each(|(_, problem)| all.push(problem));
        all.or(())
    }

    /// The problems that [`check`](Self::check) reports, each with the index of its version if it is about one.
    pub fn problems(&self) -> Vec<(Option<usize>, String)> {
        let mut all = self.wrong_names();
        if !all.is_empty() {
            // The other messages name what they are about.
            return all;
        }
        let what = self.shared.group_kind();
        for (position, version) in self.versions.iter().enumerate() {
            let name = &version.name;
            let is_same = |other: &Arc<Version>| (&other.name, &other.group) == (name, &version.group);
            if self.versions[..position].iter().any(is_same) {
                all.push((Some(position), format!("{what} is declared twice in version {name}: leave one out")));
            }
        }
        if !self.versions.iter().any(|version| self.stores(version)) {
            let stored = &self.storage_version;
            let problem = format!(
                "{what} is to be stored in version {stored}, which it does not have: add it, or store another one"
            );
            all.push((None, problem));
        }
        if !self.versions.iter().any(|version| version.served) {
            all.push((None, format!("no version of {what} is served: serve one at least")));
        }
        all
    }
}

impl Version {
    /// The group and version in which it is served.
    pub fn group_version(&self, shared: &Shared) -> GroupVersion {
        let group = self.group.as_ref().unwrap_or(&shared.group);
        GroupVersion { group: group.clone(), version: self.name.clone() }
    }

    /// The errors of its schema, if it is declared in Rust or given as data.
    pub fn problems(&self, shared: &Shared) -> Problems {
        let mut problems = Problems::default();
        for problem in self.schema.check().err().unwrap_or_default() {
            problems.push(format!("the schema of {} in {} is wrong: {problem}", shared.group_kind(), self.name));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        kind::{
            Versions,
            fixture::{gears, gears_v2},
            model::Scope,
            policy::Custom,
        },
        schema::{Schema, fixture::schema},
    };

    fn definition(change: impl FnOnce(&mut Shared, &mut Version)) -> Definition {
        let changed = gears_v2(&Arc::default()).with(|shared, version, _| change(shared, version));
        let gears = gears().with(|shared, _, _| *shared = (*changed.shared).clone());
        Versions::new([gears, changed]).unwrap().definition().clone()
    }

    #[test]
    fn definitions_of_the_same_declaration_are_equal_and_those_of_another_are_not() {
        let same = definition(|_, _| ());
        assert_eq!(same, definition(|_, _| ()));
        assert_eq!(same, same.clone());
        let others: [fn(&mut Shared, &mut Version); 6] = [
            |shared, _| shared.scope = Scope::Cluster,
            |shared, _| shared.names.short_names.push("g".to_owned()),
            |_, version| version.served = false,
            |_, version| version.columns.truncate(1),
            |_, version| version.status = false,
            |_, version| {
                let mut schema = Schema::clone(&version.schema);
                schema.properties.get_mut("spec").unwrap().description.push('.');
                version.schema = schema.into();
            },
        ];
        for (number, change) in others.into_iter().enumerate() {
            assert_ne!(same, definition(change), "{number}");
        }
    }

    #[test]
    fn everything_that_is_wrong_is_reported_at_once_and_where() {
        let kind = || gears().with(|_, version, _| version.served = false);
        let elsewhere = gears_v2(&Arc::default()).with(|shared, version, _| {
            shared.scope = Scope::Cluster;
            version.served = false;
        });
        let Err(problems) = Versions::new([kind(), kind(), elsewhere]) else { panic!("not refused") };
        let lines: Vec<&str> = problems.iter().collect();
        let expected = [
            "Gear.example.com would be stored in version v1 and in version v1",
            "version v1 of Gear.example.com and version v2 of Gear.example.com differ in what the versions",
            "Gear.example.com is declared twice in version v1",
            "no version of Gear.example.com is served",
        ];
        assert_eq!(lines.len(), expected.len(), "{problems}");
        for (line, expected) in lines.iter().zip(expected) {
            assert!(line.starts_with(expected), "{line}");
        }
        assert_eq!(problems.to_string().lines().count(), expected.len(), "a line each");
    }

    #[test]
    fn everything_that_is_wrong_with_a_schema_is_reported() {
        let wrong = json!({"type": "object", "properties": {"spec": {"type": "array"}, "status": {"type": "array"}}});
        let gears = gears().with(|_, version, _| version.schema = schema(&wrong).into());
        let problems = gears.version.problems(&gears.shared);
        let lines: Vec<&str> = problems.iter().collect();
        let of =
            |field: &str| format!("the schema of Gear.example.com in v1 is wrong: {field}: a list declares its items");
        assert_eq!(lines, ["spec", "status"].map(of));
    }

    #[test]
    fn a_definition_without_code_is_served_in_all_of_its_versions() {
        let definition = definition(|_, _| ());
        let kinds = definition.kinds(&Custom);
        let converted: Vec<_> =
            kinds.iter().map(|kind| (kind.group_version.to_string(), kind.binding.conversion.is_some())).collect();
        assert_eq!(converted, [("example.com/v1".to_owned(), false), ("example.com/v2".to_owned(), true)]);
        assert_eq!(*Versions::new(kinds).unwrap().definition(), definition);
    }

    #[test]
    fn the_version_that_is_stored_is_one_of_the_versions() {
        let stray = Definition { storage_version: "v9".to_owned(), ..definition(|_, _| ()) };
        let problems = stray.check().unwrap_err().to_string();
        assert_eq!(
            problems,
            "Gear.example.com is to be stored in version v9, which it does not have: add it, or store another one"
        );
    }
}
