//! The builder's settings for kinds of documents, and built-in ones.
use std::{path::PathBuf, sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

use super::Builder;
use crate::{
    builtin, codec,
    crd::{self, WebhookService},
    files::Limits,
    kind::{
        Kind,
        hook::{self, Hooks},
        policy::Custom,
    },
    schema::Document,
    server::definition_files::KindHooks,
};

impl Builder {
    /// Serves a kind given as data. [`Builder::build`] reports what is wrong with it.
    pub fn model(mut self, kind: Kind) -> Self {
        self.problems.extend(kind.version.problems(&kind.shared).iter().map(str::to_owned));
        self.entrance.samples.kinds.push(kind);
        self
    }

    /// Serves the kinds that CustomResourceDefinitions define: the text of a manifest, as YAML or JSON, or one definition as
    /// a value, such as `CustomResourceExt::crd()` of the crate `kube` gives. See [`crd`].
    ///
    /// [`Builder::build`] returns the errors of the definitions. Warnings are logged.
    ///
    #[doc = include_str!("../docs/crd.md")]
    pub fn crd(mut self, manifest: impl Serialize) -> Self {
        match crd::of_value(&manifest) {
            Ok(manifest) => {
                manifest.warnings.0.iter().for_each(|warning| tracing::warn!("{warning}"));
                let kinds = manifest.definitions.iter().flat_map(|defined| defined.definition.kinds(&Custom));
                self.entrance.samples.kinds.extend(kinds);
            }
            Err(report) => self.problems.push(report.to_string()),
        }
        self
    }

    /// Finds the addresses of services that convert objects (`conversion.webhook.clientConfig.service`), and of services of
    /// [`APIService`](builtin::APIService)s: a host and a port, such as `10.0.0.7:9443`. For `None`, and without this, DNS resolves `NAME.NAMESPACE.svc`. The certificate must be for
    /// `NAME.NAMESPACE.svc` in any case.
    pub fn webhook_services(
        mut self,
        find: impl Fn(&WebhookService) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.core.webhook_resolver = Some(Arc::new(find));
        self
    }

    /// Adds [`Hooks`] to a kind that a manifest or a document defines, in one of its versions, such as `example.com/v1`. The type
    /// that its objects are decoded into need not have all of their fields: the others are kept.
    ///
    /// [`Builder::build`] returns an error if nothing defines the kind.
    pub fn hooks<T>(mut self, api_version: impl Into<String>, kind: impl Into<String>, hooks: impl Hooks<T>) -> Self
    where
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        self.definition_files.hooks.push(KindHooks::new(api_version.into(), kind.into(), hook::on_documents(hooks)));
        self
    }

    /// Serves the kinds that an OpenAPI v3 document describes: its text, as JSON or YAML, or the document as a value. Versions
    /// of a kind may be in several documents. See [`openapi`](crate::openapi).
    ///
    /// If a document describes a built-in kind, or one that the program declares, that kind is served instead, which is
    /// logged. [`Builder::build`] returns the errors of the documents. Warnings are logged.
    pub fn openapi(mut self, document: impl Serialize) -> Self {
        match codec::from_typed(&document) {
            Ok(Document::String(text)) => self.document(text),
            Ok(document) => self.document(document.to_string()),
            Err(error) => self.problems.push(format!("no OpenAPI document: {error}")),
        }
        self
    }

    fn document(&mut self, text: String) {
        let documents = &mut self.definition_files.documents;
        documents.push((format!("document {}", documents.len() + 1), text.into_bytes()));
    }

    /// Serves the API of Kubernetes 1.36: all its kinds in all its versions, with columns, selectable fields and Protobuf, and without
    /// nodes and controllers: nothing runs, and what a controller would create or report stays undone. Built-in kinds and those
    /// that the program declares are served in place of the same ones of Kubernetes.
    ///
    /// Descriptions are left out, since they are Kubernetes' own text: `kubectl explain` shows fields alone.
    #[cfg(feature = "kubernetes")]
    pub fn kubernetes(mut self) -> Self {
        self.definition_files.kubernetes.is_served = true;
        self.complete_kubernetes()
    }

    /// Adds to the documents of Kubernetes' own kinds, of whichever version, what they do not say: columns, selectable fields, the defaults and
    /// checks that kube-apiserver has in code, and the numbers of fields in Protobuf, unless there are Protobuf definitions. Overlays of
    /// the program count after these.
    #[cfg(feature = "kubernetes")]
    pub fn complete_kubernetes(mut self) -> Self {
        self.definition_files.kubernetes.completes = true;
        self
    }

    /// Serves the kinds that files define: manifests of CustomResourceDefinitions, and OpenAPI v3 documents with discovery
    /// documents, overlays and Protobuf definitions beside them. Of folders, all files are read that end in `.yaml`, `.yml`, `.json` or `.proto`. Files are
    /// read again within a few seconds after a change, and at once after SIGHUP. If one is broken then, the log says where, and
    /// what it defined before is served on. The objects of a kind that is no longer defined stay in the store.
    pub fn definition_files(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.definition_files.paths.extend(paths.into_iter().map(Into::into));
        self
    }

    /// The size in bytes up to which files of definitions are read, 16 MiB if nothing is said. All files together may be sixteen
    /// times as large.
    pub fn max_definition_file(mut self, bytes: u64) -> Self {
        self.definition_files.limits = Limits::of_file(bytes);
        self.installed.limits = Limits::of_file(bytes);
        self
    }

    /// Serves `CustomResourceDefinition` of `apiextensions.k8s.io/v1`, and the kinds that its objects define. Kinds that are declared
    /// otherwise keep their names: a definition that uses one of them is stored, and its conditions say why it is not served.
    ///
    /// Rules in CEL are compiled with the definition, and evaluated on each write of its objects.
    pub fn definitions(mut self) -> Self {
        if std::mem::replace(&mut self.core.definitions, true) { self } else { self.model(builtin::definition_kind()) }
    }

    /// Creates the CustomResourceDefinitions in files and folders when the server starts, as `kubectl apply` does, and changes those that
    /// are there already. Unlike those of [`Builder::definition_files`] they are objects, which clients see, change and delete; the server
    /// has [`Builder::definitions`]. A file that changes is read again within a few seconds; a definition that is gone from its file stays.
    ///
    /// [`Builder::build`] returns an error if a file is wrong or has no definition, and if a definition is refused.
    pub fn install_definitions(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.installed.paths.extend(paths.into_iter().map(Into::into));
        if self.installed.paths.is_empty() { self } else { self.definitions() }
    }

    /// Serves `APIService` of `apiregistration.k8s.io/v1`: requests to the group and version of one with a service go on to that
    /// server, with the user in `X-Remote-` headers, and its group is part of discovery. The services are found as those that
    /// convert objects are: see [`Builder::webhook_services`].
    ///
    #[doc = include_str!("../docs/aggregation.md")]
    pub fn aggregation(mut self) -> Self {
        self.core.aggregation = true;
        self.kind::<builtin::APIService>()
    }

    /// Serves no built-in kinds, for programs that embed the server for their own kinds.
    ///
    /// Without Namespace, namespaces are only names: an object may be in any namespace, and namespaces are neither
    /// created nor deleted. `.kind::<builtin::Namespace>()` serves only that kind, including `default` and the other
    /// permanent namespaces.
    pub fn without_builtins(mut self) -> Self {
        self.core.without_builtins = true;
        self
    }

    /// How long an Event lives after its last write, in both groups that serve it: one hour by default, like
    /// kube-apiserver's `--event-ttl`. Zero keeps Events until they are deleted.
    pub fn event_lifetime(mut self, lifetime: Duration) -> Self {
        self.core.event_lifetime = Some(lifetime);
        self
    }
}
