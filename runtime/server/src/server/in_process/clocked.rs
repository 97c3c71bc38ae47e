//! The verbs behind the typed client of a test, on the server's clock.
use std::sync::Arc;

use kindsmith_model::kind::client::{
    Access, Patch,
    backend::{Answer, Backend, Change, Events, Item, Items, Request},
};

use crate::{
    auth::User,
    handlers::Result,
    kind::{Kind, resource::ResourceDecl},
    meta::{
        options::{DeleteOptions, GetOptions, ListOptions, PatchOptions, WriteOptions},
        time::clock::Clock,
    },
    schema::Document,
};

/// A backend whose work has a clock.
pub(super) struct ClockedBackend {
    pub backend: Arc<dyn Backend>,
    pub clock: Clock,
}

impl ClockedBackend {
    fn with_clock<'a, T: 'a>(&self, answer: Answer<'a, T>) -> Answer<'a, T> {
        Box::pin(self.clock.scope(answer))
    }
}

impl Backend for ClockedBackend {
    fn shared(&self) -> Arc<dyn Backend> {
        Arc::new(Self { backend: self.backend.shared(), clock: self.clock.clone() })
    }

    fn kind(&self, resource: &ResourceDecl) -> Result<Arc<Kind>> {
        self.backend.kind(resource)
    }

    fn authorize<'a>(&'a self, user: &'a User, access: &'a Access) -> Answer<'a, ()> {
        self.with_clock(self.backend.authorize(user, access))
    }

    fn get<'a>(&'a self, request: &'a Request, options: &'a GetOptions) -> Answer<'a, Document> {
        self.with_clock(self.backend.get(request, options))
    }

    fn list<'a>(&'a self, request: &'a Request, options: &'a ListOptions) -> Answer<'a, Items> {
        self.with_clock(self.backend.list(request, options))
    }

    fn watch<'a>(&'a self, request: &'a Request, options: &'a ListOptions) -> Answer<'a, Events> {
        self.with_clock(self.backend.watch(request, options))
    }

    fn create<'a>(&'a self, request: &'a Request, object: Document, options: &'a WriteOptions) -> Answer<'a, Document> {
        self.with_clock(self.backend.create(request, object, options))
    }

    fn update<'a>(&'a self, request: &'a Request, object: Document, options: &'a WriteOptions) -> Answer<'a, Document> {
        self.with_clock(self.backend.update(request, object, options))
    }

    fn patch<'a>(
        &'a self,
        request: &'a Request,
        patch: Patch<Document>,
        options: &'a PatchOptions,
    ) -> Answer<'a, Document> {
        self.with_clock(self.backend.patch(request, patch, options))
    }

    fn change<'a>(
        &'a self,
        request: &'a Request,
        change: Change<'a>,
        options: &'a WriteOptions,
    ) -> Answer<'a, Document> {
        self.with_clock(self.backend.change(request, change, options))
    }

    fn delete<'a>(&'a self, request: &'a Request, options: &'a DeleteOptions) -> Answer<'a, Option<Item>> {
        self.with_clock(self.backend.delete(request, options))
    }

    fn delete_collection<'a>(
        &'a self,
        request: &'a Request,
        options: &'a DeleteOptions,
        selected: &'a ListOptions,
    ) -> Answer<'a, Items> {
        self.with_clock(self.backend.delete_collection(request, options, selected))
    }
}
