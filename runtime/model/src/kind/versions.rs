//! The versions of one resource: its storage version, the consistency of the versions, and conversion between them.
use std::sync::Arc;

use super::{
    Kind,
    convert::{self, Answers, Conversion, Webhook},
    definition::{Definition, Problems},
    model::Version,
};
use crate::{
    meta::version,
    schema::{self, Document, Meter},
};

/// A kind in all of its versions, exactly one of which is the storage version.
#[derive(Clone)]
pub struct Versions {
    definition: Definition,
    all: Vec<Arc<Kind>>,
    stored: usize,
}

impl Versions {
    /// The versions of one resource, in any order. What they share is what the stored one says.
    ///
    /// # Errors
    /// All that is wrong with them, and what to do about it.
    pub fn new(kinds: impl IntoIterator<Item = Kind>) -> Result<Self, Problems> {
        let kinds: Vec<Kind> = kinds.into_iter().collect();
        let Some(first) = kinds.first() else { return Err("a kind without a version".to_owned().into()) };
        let mut problems = Problems::default();
        let stored = problems.note(stored(&kinds));
        let of_all = stored.map_or(first, |stored| &kinds[stored]);
        let definition = Definition {
            shared: of_all.shared.clone(),
            storage_version: of_all.version.name.clone(),
            versions: kinds.iter().map(|kind| kind.version.clone()).collect(),
            conversion: Conversion::None,
        };
        for other in kinds.iter().filter(|other| other.shared != definition.shared) {
            problems.push(format!(
                "version {} of {} and version {} of {} differ in what the versions of a resource share (group, names, scope, \
                 whether objects are stored, grace, lifetime, roles): declare it once, or give the other resource another plural name",
                definition.storage_version,
                definition.shared.group_kind(),
                other.version.name,
                other.group_kind(),
            ));
        }
        problems.extend(definition.check().err().unwrap_or_default());
        let shared = &definition.shared;
        let shared_by_all = |kind: Kind| Arc::new(Kind::new(shared.clone(), kind.version.clone(), kind.binding));
        let all = kinds.into_iter().map(shared_by_all).collect();
        problems.or(Self { definition, all, stored: stored.unwrap_or_default() })
    }

    /// The resource as data.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The storage version, which need not be served.
    pub fn stored(&self) -> &Arc<Kind> {
        &self.all[self.stored]
    }

    /// The webhook that converts objects.
    pub fn webhook(&self) -> Option<&Arc<Webhook>> {
        self.all.iter().find_map(|kind| kind.webhook())
    }

    /// The version with the name `group/version`, served or not.
    pub fn find(&self, api_version: &str) -> Option<&Arc<Kind>> {
        self.all.iter().find(|kind| kind.group_version.is(api_version))
    }

    /// Converts an object from one version to another, and prunes it. Missing fields are only defaulted if the
    /// conversion needs that.
    ///
    /// # Errors
    /// The reason why it cannot be converted.
    pub fn convert(&self, document: Document, [from, to]: [&Kind; 2], answers: &Answers) -> Result<Document, String> {
        let stored = self.stored();
        let bare = from.write_bare(stored, document.clone(), answers);
        let bare = bare.and_then(|document| to.convert_from_stored(document, answers));
        // A webhook gets objects as they are: each question costs a call.
        bare.or_else(|why| {
            if self.webhook().is_some() {
                return Err(why);
            }
            let mut document = document;
            let meter = Meter::default();
            from.fill(&mut document, &meter)?;
            to.convert_from_stored(from.convert_to(stored, document, &meter, answers)?, answers)
        })
    }

    /// The warning in all answers of a deprecated version. Without a text of its own it names the version to use, as in
    /// kube-apiserver.
    pub fn deprecation(&self, kind: &Kind) -> Option<String> {
        let (given, name) = (kind.version.deprecated.as_ref()?, &kind.version.name);
        if *given != format!("{} {} is deprecated", kind.group_version, kind.names().kind) {
            return Some(given.clone());
        }
        let newer = self.iter().filter(|other| {
            let Version { served, deprecated, name: other, .. } = &*other.version;
            *served && deprecated.is_none() && version::by_priority(other, name).is_lt()
        });
        let newest = newer.min_by(|one, other| version::by_priority(&one.version.name, &other.version.name));
        Some(newest.map_or_else(
            || given.clone(),
            |newest| format!("{given}; use {} {}", newest.group_version, newest.names().kind),
        ))
    }

    /// All versions in the given order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Kind>> {
        self.all.iter()
    }
}

impl Kind {
    /// True if its objects are converted to the storage version and back by a webhook.
    pub fn waits(&self) -> bool {
        self.webhook().is_some()
    }

    /// True if code of this program converts its objects.
    pub fn converts_in_code(&self) -> bool {
        let conversion = self.binding.conversion.as_deref();
        conversion.is_some_and(|conversion| !conversion.is_unchanged() && conversion.webhook().is_none())
    }

    fn webhook(&self) -> Option<&Arc<Webhook>> {
        self.binding.conversion.as_ref().and_then(|conversion| conversion.webhook())
    }

    /// Converts an object of this version to the storage version: without type meta, defaulted and pruned.
    ///
    /// # Errors
    /// The reason why it cannot be converted.
    pub fn convert_to(
        &self,
        stored: &Kind,
        document: Document,
        meter: &Meter,
        answers: &Answers,
    ) -> Result<Document, String> {
        self.write_to(stored, document, answers, |stored, document| stored.fill(document, meter))
    }

    /// Converts a stored object of this version to the storage version of today: it gets this version's defaults first, if there
    /// is a meter for them.
    ///
    /// # Errors
    /// The reason why it cannot be converted.
    pub fn renew_to(
        &self,
        stored: &Kind,
        mut document: Document,
        defaults: Option<&Meter>,
        answers: &Answers,
    ) -> Result<Document, String> {
        let Some(meter) = defaults else { return self.write_bare(stored, document, answers) };
        self.fill(&mut document, meter)?;
        if self.binding.conversion.as_ref().is_none_or(|conversion| conversion.fills()) {
            return self.convert_to(stored, document, meter, answers);
        }
        self.write_bare(stored, document, answers)
    }

    /// The same without defaults.
    fn write_bare(&self, stored: &Kind, document: Document, answers: &Answers) -> Result<Document, String> {
        self.write_to(stored, document, answers, |stored, document| {
            stored.trim(document);
            Ok(())
        })
    }

    fn write_to(
        &self,
        stored: &Kind,
        document: Document,
        answers: &Answers,
        adapt: impl FnOnce(&Kind, &mut Document) -> Result<(), String>,
    ) -> Result<Document, String> {
        let Some(conversion) = &self.binding.conversion else { return Ok(document) };
        let mut document = convert::run(document, |document| conversion.write_with(document, answers))?;
        adapt(stored, &mut document)?;
        Ok(document)
    }

    /// Converts a stored object to this version: without type meta, and pruned. Nothing is defaulted, because the
    /// storage version has done that.
    ///
    /// # Errors
    /// The reason why it cannot be converted.
    pub fn convert_from_stored(&self, document: Document, answers: &Answers) -> Result<Document, String> {
        let Some(conversion) = &self.binding.conversion else { return Ok(document) };
        let mut document = convert::run(document, |document| conversion.read_with(document, answers))?;
        self.trim(&mut document);
        Ok(document)
    }

    /// Adapts an object of this version to its schema: defaults, and pruning.
    ///
    /// # Errors
    /// The limit of the meter that was exceeded.
    pub fn fill(&self, document: &mut Document, meter: &Meter) -> Result<(), String> {
        schema::default(&self.version.schema, document, meter).map_err(|exceeded| exceeded.to_string())?;
        self.trim(document);
        Ok(())
    }

    /// Prunes an object.
    pub fn trim(&self, document: &mut Document) {
        schema::prune(&self.version.schema, document);
        schema::normalise(&self.version.schema, document);
    }
}

/// Groups kinds by resource, in the order of their first versions.
pub fn by_resource(kinds: impl IntoIterator<Item = Kind>) -> Vec<Vec<Kind>> {
    let mut resources: Vec<Vec<Kind>> = Vec::new();
    for kind in kinds {
        match resources.iter_mut().find(|versions| versions[0].shared.group_resource() == kind.shared.group_resource())
        {
            Some(versions) => versions.push(kind),
            None => resources.push(vec![kind]),
        }
    }
    resources
}

/// The position of the version without a conversion to another.
fn stored(all: &[Kind]) -> Result<usize, String> {
    let mut stored = all.iter().enumerate().filter(|(_, kind)| kind.binding.conversion.is_none());
    let what = all[0].group_kind();
    let Some((position, first)) = stored.next() else {
        return Err(format!("every version of {what} is converted to another: add the version that is stored"));
    };
    match stored.next() {
        None => Ok(position),
        Some((_, second)) => Err(format!(
            "{what} would be stored in version {} and in version {}: for all versions but the stored one, say how they \
             are converted to it",
            first.version.name, second.version.name
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kind::{
        Convert,
        fixture::{gears, gears_v2},
    };

    /// A conversion that needs the shape of a gear, which has a default.
    struct ShapeConversion;

    impl Convert for ShapeConversion {
        fn write(&self, mut gear: Document) -> Result<Document, String> {
            let shape = gear["spec"]["shape"].take();
            let shape = shape.as_str().ok_or("a gear has a shape")?;
            gear["spec"] = json!({"color": shape});
            Ok(gear)
        }

        fn read(&self, gear: Document) -> Result<Document, String> {
            Ok(gear)
        }
    }

    #[test]
    fn missing_fields_are_defaulted_only_if_a_conversion_needs_it() {
        let convert = |kind: Kind, gear: Document| {
            let versions = Versions::new([gears(), kind]).unwrap();
            let [from, to] = ["example.com/v2", "example.com/v1"].map(|version| versions.find(version).unwrap());
            let gear = versions.convert(json!({"metadata": {}, "spec": gear}), [from, to], &Answers::none())?;
            Ok::<_, String>(gear["spec"].clone())
        };
        let renamed = gears_v2(&Arc::default());
        assert_eq!(convert(renamed.clone(), json!({"dents": 3})), Ok(json!({"teeth": 3})));
        let shaped = renamed.with(|_, _, binding| binding.conversion = Some(Arc::new(ShapeConversion)));
        assert_eq!(convert(shaped.clone(), json!({"shape": "oval"})), Ok(json!({"color": "oval"})));
        assert_eq!(convert(shaped.clone(), json!({})), Ok(json!({"color": "round"})));
        assert_eq!(convert(shaped, json!({"shape": 1})), Err("a gear has a shape".to_owned()));
    }
}
