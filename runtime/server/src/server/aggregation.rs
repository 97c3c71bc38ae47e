//! The server in front of others: its certificate, what it publishes about it, and its controllers.
use std::{
    collections::BTreeMap,
    convert::Infallible,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};
use tokio_rustls::rustls::sign::CertifiedKey;

use super::{
    Error, Result, Shutdown,
    builder::Core,
    controllers::{Controller, ControllerContext},
    state::StateDir,
    tls::{Authority, AuthorityFiles, RotatingCertificate},
};
use crate::{
    Resource as _,
    aggregation::{Aggregation, ProxyIdentity},
    builtin::{APIService, ConfigMap, Namespace},
    handlers::Client,
    meta::{ObjectMeta, refusal},
    verbs::Verbs,
    webhook::Resolver,
};

/// The authority that signs the certificate.
const FRONT_PROXY: AuthorityFiles =
    AuthorityFiles { certificate: "front-proxy-ca.crt", key: "front-proxy-ca.key", name: "kindsmith-front-proxy-ca" };
/// The name in the certificate.
const NAME: &str = "front-proxy-client";
/// The ConfigMap that tells servers behind how to recognize this server.
const NAMESPACE: &str = "kube-system";
const CONFIG_MAP: &str = "extension-apiserver-authentication";
const AUTHORITIES: &str = "requestheader-client-ca-file";
/// The maximum number of authorities of servers that share a store.
const MOST_AUTHORITIES: usize = 16;

/// The certificate of the front proxy.
struct Certificate(RotatingCertificate);

impl ProxyIdentity for Certificate {
    fn certificate(&self) -> Arc<CertifiedKey> {
        self.0.current()
    }
}

/// What the builder says about servers behind this one.
pub(super) struct Front {
    /// True if requests go on to them. The kind alone may come from documents, too.
    is_on: bool,
    resolver: Option<Resolver>,
}

impl Front {
    pub(super) fn of(core: &Core) -> Self {
        Self { is_on: core.aggregation, resolver: core.webhook_resolver.clone() }
    }

    /// Opens the authority, publishes it, and adds the controllers, if APIServices are served.
    pub(super) async fn open(
        self,
        api: &Arc<Verbs>,
        state: &StateDir,
        client_ca: Option<PathBuf>,
        all: &mut Vec<Controller>,
    ) -> Result<Option<Arc<Aggregation>>> {
        let services = api.registry.resource(&APIService::kind().group_resource());
        let Some(services) = services.filter(|_| self.is_on) else { return Ok(None) };
        let unreadable =
            |path: &Path, error: std::io::Error| Error::ClientAuthority(path.to_owned(), error.to_string());
        let client_ca = client_ca.map(|path| fs::read_to_string(&path).map_err(|error| unreadable(&path, error)));
        let client_ca = client_ca.transpose()?;
        let authority = Authority::open_in(state, &FRONT_PROXY)?;
        let authority_pem = authority.certificate_pem.clone();
        let identity = Arc::new(Certificate(authority.client(NAME)?));
        let is_served = |kind: crate::kind::Kind| api.registry.resource(&kind.group_resource()).is_some();
        if is_served(ConfigMap::kind()) && is_served(Namespace::kind()) {
            let published = publish(&Client::new(api.clone(), "kindsmith"), &authority_pem, client_ca.as_deref()).await;
            let failed = |error| Error::Bootstrap(format!("the config map {CONFIG_MAP} could not be written: {error}"));
            published.map_err(failed)?;
        }
        let aggregation = Aggregation::start(services.objects.clone(), self.resolver, identity);
        all.splice(0..0, controllers(&aggregation, api));
        Ok(Some(aggregation))
    }
}

/// Writes the authorities, and the names of headers.
async fn publish(client: &Client, authority: &str, client_ca: Option<&str>) -> refusal::Result<()> {
    let maps = client.of::<ConfigMap>(NAMESPACE);
    if maps.get_opt(CONFIG_MAP).await?.is_none() {
        let metadata = ObjectMeta { namespace: NAMESPACE.to_owned(), ..ObjectMeta::named(CONFIG_MAP) };
        let data = published(&BTreeMap::new(), authority, client_ca);
        match maps.create(&ConfigMap { metadata, data, ..ConfigMap::default() }).await {
            // Another server of the store was faster.
            Err(error) if error.status().code == 409 => {}
            created => return created.map(drop),
        }
    }
    let change = |map: &mut ConfigMap| {
        map.data = published(&map.data, authority, client_ca);
        Ok(())
    };
    maps.change(CONFIG_MAP, change).await.map(drop)
}

/// The data with this server's authorities among those of others.
fn published(data: &BTreeMap<String, String>, authority: &str, client_ca: Option<&str>) -> BTreeMap<String, String> {
    let mut data = data.clone();
    let list = |value: Value| value.to_string();
    for (key, value) in [
        ("requestheader-allowed-names", list(json!([NAME]))),
        ("requestheader-username-headers", list(json!(["X-Remote-User"]))),
        ("requestheader-uid-headers", list(json!(["X-Remote-Uid"]))),
        ("requestheader-group-headers", list(json!(["X-Remote-Group"]))),
        ("requestheader-extra-headers-prefix", list(json!(["X-Remote-Extra-"]))),
    ] {
        data.insert(key.to_owned(), value);
    }
    let known = data.get(AUTHORITIES).map(String::as_str).unwrap_or_default();
    data.insert(AUTHORITIES.to_owned(), joined(known, authority));
    // Not joined: an authority that was taken away must not stay.
    if let Some(pem) = client_ca {
        data.insert("client-ca-file".to_owned(), pem.to_owned());
    }
    data
}

/// Two bundles as one, in which each certificate is once. Too many leave out the oldest.
fn joined(known: &str, added: &str) -> String {
    const END: &str = "-----END CERTIFICATE-----";
    let mut certificates: Vec<String> = Vec::new();
    for certificate in [known, added].iter().flat_map(|bundle| bundle.split_inclusive(END)) {
        let certificate = certificate.trim();
        if certificate.ends_with(END) && !certificates.iter().any(|one| one == certificate) {
            certificates.push(certificate.to_owned());
        }
    }
    certificates.drain(..certificates.len().saturating_sub(MOST_AUTHORITIES));
    certificates.iter().flat_map(|certificate| [certificate, "\n"]).collect()
}

/// The controllers that one server of a store runs.
fn controllers(aggregation: &Arc<Aggregation>, api: &Arc<Verbs>) -> Vec<Controller> {
    let (checking, registering, registry) = (aggregation.clone(), aggregation.clone(), api.registry.clone());
    let registration = Controller::new(
        "registration of local APIs".to_owned(),
        move |context: ControllerContext, shutdown: Shutdown| {
            let (aggregation, registry) = (registering.clone(), registry.clone());
            async move {
                aggregation.register_local(&registry, &context.client(), shutdown.requested()).await;
                Ok::<_, Infallible>(())
            }
        },
    );
    let availability = Controller::new(
        "availability of API services".to_owned(),
        move |context: ControllerContext, shutdown: Shutdown| {
            let aggregation = checking.clone();
            async move {
                aggregation.keep_conditions(&context.client(), shutdown.requested()).await;
                Ok::<_, Infallible>(())
            }
        },
    );
    vec![registration, availability]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_authority_is_published_once() {
        let of = |name: &str| format!("-----BEGIN CERTIFICATE-----\n{name}\n-----END CERTIFICATE-----\n");
        let both = joined(&of("a"), &of("b"));
        assert_eq!(both, of("a") + &of("b"));
        assert_eq!(joined(&both, &of("a")), both);
        let many = (0..MOST_AUTHORITIES).fold(String::new(), |many, name| joined(&many, &of(&name.to_string())));
        let more = joined(&many, &of("x"));
        assert!(!more.contains("\n0\n") && more.contains("\n1\n") && more.contains("\nx\n"), "{more}");
    }
}
