//! What client certificates mean: those of users' authorities name a user, those of front proxies' authorities let headers do so.

use std::{path::PathBuf, sync::Arc};

use super::{
    FrontProxy, Result,
    client_ca::{Authorities, ClientAuthorities},
    delegated::Host,
    files::FileWatcher,
};
use crate::auth::{
    Authenticate,
    certificates::{CertificatesOf, VerifyClient},
    front_proxy::FrontProxies,
};

/// The authenticators that look at client certificates, in their order, and the authorities that they need.
#[derive(Default)]
pub(super) struct ClientCertificates {
    pub authenticators: Vec<Box<dyn Authenticate>>,
    pub watchers: Vec<FileWatcher>,
    authorities: Vec<Arc<Authorities>>,
}

impl ClientCertificates {
    /// Reads the files. What has none is as the host says, if there is one.
    pub(super) fn open(client_ca: Option<PathBuf>, proxy: Option<FrontProxy>, host: Option<&Host>) -> Result<Self> {
        let mut opened = Self::default();
        if let Some(proxy) = proxy {
            let (authorities, watcher) = Authorities::open("authorities of front proxies", proxy.ca.clone())?;
            opened.watchers.push(watcher);
            opened.add_proxies(&authorities, Arc::new(FrontProxies::new(authorities.clone(), proxy.headers())));
        } else if let Some(host) = host {
            opened.add_proxies(&host.proxy_authorities, host.proxies.clone());
        }
        if let Some(path) = client_ca {
            let (authorities, watcher) = Authorities::open("authorities of client certificates", path)?;
            opened.watchers.push(watcher);
            opened.add_users(authorities);
        } else if let Some(host) = host {
            opened.add_users(host.user_authorities.clone());
        }
        Ok(opened)
    }

    /// Believes the headers of proxies with a certificate of these authorities.
    fn add_proxies(&mut self, authorities: &Arc<Authorities>, proxies: Arc<FrontProxies>) {
        self.authorities.push(authorities.clone());
        self.authenticators.push(Box::new(proxies));
    }

    /// Identifies users by certificates of these authorities, and of no others.
    fn add_users(&mut self, authorities: Arc<Authorities>) {
        self.authorities.push(authorities.clone());
        self.authenticators.push(Box::new(CertificatesOf(authorities as Arc<dyn VerifyClient>)));
    }

    /// The authorities for the handshake, if clients are asked for certificates.
    pub(super) fn authorities(&self, admits_others: bool) -> Option<Arc<ClientAuthorities>> {
        let authorities = self.authorities.clone();
        (!authorities.is_empty()).then(|| Arc::new(ClientAuthorities::new(authorities, admits_others)))
    }
}
