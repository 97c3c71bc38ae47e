//! A controller, to copy from: it publishes sites.
//!
//! A [`Site`] owns a ConfigMap in its namespace, its page, which the garbage collector deletes with the site. It also has a
//! record in the namespace `kube-public`. Objects cannot have owners in other namespaces, so a finalizer keeps a deleted
//! site until its record is deleted. A condition in the status and an event report the result.
//!
//! [`reconciler`] is the controller, with kube-rs. The server starts it, restarts it after errors, stops it, and shows its failures
//! at `/metrics` and in `/readyz?verbose`. The same code also runs over the network.

pub mod reconciler;

use kindsmith::{ApiType, Condition, ObjectMeta, Resource, builtin::ConfigMap, meta::set_condition};
use serde::{Deserialize, Serialize};

/// The finalizer of a site, which is removed after its record is deleted.
pub const FINALIZER: &str = "example.com/record";
/// The namespace of records.
pub const PUBLIC: &str = "kube-public";
/// The label of pages, with the name of the site.
pub const LABEL: &str = "example.com/site";

/// A site to be published.
#[derive(Resource, Clone, Debug)]
#[resource(group = "example.com", version = "v1", status)]
#[resource(column("Title", path = spec.title), column("Ready", with = Site::ready))]
pub struct Site {
    /// Metadata of the site.
    pub metadata: ObjectMeta,
    /// The desired content of the site.
    pub spec: SiteSpec,
    /// The observed state of the site.
    pub status: Option<SiteStatus>,
}

/// `SiteSpec` is the content of a site.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct SiteSpec {
    /// The title of the page.
    #[api(min_length = 1)]
    pub title: String,
}

/// `SiteStatus` is the observed state of a site.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteStatus {
    /// The latest observations. `Ready` is true if the page and the record have the content of the spec.
    #[serde(default)]
    #[api(list = map(key = kind), merge)]
    pub conditions: Vec<Condition>,
}

impl Site {
    /// A site with a name and a title.
    pub fn new(name: &str, title: &str) -> Self {
        Self { metadata: ObjectMeta::named(name), spec: SiteSpec { title: title.to_owned() }, status: None }
    }

    /// The status of the condition `Ready`.
    pub fn ready(&self) -> String {
        let conditions = self.status.iter().flat_map(|status| &status.conditions);
        conditions.filter(|condition| condition.kind == "Ready").map(|condition| condition.status.clone()).collect()
    }

    /// The page, which the site owns.
    fn page(&self) -> ConfigMap {
        let mut page = ConfigMap { metadata: ObjectMeta::named(&self.metadata.name), ..ConfigMap::default() };
        page.metadata.owner_references.push(Self::controller_owner_ref(&self.metadata));
        page.metadata.labels.insert(LABEL.to_owned(), self.metadata.name.clone());
        page.data.insert("index.html".to_owned(), format!("<h1>{}</h1>", self.spec.title));
        page
    }

    /// The record in [`PUBLIC`].
    fn record(&self) -> ConfigMap {
        let ObjectMeta { namespace, name, .. } = &self.metadata;
        let mut record =
            ConfigMap { metadata: ObjectMeta::named(format!("{namespace}.{name}")), ..ConfigMap::default() };
        record.data.insert("title".to_owned(), self.spec.title.clone());
        record
    }

    /// The status of a published site.
    fn published(&self) -> SiteStatus {
        let mut status = self.status.clone().unwrap_or_default();
        let ready = Condition {
            kind: "Ready".to_owned(),
            status: "True".to_owned(),
            observed_generation: Some(self.metadata.generation),
            reason: "Published".to_owned(),
            ..Condition::default()
        };
        set_condition(&mut status.conditions, ready);
        status
    }
}
