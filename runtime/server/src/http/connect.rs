//! Subresources that stream or connect: reads their options, calls the handler, and sends its result as text or over a
//! WebSocket.

use axum_core::response::Response;
use serde_json::json;

use super::{
    access,
    channels::{Channels, FORWARDS, SESSIONS},
    exchange::Exchange,
    forward, session,
    status::StatusError,
    stream,
    target::{handler_error, target},
    websocket::{self, Handshake, SupportedProtocols},
};
use crate::{
    handlers::{Connect, Forward, Session, StreamOptions, SubresourceHandler, Target, Text, Wrong, read_options},
    meta::{
        FieldError, FieldErrorKind, FieldPath, GroupKind, Status,
        options::{Preconditions, WriteOptions},
    },
    schema::Document,
    verbs::{Error, Request},
};

/// A request to stream or to connect. It fails with 404 if the object does not exist; 400 and 422 for options; 400 for an invalid
/// handshake; errors of the handler.
pub(super) struct Connection<'a> {
    /// Its context.
    pub exchange: &'a Exchange,
    /// The request for the parent.
    pub parent: Request,
    /// The subresource.
    pub subresource: &'a SubresourceHandler,
}

impl Connection<'_> {
    /// Streams text, over a WebSocket if the client asks for one.
    pub(super) async fn text(self, handler: &Connect<Text>) -> Result<Response, StatusError> {
        let (target, options) = self.target().await?;
        if !websocket::is_upgrade_request(&self.exchange.parts.headers) {
            let text = self.ask(handler, target, options).await?;
            return Ok(stream::respond(text, self.exchange.backend().handlers.open.stopping()));
        }
        let supported = SupportedProtocols::Only(&["binary.k8s.io", "base64.binary.k8s.io", ""]);
        let handshake = self.handshake(supported)?;
        let text = self.ask(handler, target, options).await?;
        let base64 = handshake.protocol.starts_with("base64");
        Ok(handshake.accept(&self.exchange.backend().handlers, move |socket| stream::carry(socket, text, base64)))
    }

    /// Connects to a session.
    pub(super) async fn exec(self, handler: &Connect<Session>) -> Result<Response, StatusError> {
        WriteOptions::check_connect(&self.exchange.info.query)?;
        let (target, mut options) = self.target().await?;
        let stream_options = self.stream_options()?;
        self.may_create().await?;
        self.admit(&mut options).await?;
        // The handler's refusal comes first: clients whose handshake fails retry with an unsupported protocol, and show
        // the answer to that.
        let run = self.ask(handler, target, options).await?.into_run();
        let handshake = self.handshake(SupportedProtocols::Only(&SESSIONS))?;
        let channels = Channels::of(&handshake.protocol);
        let (served, name) = (self.parent.resource.clone(), self.parent.name.clone());
        let tell = move |refusal| *handler_error(refusal, &served.kind, &name).0;
        Ok(handshake.accept(&self.exchange.backend().handlers, move |socket| {
            session::run(socket, channels, stream_options, run, tell)
        }))
    }

    /// Connects to ports.
    pub(super) async fn forward(self, handler: &Connect<Forward>) -> Result<Response, StatusError> {
        WriteOptions::check_connect(&self.exchange.info.query)?;
        let (target, mut options) = self.target().await?;
        // Checked first, because clients of other protocols also name their ports in another way.
        websocket::agree(&self.exchange.parts.headers, SupportedProtocols::Only(&FORWARDS))?;
        let ports = self.ports()?;
        self.may_create().await?;
        self.admit(&mut options).await?;
        let serve = self.ask(handler, target, options).await?.into_serve();
        let handshake = self.handshake(SupportedProtocols::Only(&FORWARDS))?;
        // Without a subprotocol, the first one in binary is used.
        let channels = Channels::of(&handshake.protocol);
        Ok(handshake
            .accept(&self.exchange.backend().handlers, move |socket| forward::run(socket, channels, serve, ports)))
    }

    fn handshake(&self, supported: SupportedProtocols<'_>) -> Result<Handshake, StatusError> {
        websocket::handshake(&self.exchange.parts, self.exchange.slot.clone(), supported)
    }

    async fn ask<T>(&self, handler: &Connect<T>, target: Target, options: Document) -> Result<T, StatusError> {
        let result = handler(target, options).await;
        result.map_err(|refusal| handler_error(refusal, &self.parent.resource.kind, &self.parent.name))
    }

    /// The handler's input: the parent and the options.
    async fn target(&self) -> Result<(Target, Document), StatusError> {
        let (query, nothing) = (&self.exchange.info.query, Preconditions::default());
        let write = WriteOptions::default();
        let target = target(self.exchange.backend(), &self.parent, self.subresource, write, query, nothing).await?;
        let endpoint = self.parent.resource.endpoint(self.subresource.name);
        let Some(schema) = endpoint.and_then(|endpoint| endpoint.options.as_ref()) else {
            return Ok((target, json!({})));
        };
        let options = read_options(schema, query).map_err(|wrong| match wrong {
            Wrong::Malformed(why) => Error::BadRequest(why),
            Wrong::Invalid(errors) => {
                let group = self.parent.resource.kind.group_version.group.clone();
                let kind = GroupKind { group, kind: schema.name.clone().unwrap_or_default() };
                Error::Invalid(kind, self.parent.name.clone(), errors)
            }
        })?;
        Ok((target, options))
    }

    /// A connection is equivalent to an action, although browsers can only use GET. Opening one therefore needs
    /// permission to create, too.
    async fn may_create(&self) -> Result<(), StatusError> {
        access::may_create(self.exchange, &self.parent, self.subresource.name).await
    }

    /// Admission of the connection with its options.
    async fn admit(&self, options: &mut Document) -> Result<(), StatusError> {
        let request = Request { subresource: self.subresource.name.into(), ..self.parent.clone() };
        let schema =
            self.parent.resource.endpoint(self.subresource.name).and_then(|endpoint| endpoint.options.as_deref());
        Ok(self.exchange.backend().api.admit_connection(&request, schema, options).await?)
    }

    /// The streams that the client requests.
    fn stream_options(&self) -> Result<StreamOptions, StatusError> {
        let query = &self.exchange.info.query;
        let flag = |name: &str| query.switch(name).map(Option::unwrap_or_default);
        let tty = flag("tty")?;
        // A terminal merges both outputs into stdout.
        let stderr = flag("stderr")? && !tty;
        let stream_options = StreamOptions { stdin: flag("stdin")?, stdout: flag("stdout")?, stderr, tty };
        if stream_options.stdin || stream_options.stdout || stream_options.stderr {
            return Ok(stream_options);
        }
        Err(Status::bad_request("you must specify at least 1 of stdin, stdout, stderr").into())
    }

    /// The ports that the client names, one per parameter or several separated by commas.
    fn ports(&self) -> Result<Vec<u16>, StatusError> {
        let given = self.exchange.info.query.all("ports").flat_map(|value| value.split(','));
        let mut ports = Vec::new();
        for text in given {
            let Ok(port @ 1..) = text.trim().parse::<u16>() else {
                let wrong = FieldErrorKind::Invalid(text.into());
                let error = FieldError::new(&FieldPath::new("ports"), wrong, "must be between 1 and 65535, inclusive");
                return Err(Status::bad_request(error.to_string()).into());
            };
            ports.push(port);
        }
        match ports.len() {
            0 => Err(Status::bad_request("you must specify at least 1 port").into()),
            1..=forward::PORTS => Ok(ports),
            count => Err(Status::bad_request(format!(
                "{count} ports are too many for one connection; {} are not",
                forward::PORTS
            ))
            .into()),
        }
    }
}
