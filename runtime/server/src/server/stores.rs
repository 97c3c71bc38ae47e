//! The store of a server's objects, and the directory of its files.
use std::{path::PathBuf, sync::Arc};

use super::{Error, Limits, Result, migrate, state::StateDir};
#[cfg(feature = "etcd")]
use crate::storage::{Etcd, EtcdOptions};
use crate::{
    cache::Preload,
    meta::Revision,
    storage::{Embedded, Memory, Store},
    verbs::Verbs,
};

/// The storage of objects.
#[derive(Clone, Default)]
pub(super) enum Keep {
    /// Not set yet.
    #[default]
    Unsaid,
    /// In memory.
    Memory,
    /// In a directory.
    Disk(PathBuf),
}

/// The builder's settings for the store.
#[derive(Default)]
pub(super) struct StoreSettings {
    pub keep: Keep,
    /// The etcd that keeps the objects, instead of `keep`.
    #[cfg(feature = "etcd")]
    pub etcd: Option<EtcdOptions>,
    /// A store of several servers, in tests.
    #[cfg(test)]
    pub given: Option<Arc<dyn Store>>,
}

/// An open store.
pub(super) struct OpenStore {
    pub store: Arc<dyn Store>,
    embedded: Option<Arc<Embedded>>,
}

impl Keep {
    /// The directory of the server's files.
    pub(super) fn directory(&self) -> Result<StateDir> {
        match self {
            Self::Unsaid => Err(Error::NoStore),
            Self::Memory => StateDir::temporary(),
            Self::Disk(path) => StateDir::open(path),
        }
    }
}

impl OpenStore {
    /// Opens the store of these settings. Returns the revision at which the preload has its objects, if it was filled. Blocks.
    pub(super) fn open(
        settings: StoreSettings,
        path: PathBuf,
        limits: &Limits,
        preload: &Preload,
    ) -> Result<(Self, Option<Revision>)> {
        #[cfg(test)]
        if let Some(store) = settings.given {
            return Ok((Self::of(store), None));
        }
        #[cfg(feature = "etcd")]
        if let Some(options) = settings.etcd {
            return Ok((Self::of(Arc::new(Etcd::open(options).map_err(Error::Etcd)?)), None));
        }
        let keep = settings.keep;
        match keep {
            Keep::Disk(_) => {
                let visit = |piece| preload.take(piece);
                let opened = Embedded::open_and_scan(path, limits.store, &preload.prefixes(), &visit);
                let (embedded, loaded) = opened.map_err(Error::Store)?;
                let embedded = Arc::new(embedded);
                Ok((Self { store: embedded.clone(), embedded: Some(embedded) }, loaded))
            }
            Keep::Memory | Keep::Unsaid => Ok((Self::of(Arc::new(Memory::with(&limits.store))), None)),
        }
    }

    fn of(store: Arc<dyn Store>) -> Self {
        Self { store, embedded: None }
    }

    /// Offers what the commands of a store ask a running server for.
    pub(super) fn serve(&self, api: &Arc<Verbs>) {
        if let Some(embedded) = &self.embedded {
            migrate::serve(embedded, api);
        }
    }
}
