//! Admission: plugins that may change or refuse requests between decoding and storing.
use std::{future::ready, sync::Arc};

use super::{Error, Request, Verbs, waiting::Permits};
use crate::{
    auth::User,
    meta::{
        GroupVersion, Operation,
        options::{DeleteOptions, WriteOptions},
        refusal::{Refusal, Result},
    },
    schema::Document,
};

/// What a plugin of admission decides about.
pub struct Attributes<'a> {
    /// What the request does to the object.
    pub operation: Operation,
    /// The group of the resource.
    pub group: &'a str,
    /// The version of the resource.
    pub version: &'a str,
    /// The plural of the resource.
    pub resource: &'a str,
    /// The subresource; empty for the object itself.
    pub subresource: &'a str,
    /// The group and version of the admitted object, such as `autoscaling/v1` of a Scale.
    pub object_version: &'a GroupVersion,
    /// The kind of the admitted object.
    pub kind: &'a str,
    /// The namespace; empty for cluster-scoped kinds.
    pub namespace: &'a str,
    /// The name; empty for a new object whose name will be generated.
    pub name: &'a str,
    /// The object before the request, for updates and deletions. `None` for the forced deletion of one that cannot be read.
    pub old: Option<&'a Document>,
    /// The options of the request.
    pub options: Options<'a>,
    /// The requesting user.
    pub user: &'a Arc<User>,
    /// True if nothing will be stored.
    pub dry_run: bool,
    pub(crate) api: &'a Verbs,
    pub(super) request: &'a Request,
    /// What the request holds that others wait for.
    pub(super) permits: Permits<'a>,
}

/// The options of an admitted request.
#[derive(Clone, Copy, Debug)]
pub enum Options<'a> {
    /// Those of a creation or an update.
    Write(&'a WriteOptions),
    /// Those of a deletion.
    Delete(&'a DeleteOptions),
    /// A connection has only `dryRun`; its parameters are the admitted object.
    Connect,
}

impl Options<'_> {
    fn dry_run(self) -> bool {
        match self {
            Self::Write(options) => options.dry_run,
            Self::Delete(options) => options.dry_run,
            Self::Connect => false,
        }
    }

    /// The field manager of a write.
    pub(crate) fn manager(&self) -> &str {
        match self {
            Self::Write(options) => options.manager(),
            Self::Delete(_) | Self::Connect => "unknown",
        }
    }
}

impl<'a> Attributes<'a> {
    /// The attributes of a request whose object has this version and kind.
    pub(super) fn new(
        api: &'a Verbs,
        request: &'a Request,
        (object_version, kind): (&'a GroupVersion, &'a str),
        (operation, options): (Operation, Options<'a>),
        (name, old): (&'a str, Option<&'a Document>),
    ) -> Self {
        let served = &*request.resource.kind;
        let GroupVersion { group, version } = &served.group_version;
        Self {
            operation,
            group,
            version,
            resource: &served.names().plural,
            subresource: &request.subresource,
            object_version,
            kind,
            namespace: &request.namespace,
            name,
            old,
            options,
            user: &request.user,
            dry_run: options.dry_run(),
            api,
            request,
            permits: request.permits(),
        }
    }

    /// Warns the client, whether the request succeeds or not. kubectl prints warnings.
    pub fn warn(&self, text: impl Into<String>) {
        self.request.warnings.add(text);
    }

    /// The error of a plugin, about the requested object.
    pub(super) fn refused(&self, refusal: Refusal) -> Error {
        Error::refused(refusal, &self.request.resource.kind, self.name)
    }
}

/// When a plugin changes an object again, as in Kubernetes' webhooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReinvocationPolicy {
    /// Once for each request.
    #[default]
    Never,
    /// Once more if a later plugin has changed the object.
    IfNeeded,
}

/// A plugin of admission. First all plugins may change the object, in order; then fields that the request may not change
/// are reset, and the object is validated; then all plugins may refuse the result. A plugin may wait: other requests go on
/// meanwhile. If the object has changed by then, a patch is tried again, so that one request may call a plugin several
/// times. A panic answers with 500.
///
/// Plugins decide about creations and updates of objects and their subresources (for `scale` the object is the Scale), the
/// bodies of handlers' subresources and virtual kinds, deletions (also of each object of a collection), and connections.
///
/// ```
/// use kindsmith::{Server, admission::{Admission, Attributes, Document, Operation}};
/// use kindsmith::{builtin::ConfigMap, handlers::{Refusal, Result}};
///
/// /// Keeps objects that the config map `protected` in their namespace names.
/// struct Protected;
///
/// impl Admission for Protected {
///     fn handles(&self, operation: Operation) -> bool {
///         operation == Operation::Delete
///     }
///
///     async fn validate(&self, attributes: &Attributes<'_>, _: &Document) -> Result<()> {
///         let maps = attributes.client().of::<ConfigMap>(attributes.namespace);
///         match maps.get("protected").await {
///             Ok(map) if map.data.contains_key(attributes.name) => Err(Refusal::forbidden("it is protected")),
///             _ => Ok(()),
///         }
///     }
/// }
///
/// let server = Server::builder().admission(Protected).memory();
/// ```
pub trait Admission: Send + Sync + 'static {
    /// Its name in metrics and messages: that of its type, unless it says otherwise.
    fn name(&self) -> &str {
        std::any::type_name::<Self>().rsplit("::").next().unwrap_or_default()
    }

    /// True if the plugin decides about an operation.
    fn handles(&self, operation: Operation) -> bool {
        let _ = operation;
        true
    }

    /// True if the plugin changes something besides the object. A dry run of an operation that it handles is then refused
    /// with 400.
    fn has_side_effects(&self) -> bool {
        false
    }

    /// When the plugin changes an object again.
    fn reinvocation_policy(&self) -> ReinvocationPolicy {
        ReinvocationPolicy::Never
    }

    /// May change the object or refuse the request. Of a deletion the object is null, and of a connection it is the
    /// parameters, with their defaults. Unknown fields are dropped and declared defaults are set afterwards, and the result
    /// is validated.
    ///
    /// # Errors
    /// Why the request is refused.
    fn admit(&self, attributes: &Attributes<'_>, object: &mut Document) -> impl Future<Output = Result<()>> + Send {
        let _ = (attributes, object);
        ready(Ok(()))
    }

    /// May refuse the request, for the object as it will be stored.
    ///
    /// # Errors
    /// Why the request is refused.
    fn validate(&self, attributes: &Attributes<'_>, object: &Document) -> impl Future<Output = Result<()>> + Send {
        let _ = (attributes, object);
        ready(Ok(()))
    }
}

impl<P: Admission> Admission for Arc<P> {
    fn name(&self) -> &str {
        P::name(self)
    }

    fn handles(&self, operation: Operation) -> bool {
        P::handles(self, operation)
    }

    fn has_side_effects(&self) -> bool {
        P::has_side_effects(self)
    }

    fn reinvocation_policy(&self) -> ReinvocationPolicy {
        P::reinvocation_policy(self)
    }

    async fn admit(&self, attributes: &Attributes<'_>, object: &mut Document) -> Result<()> {
        P::admit(self, attributes, object).await
    }

    async fn validate(&self, attributes: &Attributes<'_>, object: &Document) -> Result<()> {
        P::validate(self, attributes, object).await
    }
}
