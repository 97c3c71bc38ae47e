//! The operations on stored objects: each reads its options and body, calls the verb, and writes its answer in the
//! negotiated form.

use axum_core::{body::Body, response::Response};
use bytes::Bytes;
use http::{Method, StatusCode};

use super::{
    access, body,
    call::Call,
    object,
    status::StatusError,
    watch,
    websocket::{self, SupportedProtocols},
};
use crate::{
    codec::DecodedDocument,
    kind::endpoint::{Endpoint, PatchType},
    meta::{
        options::{DeleteOptions, GetOptions, ListOptions, OptionsError, Query, WriteOptions},
        selector::{FieldTerm, Fields},
    },
    schema::Document,
    verbs::{Error, Request, WriteResult},
};

impl Call<'_> {
    pub(super) async fn get(self) -> Result<Response, StatusError> {
        let options = GetOptions::parse(self.query())?;
        let answer = self.backend().api.get(&self.request, &options).await?;
        object::respond(&self, StatusCode::OK, answer, &[]).await
    }

    pub(super) async fn list(self) -> Result<Response, StatusError> {
        let options = ListOptions::parse(self.query(), false)?;
        let list = self.backend().api.list(&self.request, &options).await?;
        let answer = object::respond_list(&self, list).await;
        answer.map_err(|error| error.into_status_error(&self.request.resource))
    }

    /// Watches a collection, or the object of the path below the old `watch/`.
    pub(super) async fn watch(self, old_path: bool, name: String) -> Result<Response, StatusError> {
        let mut options = ListOptions::parse(self.query(), old_path)?;
        options.watch = true;
        if !name.is_empty() {
            let mut terms = options.fields.terms().to_vec();
            terms.push(FieldTerm { field: "metadata.name".into(), equal: true, value: name.into() });
            options.fields = Fields::new(terms);
        }
        let (parts, slot) = (&self.exchange.parts, self.exchange.slot.clone());
        let upgrades = self.exchange.info.method == Method::GET && websocket::is_upgrade_request(&parts.headers);
        let handshake = if upgrades { Some(websocket::handshake(parts, slot, SupportedProtocols::Any)?) } else { None };
        let answer = match self.backend().api.watch(&self.request, &options).await {
            Ok(watching) => watch::respond(&self, watching, options.timeout_seconds, handshake.is_some()),
            // Clients expect the error of an expired watch in the stream.
            Err(error @ Error::Expired { .. }) => watch::refuse(error, self.format.encoding),
            Err(error) => return Err(error.into()),
        };
        Ok(match handshake {
            None => answer,
            Some(handshake) => watch::over_socket(&self, handshake, answer),
        })
    }

    pub(super) async fn create(mut self, body: Body) -> Result<Response, StatusError> {
        let options = WriteOptions { client: self.exchange.client_name(), ..WriteOptions::for_create(self.query())? };
        let (media_type, bytes) = self.read(body).await?;
        let create = self.write(bytes, move |api, request, bytes| {
            let (media_type, options) = (media_type.clone(), options.clone());
            Box::pin(async move {
                let document = object(request, &media_type, &bytes)?;
                Ok(api.create(request, document, &options).await?)
            })
        });
        let written = create.await?;
        self.respond(written).await
    }

    pub(super) async fn update(mut self, body: Body) -> Result<Response, StatusError> {
        let mut options =
            WriteOptions { client: self.exchange.client_name(), ..WriteOptions::for_update(self.query())? };
        let (media_type, bytes) = self.read(body).await?;
        let refusal = if self.kind.version.create_on_update { self.may_create().await.err() } else { None };
        options.must_exist = refusal.is_some();
        let update = self.write(bytes, move |api, request, bytes| {
            let (media_type, options, refusal) = (media_type.clone(), options.clone(), refusal.clone());
            Box::pin(async move {
                let document = object(request, &media_type, &bytes)?;
                let written = api.update(request, document, &options).await;
                written.map_err(|error| not_created(error, refusal))
            })
        });
        let written = update.await?;
        self.respond(written).await
    }

    pub(super) async fn patch(mut self, body: Body) -> Result<Response, StatusError> {
        let (patch_type, bytes, mut options) = self.read_patch(body, self.patch_types()).await?;
        let refusal = if patch_type.applies() { self.may_create().await.err() } else { None };
        options.write.must_exist = refusal.is_some();
        let patch = self.write(bytes, move |api, request, bytes| {
            let (options, refusal) = (options.clone(), refusal.clone());
            Box::pin(async move {
                let patch = body::decode_patch(patch_type, bytes)?;
                let written = api.patch(request, patch, &options).await;
                written.map_err(|error| not_created(error, refusal))
            })
        });
        let written = patch.await?;
        self.respond(written).await
    }

    async fn respond(&self, written: WriteResult) -> Result<Response, StatusError> {
        let code = if written.created { StatusCode::CREATED } else { StatusCode::OK };
        object::respond(self, code, written.answer, &written.warnings).await
    }

    /// The supported types of patches for the request.
    fn patch_types(&self) -> &[PatchType] {
        self.request.resource.endpoint(&self.request.subresource).map_or(&[], Endpoint::patch_types)
    }

    /// Authorizes creation before a write that may create its object, which needs more than permission to change it.
    async fn may_create(&self) -> Result<(), StatusError> {
        access::may_create(self.exchange, &self.request, "").await
    }

    pub(super) async fn delete(mut self, body: Body) -> Result<Response, StatusError> {
        let options = self.delete_options(body, DeleteOptions::parse).await?;
        if options.ignore_read_errors {
            access::may_force_deletion(self.exchange, &self.request).await?;
        }
        let delete = self.write(Bytes::new(), move |api, request, _| {
            let options = options.clone();
            Box::pin(async move { Ok(api.delete(request, &options).await?) })
        });
        let deleted = delete.await?;
        object::respond_deleted(&self, deleted).await
    }

    pub(super) async fn delete_collection(mut self, body: Body) -> Result<Response, StatusError> {
        let list = ListOptions::parse(self.query(), false)?;
        let options = self.delete_options(body, DeleteOptions::for_collection).await?;
        loop {
            let deleted = self.backend().api.delete_collection(&self.request, &list, &options).await;
            match deleted.map_err(StatusError::from) {
                Ok(deleted) => return object::respond_deleted_list(&self, deleted).await,
                Err(error) if self.follows(&error).await => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn delete_options(
        &self,
        body: Body,
        parse: fn(&Query, Option<&Document>) -> Result<DeleteOptions, OptionsError>,
    ) -> Result<DeleteOptions, StatusError> {
        let (media_type, bytes) = self.read(body).await?;
        if bytes.is_empty() {
            return Ok(parse(self.query(), None)?);
        }
        let decode = self.heavy(0, bytes, move |_, _, bytes| {
            Box::pin(async move { Ok(body::decode(&media_type, &bytes, body::BodyType::DeleteOptions)?.document) })
        });
        Ok(parse(self.query(), Some(&decode.await?))?)
    }
}

/// The body of a write of an object, which says its type where the kind needs that.
fn object(request: &Request, media_type: &str, body: &[u8]) -> Result<DecodedDocument, StatusError> {
    let kind = &*request.resource.kind;
    let decoded = body::document(request, kind, media_type, body)?;
    if !request.is_scale() && kind.needs_type_meta() {
        body::check_type_meta(&decoded.document, kind, body)?;
    }
    Ok(decoded)
}

/// The error of a failed write. If its object is missing and the user may not create it, the authorization error.
fn not_created(error: Error, refusal: Option<StatusError>) -> StatusError {
    match (error, refusal) {
        (Error::NotFound(..), Some(refusal)) => refusal,
        (error, _) => error.into(),
    }
}
