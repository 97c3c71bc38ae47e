//! Subresources that stream or connect: `log`, `exec`, `attach`, `portforward`. Their options come from the query.
use std::sync::Arc;

use super::{
    Forward, Object, Parent, Result, Session, Text, decode,
    options::{Options, schema_of},
    subresource::{Connect, Handler, Subresource},
};
use crate::kind::endpoint::{Answer, Body, Operation, Verb};

/// A subresource with text, such as a log: GET, with options in the query.
///
/// The text is sent as it is written. It ends with the [`Text`], when the client disconnects, or when the server stops.
/// A client that reads slowly makes the writer wait. Over a WebSocket it is sent in frames.
pub fn text<K, O, F, Fut>(handler: F) -> Subresource<K>
where
    K: Object,
    O: Options,
    F: Fn(Parent<K>, O) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Text>> + Send + 'static,
{
    let get = Operation { verb: Verb::Get, body: Body::None, answer: Answer::Text, connects: false };
    with_options::<K, O>(Handler::Text(adapt(handler)), vec![get])
}

/// A subresource for `kubectl exec` and `kubectl attach`: a WebSocket with the subprotocol `v5.channel.k8s.io` or an
/// older one. [`ExecOptions`](super::ExecOptions) has the options that kubectl sends.
pub fn exec<K, O, F, Fut>(handler: F) -> Subresource<K>
where
    K: Object,
    O: Options,
    F: Fn(Parent<K>, O) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Session>> + Send + 'static,
{
    connecting::<K, O>(Handler::Exec(adapt(handler)))
}

/// A subresource that forwards ports over a WebSocket with the subprotocols `v4.channel.k8s.io` and
/// `v4.base64.channel.k8s.io`: two channels for each of the `ports` in the query, one for data and one for errors.
pub fn port_forward<K, O, F, Fut>(handler: F) -> Subresource<K>
where
    K: Object,
    O: Options,
    F: Fn(Parent<K>, O) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Forward>> + Send + 'static,
{
    connecting::<K, O>(Handler::Forward(adapt(handler)))
}

/// A connection is requested with GET, which browsers support, or with POST. Discovery shows the kind of its options.
fn connecting<K: Object, O: Options>(handler: Handler) -> Subresource<K> {
    let operation = |verb| Operation { verb, body: Body::None, answer: Answer::Text, connects: true };
    let operations = vec![operation(Verb::Get), operation(Verb::Create)];
    let mut made = with_options::<K, O>(handler, operations);
    O::DECLARATION.name.clone_into(&mut made.declaration.shown.1);
    made
}

fn with_options<K: Object, O: Options>(handler: Handler, operations: Vec<Operation>) -> Subresource<K> {
    let mut made = Subresource::new(handler, operations);
    match schema_of::<O>() {
        Ok(schema) => made.declaration.options = Some(schema),
        Err(why) => made.declaration.problems.push(why),
    }
    made
}

fn adapt<K, O, T, F, Fut>(handler: F) -> Connect<T>
where
    K: Object,
    O: Options,
    T: Send + 'static,
    F: Fn(Parent<K>, O) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T>> + Send + 'static,
{
    Arc::new(move |target, options| {
        let begun = Parent::new(target).and_then(|parent| Ok(handler(parent, decode(&options)?)));
        Box::pin(async move { begun?.await })
    })
}
