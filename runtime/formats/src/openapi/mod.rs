//! OpenAPI v3 documents, as Kubernetes publishes them, as [`Definition`]s: one for each resource, with the versions that
//! the documents have of it.
//!
//! The documents are read as JSON values rather than by the types of the crate `openapiv3`, which drop keywords that they
//! do not know, and stop at the first value of a wrong type. Here, everything that is wrong is reported at once with its
//! place, and so is everything that has no effect.
//!
//! Kinds, verbs and subresources are read from the paths, by `x-kubernetes-group-version-kind` and
//! `x-kubernetes-action`; their schemas from `components/schemas`. What documents do not say is what Kubernetes' kinds
//! have in common: the paths of a scale are `spec.replicas` and `status.replicas`, if an overlay does not name others, and a kind whose status has an
//! `observedGeneration` counts generations.
//!
//! Documents do not say the numbers of fields either. Protobuf definitions in proto2 or proto3 beside them do, by messages named
//! like schemas, such as `k8s.io.api.apps.v1.Deployment` for `io.k8s.api.apps.v1.Deployment`. Kinds all of whose fields have numbers
//! are served in Protobuf, too.

mod bodies;
mod components;
mod defaults;
mod description;
mod discovery;
mod documents;
mod findings;
#[cfg(feature = "schemars")]
pub(crate) mod json_schema;
mod members;
mod messages;
pub mod overlay;
mod paths;
mod resources;
mod schema;
#[cfg(test)]
mod tests;
mod validations;

use std::{collections::BTreeMap, fmt, sync::Arc};

use self::{
    components::{Components, Pool},
    discovery::DiscoveryIndex,
    documents::{decode, resources_of},
    findings::{Finding, Findings, Location},
    resources::{ReadVersion, Reader},
};
use crate::{
    codec::yaml,
    crd::{Entry, Report},
    kind::{
        Definition, Kind, Policy,
        budget::Usage,
        convert::Conversion,
        write_rules::{Expressions, WriteRules},
    },
    meta::version,
    schema::Document,
};

use self::messages::Messages;
pub use self::{
    description::{Descriptions, describe},
    documents::is_document,
    overlay::Overlay,
};

/// A file to read: an OpenAPI v3 document, a discovery document, an [overlay], or Protobuf definitions.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Source<'t> {
    /// Its name, for messages.
    pub name: &'t str,
    /// Its content: JSON or YAML.
    pub text: &'t [u8],
}

impl<'t> Source<'t> {
    /// A file of this name and content.
    pub fn new(name: &'t str, text: &'t [u8]) -> Self {
        Self { name, text }
    }
}

/// The resources that documents describe.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Described {
    /// The resources, by group and plural.
    pub resources: Vec<Resource>,
    /// The overlays, which the resources already follow; for resources from elsewhere.
    pub overlays: Vec<Overlay>,
    /// The messages of Protobuf definitions, which the resources already follow.
    messages: Messages,
    /// The warnings: parts of documents without effect.
    pub warnings: Report,
}

impl Described {
    /// The files that are missing beside documents of Kubernetes' own kinds, and what does not work without them.
    pub fn lacks(&self) -> Option<String> {
        let of_kubernetes = self.resources.iter().filter(|resource| resource.policy.has_routes());
        let count = of_kubernetes.count();
        let protobuf = "the Protobuf definitions (.proto files), without which bodies in Protobuf are refused, as `kubectl create \
                        deployment` sends them";
        let overlay = "an overlay, without which columns, field selectors and scales are missing";
        let missing = [(self.messages.is_empty(), protobuf), (self.overlays.is_empty(), overlay)];
        let missing: Vec<_> = missing.iter().filter(|(is_missing, _)| *is_missing).map(|(_, what)| *what).collect();
        (count > 0 && !missing.is_empty()).then(|| {
            let missing = missing.join("; and ");
            format!(
                "{count} kinds of Kubernetes itself are served by OpenAPI documents alone. Missing is {missing}. `kindsmith serve` \
                 adds them, as does `Builder::complete_kubernetes`"
            )
        })
    }

    /// Adds what overlays and Protobuf definitions say to a resource from a manifest, and returns warnings.
    ///
    /// # Errors
    /// What contradicts the Protobuf definitions, with their lines.
    pub fn complete(&self, definition: &mut Definition) -> Result<Report, Report> {
        self.overlays.iter().for_each(|overlay| overlay.apply(definition));
        self.messages.apply(definition)
    }

    /// The resource of a manifest, with the rules for writes that overlays declare.
    pub fn resource(&self, definition: Definition, policy: &'static dyn Policy) -> Resource {
        let mut resource = Resource::new(definition, policy);
        resource.declare_rules(&self.overlays);
        resource
    }
}

/// A resource that documents describe.
#[derive(Clone)]
pub struct Resource {
    /// The group, names, versions and schemas.
    pub definition: Definition,
    /// How it is served where kinds differ: like the kinds compiled into Kubernetes if it is one of them, and otherwise
    /// like custom resources.
    pub policy: &'static dyn Policy,
    /// The rules for writes that overlays declare, for each version that has some.
    pub write_rules: BTreeMap<String, Arc<WriteRules>>,
    /// The document of each version, by its index among the files that were read; empty for a resource from elsewhere.
    pub documents: Vec<usize>,
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resource({})", self.definition.shared.group_resource())
    }
}

impl Resource {
    fn new(definition: Definition, policy: &'static dyn Policy) -> Self {
        Self { definition, policy, write_rules: BTreeMap::new(), documents: Vec::new() }
    }

    /// Adds the rules for writes of overlays.
    fn declare_rules(&mut self, overlays: &[Overlay]) {
        for version in &self.definition.versions {
            let mut rules = WriteRules::default();
            for overlay in overlays {
                rules.append(overlay.write_rules(&self.definition.shared, &version.name));
            }
            if !rules.is_empty() {
                self.write_rules.insert(version.name.clone(), rules.into());
            }
        }
    }

    /// The kind in each of its versions. Between versions, only `apiVersion` differs.
    pub fn kinds(&self) -> Vec<Kind> {
        let mut kinds = self.definition.kinds(self.policy);
        for kind in &mut kinds {
            if let Some(rules) = self.write_rules.get(&kind.version.name) {
                kind.binding.add_hooks(rules.clone());
            }
        }
        kinds
    }
}

/// Reads files, which together describe an API: OpenAPI documents, discovery documents beside them, and overlays. Versions of one resource, in one document or several, become one
/// definition, which is stored in the version of highest priority.
///
/// # Errors
/// Everything that is wrong with them.
pub fn read(sources: &[Source<'_>]) -> Result<Described, Report> {
    let mut findings = Findings::default();
    let (mut messages, mut decoded) = (Messages::default(), Vec::new());
    for (index, source) in sources.iter().enumerate() {
        if Messages::is_one(source.text) {
            messages.read((source.name, source.text), index, &mut findings);
            decoded.push(None);
        } else {
            decoded.push(decode(index, source, &mut findings));
        }
    }
    let (mut pool, mut versions) = (Pool::with(messages), Vec::new());
    for (index, document) in decoded.iter().enumerate() {
        if let Some(document) = document
            && !DiscoveryIndex::is_one(document)
            && !Overlay::is_one(document)
        {
            read_document(index, document, &mut pool, &mut findings, &mut versions);
        }
    }
    let unscaled = versions.iter().filter_map(|read| {
        let pointer = read.unscaled.clone()?;
        Some((read.shared.group_resource(), read.version.name.clone(), read.document, pointer))
    });
    let unscaled: Vec<_> = unscaled.collect();
    let mut resources = merge(versions, &mut findings);
    let (mut discovery_index, mut overlays) = (DiscoveryIndex::default(), Vec::new());
    let mut expressions = Expressions::default();
    for (index, document) in decoded.iter().enumerate().filter_map(|(index, of)| Some((index, of.as_ref()?))) {
        if DiscoveryIndex::names_in(document) {
            discovery_index.read(document, &Location::of(index), &mut findings);
        } else if Overlay::is_one(document) {
            overlays.push(Overlay::of(document, &Location::of(index), &mut expressions, &mut findings));
        }
    }
    for resource in &mut resources {
        discovery_index.apply(resource, &mut findings);
        for overlay in &overlays {
            overlay.apply(&mut resource.definition);
        }
        resource.declare_rules(&overlays);
    }
    for (of, version, document, pointer) in unscaled {
        let mut read = resources.iter().filter(|resource| resource.definition.shared.group_resource() == of);
        let has_scale = read.any(|of| of.definition.versions.iter().any(|of| of.name == version && of.scale.is_some()));
        if !has_scale {
            let message = "the scale is not served: the kind has no spec.replicas and status.replicas, and no overlay \
                           names its paths";
            findings.warning(&Location::known(document, &pointer), message);
        }
    }
    discovery_index.warn_of_unused(&mut findings);
    let report = |findings| Report(entries(sources, findings));
    if findings.errors.is_empty() {
        Ok(Described { resources, overlays, messages: pool.messages, warnings: report(findings.warnings) })
    } else {
        Err(report(findings.errors))
    }
}

fn read_document<'d>(
    index: usize,
    document: &'d Document,
    pool: &mut Pool<'d>,
    findings: &mut Findings,
    versions: &mut Vec<ReadVersion>,
) {
    let resources = resources_of(index, document, findings);
    let mut components = Components::of(index, document, pool, findings);
    let mut reader = Reader::new(&mut components, pool, findings);
    versions.extend(resources.iter().filter_map(|((at, plural), resource)| reader.version(at, plural, resource)));
}

/// Puts the versions of each resource together.
fn merge(versions: Vec<ReadVersion>, findings: &mut Findings) -> Vec<Resource> {
    let mut resources: BTreeMap<(String, String), Vec<ReadVersion>> = BTreeMap::new();
    for read in versions {
        let key = (read.shared.group.clone(), read.shared.names.plural.clone());
        resources.entry(key).or_default().push(read);
    }
    resources.into_values().map(|versions| resource(versions, findings)).collect()
}

fn resource(mut versions: Vec<ReadVersion>, findings: &mut Findings) -> Resource {
    versions.sort_by(|a, b| version::by_priority(&a.version.name, &b.version.name));
    let stored = &versions[0];
    let mut error = |of: &ReadVersion, message: String| {
        findings.error(&Location::known(of.document, &of.pointer), message);
    };
    for other in &versions[1..] {
        if other.shared != stored.shared {
            let message = format!(
                "{} in version {} differs from version {} in its scope, its kind, the kind of its lists, or in whether \
                 objects are stored: versions of a resource have these in common",
                other.shared.group_resource(),
                other.version.name,
                stored.version.name,
            );
            error(other, message);
        }
    }
    let definition = Definition {
        shared: Arc::new(stored.shared.clone()),
        storage_version: stored.version.name.clone(),
        versions: versions.iter().map(|read| Arc::new(read.version.clone())).collect(),
        conversion: Conversion::None,
    };
    for (version, problem) in definition.problems() {
        error(version.map_or(stored, |index| &versions[index]), problem);
    }
    for excess in Usage::of(&definition).excess() {
        error(stored, excess.to_string());
    }
    for read in &versions {
        for problem in read.version.problems(&definition.shared).iter() {
            error(read, problem.to_owned());
        }
    }
    let documents = versions.iter().map(|read| read.document).collect();
    Resource { documents, ..Resource::new(definition, stored.policy) }
}

/// Findings with the lines of their files.
fn entries(sources: &[Source<'_>], findings: Vec<Finding>) -> Vec<Entry> {
    let mut lines = BTreeMap::new();
    let entry = |Finding { document, pointer, line, message }| {
        let source: &Source<'_> = &sources[document];
        let line = line.unwrap_or_else(|| {
            let lines = lines.entry(document).or_insert_with(|| {
                let text = std::str::from_utf8(source.text).unwrap_or_default();
                yaml::Lines::new(text)
            });
            lines.of(&pointer)
        });
        Entry { source: source.name.to_owned(), document: 1, line, pointer, message }
    };
    findings.into_iter().map(entry).collect()
}
