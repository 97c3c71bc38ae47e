//! Custom subresources of a kind: their handlers by method, and the adapters between the handlers' types and documents.
use std::{marker::PhantomData, sync::Arc};

use super::{Forward, HandlerFuture, Object, Parent, Reply, Result, Session, Text, decode, encode, parent::Target};
use crate::{
    kind::{
        Kind,
        endpoint::{Answer, Body, DocumentSchema, Operation, Verb},
    },
    meta::GroupVersion,
    schema::{Document, Schema},
};

/// A handler that computes a document from the parent.
pub(crate) type Read = Arc<dyn Fn(Target) -> HandlerFuture<Document> + Send + Sync>;
/// A handler that takes a document. It may return one; otherwise the answer is a Status.
pub(crate) type Take = Arc<dyn Fn(Target, Document) -> HandlerFuture<Option<Document>> + Send + Sync>;

/// A handler that takes options, and returns a stream or a connection.
pub(crate) type Connect<T> = Arc<dyn Fn(Target, Document) -> HandlerFuture<T> + Send + Sync>;

/// The handlers of a subresource.
#[derive(Clone)]
pub(crate) enum Handler {
    /// Handlers with documents as input and output.
    Documents(Documents),
    /// A handler that returns text.
    Text(Connect<Text>),
    /// A handler with standard streams.
    Exec(Connect<Session>),
    /// A handler that forwards ports.
    Forward(Connect<Forward>),
}

/// The handlers of a subresource with documents, by method.
#[derive(Clone, Default)]
pub(crate) struct Documents {
    pub get: Option<Read>,
    pub post: Option<Take>,
    pub put: Option<Take>,
}

/// A subresource of the kind `K`, with its handlers. Created with [`get`], [`post`] and [`put`], which can be chained, or
/// with [`text`](super::text), [`exec`](super::exec) and [`port_forward`](super::port_forward).
#[must_use = "a subresource is served once it is given to `Server::builder().subresource(…)`"]
pub struct Subresource<K> {
    pub(super) declaration: SubresourceDecl,
    pub(super) parent: PhantomData<fn() -> K>,
}

/// The kinds of an operation's input and output; the parent's kind if absent. Such documents exist only in requests and
/// answers, unless their kind is served, too.
#[derive(Default)]
pub(crate) struct OperationKinds {
    pub body: Option<Arc<Kind>>,
    pub answer: Option<Arc<Kind>>,
}

/// A subresource as declared, without its parent's type.
pub(crate) struct SubresourceDecl {
    /// The group, version and kind in discovery.
    pub shown: (GroupVersion, String),
    pub operations: Vec<Operation>,
    /// The inputs and outputs of the operations.
    pub kinds: Vec<(Verb, OperationKinds)>,
    pub options: Option<Arc<Schema>>,
    pub handler: Handler,
    /// Why it cannot be served.
    pub problems: Vec<String>,
}

/// A subresource that can be read: an object computed from its parent.
pub fn get<K, R, F, Fut>(handler: F) -> Subresource<K>
where
    K: Object,
    R: Object,
    F: Fn(Parent<K>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R>> + Send + 'static,
{
    Subresource::empty().get(handler)
}

/// An action: POST with an object of the action's own kind, such as an Eviction.
///
/// The handler returns an object, or `()`, which is answered with a Status `Success`.
pub fn post<K, B, R, F, Fut>(handler: F) -> Subresource<K>
where
    K: Object,
    B: Object,
    R: Reply,
    F: Fn(Parent<K>, B) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R>> + Send + 'static,
{
    Subresource::empty().post(handler)
}

/// A subresource that can be replaced as a whole.
pub fn put<K, B, R, F, Fut>(handler: F) -> Subresource<K>
where
    K: Object,
    B: Object,
    R: Reply,
    F: Fn(Parent<K>, B) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R>> + Send + 'static,
{
    Subresource::empty().put(handler)
}

impl<K: Object> Subresource<K> {
    fn empty() -> Self {
        Self::new(Handler::Documents(Documents::default()), Vec::new())
    }

    /// A subresource whose documents, if it has any, are of the parent's kind.
    pub(super) fn new(handler: Handler, operations: Vec<Operation>) -> Self {
        let own = K::RESOURCE;
        let version = GroupVersion { group: own.group.to_owned(), version: own.version.to_owned() };
        let shown = (version, own.kind.to_owned());
        let kinds = operations.iter().map(|operation| (operation.verb, OperationKinds::default())).collect();
        let declaration = SubresourceDecl { shown, operations, kinds, options: None, handler, problems: Vec::new() };
        Self { declaration, parent: PhantomData }
    }

    /// Adds a handler for GET.
    pub fn get<R, F, Fut>(mut self, handler: F) -> Self
    where
        R: Object,
        F: Fn(Parent<K>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R>> + Send + 'static,
    {
        let read = move |target: Target| -> HandlerFuture<Document> {
            let begun = Parent::new(target).map(&handler);
            Box::pin(async move { encode(&begun?.await?) })
        };
        self.declaration.add(Verb::Get, None, Some(R::kind()), |documents| documents.get = Some(Arc::new(read)));
        self
    }

    /// Adds a handler for POST.
    pub fn post<B, R, F, Fut>(mut self, handler: F) -> Self
    where
        B: Object,
        R: Reply,
        F: Fn(Parent<K>, B) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R>> + Send + 'static,
    {
        let post = take(handler);
        self.declaration.add(Verb::Create, Some(B::kind()), R::kind(), |documents| documents.post = Some(post));
        self
    }

    /// Adds a handler for PUT. A subresource with handlers for GET and PUT can also be patched.
    pub fn put<B, R, F, Fut>(mut self, handler: F) -> Self
    where
        B: Object,
        R: Reply,
        F: Fn(Parent<K>, B) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R>> + Send + 'static,
    {
        let put = take(handler);
        self.declaration.add(Verb::Update, Some(B::kind()), R::kind(), |documents| documents.put = Some(put));
        self
    }
}

impl SubresourceDecl {
    /// Adds the handler of a verb. A second one, or one beside a stream, is a problem.
    fn add(&mut self, verb: Verb, body: Option<Kind>, answer: Option<Kind>, set: impl FnOnce(&mut Documents)) {
        let method = match verb {
            Verb::Create => "POST",
            Verb::Update => "PUT",
            _ => "GET",
        };
        let Handler::Documents(documents) = &mut self.handler else {
            let why = "it is a stream or a connection; declare it as another subresource";
            return self.problems.push(format!("{method} cannot be added: {why}"));
        };
        if self.kinds.iter().any(|(other, _)| *other == verb) {
            return self.problems.push(format!("{method} has two handlers"));
        }
        set(documents);
        if let Some(kind) = body.as_ref().or(answer.as_ref()) {
            self.shown = (kind.group_version.clone(), kind.names().kind.clone());
        }
        self.operations.push(Operation {
            verb,
            body: body.as_ref().map_or(Body::None, |kind| Body::Document(DocumentSchema::of(kind))),
            answer: answer.as_ref().map_or(Answer::Status, |kind| Answer::Document(DocumentSchema::of(kind))),
            connects: false,
        });
        self.kinds.push((verb, OperationKinds { body: body.map(Arc::new), answer: answer.map(Arc::new) }));
    }
}

fn take<K, B, R, F, Fut>(handler: F) -> Take
where
    K: Object,
    B: Object,
    R: Reply,
    F: Fn(Parent<K>, B) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R>> + Send + 'static,
{
    Arc::new(move |target, body| {
        let begun = Parent::new(target).and_then(|parent| Ok(handler(parent, decode(&body)?)));
        Box::pin(async move { begun?.await?.document() })
    })
}
