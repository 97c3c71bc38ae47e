//! The store of a server's objects, and the directory of its files.
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Builder, Error, Limits, Result, load::Core, migrate, state::StateDir};
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

/// An open store.
pub(super) struct OpenStore {
    pub store: Arc<dyn Store>,
    embedded: Option<Arc<Embedded>>,
}

impl Builder {
    /// Stores objects durably in this directory, together with the server's certificate authority, the admin token and
    /// the kubeconfig. A missing directory is created for its owner only (0700). An existing one keeps its mode. It is
    /// refused if it belongs to a user other than this one and root, if users outside its group or a group without this
    /// process can write it, or if it has files but no store.
    pub fn data_dir(mut self, path: impl AsRef<Path>) -> Self {
        self.core.keep = Keep::Disk(path.as_ref().to_owned());
        self
    }

    /// Stores objects in memory only. History has the same limits as on disk.
    pub fn memory(mut self) -> Self {
        self.core.keep = Keep::Memory;
        self
    }

    /// Stores objects in etcd, which any number of servers of the same program may share. [`Builder::data_dir`] then only says
    /// where this server has its files: the certificate authority, the admin token and the kubeconfig. Without it they are
    /// temporary.
    ///
    /// One of the servers runs the controllers, and another takes over within seconds; see
    /// [`Election`](super::Election). All of them answer every request from the newest state.
    #[cfg(feature = "etcd")]
    pub fn etcd(mut self, options: EtcdOptions) -> Self {
        self.core.etcd = Some(options);
        if matches!(self.core.keep, Keep::Unsaid) { self.memory() } else { self }
    }

    /// Stores objects in a store that other servers use, too.
    #[cfg(test)]
    pub(super) fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.core.given = Some(store);
        self.memory()
    }
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
        core: &mut Core,
        path: PathBuf,
        limits: &Limits,
        preload: &Preload,
    ) -> Result<(Self, Option<Revision>)> {
        #[cfg(test)]
        if let Some(store) = core.given.take() {
            return Ok((Self::of(store), None));
        }
        #[cfg(feature = "etcd")]
        if let Some(options) = core.etcd.take() {
            return Ok((Self::of(Arc::new(Etcd::open(options).map_err(Error::Etcd)?)), None));
        }
        match core.keep {
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
