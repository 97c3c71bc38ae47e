//! The builder's settings for the store of objects.
use std::{path::Path, sync::Arc};

use super::Builder;
#[cfg(feature = "etcd")]
use crate::storage::EtcdOptions;
#[cfg(test)]
use crate::storage::Store;
use crate::{
    registry::reader::Transformer,
    server::{encryption::Encryption, stores::Keep},
};

impl Builder {
    /// Stores objects durably in this directory, together with the server's certificate authority, the admin token and
    /// the kubeconfig. A missing directory is created for its owner only (0700). An existing one keeps its mode. It is
    /// refused if it belongs to a user other than this one and root, if users outside its group or a group without this
    /// process can write it, or if it has files but no store.
    pub fn data_dir(mut self, path: impl AsRef<Path>) -> Self {
        self.core.store.keep = Keep::Disk(path.as_ref().to_owned());
        self
    }

    /// Stores objects in memory only. History has the same limits as on disk.
    pub fn memory(mut self) -> Self {
        self.core.store.keep = Keep::Memory;
        self
    }

    /// Stores objects in etcd, which any number of servers of the same program may share. [`Builder::data_dir`] then only says
    /// where this server has its files: the certificate authority, the admin token and the kubeconfig. Without it they are
    /// temporary.
    ///
    /// One of the servers runs the controllers, and another takes over within seconds; see
    /// [`Election`](crate::server::Election). All of them answer every request from the newest state.
    #[cfg(feature = "etcd")]
    pub fn etcd(mut self, options: EtcdOptions) -> Self {
        self.core.store.etcd = Some(options);
        if matches!(self.core.store.keep, Keep::Unsaid) { self.memory() } else { self }
    }

    /// Stores objects in a store that other servers use, too.
    #[cfg(test)]
    pub(in crate::server) fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.core.store.given = Some(store);
        self.memory()
    }

    /// Encrypts stored objects with the keys in a file: kube-apiserver's `EncryptionConfiguration` of `apiserver.config.k8s.io/v1`, with the
    /// providers `aesgcm` and `identity`. The first provider of a resource writes, all of them read, so that a new key goes first and an
    /// old one stays until all objects were written anew (`kindsmith store migrate`). Keys have 16 or 32 bytes; since nonces are random, change
    /// a key before it has encrypted a billion objects.
    ///
    /// The file is read at the start. An object that no key reads is treated like a damaged one.
    ///
    /// [`Builder::build`] returns an error if the file cannot be used.
    pub fn encryption_provider_config(mut self, path: impl AsRef<Path>) -> Self {
        match Encryption::open(path.as_ref()) {
            Ok(encryption) => self.core.transformer = Some(Arc::new(encryption)),
            Err(error) => self.problems.push(error.to_string()),
        }
        self
    }

    /// Stores objects through a transformer, such as one that encrypts them.
    pub fn transformer(mut self, transformer: impl Transformer + 'static) -> Self {
        self.core.transformer = Some(Arc::new(transformer));
        self
    }
}
