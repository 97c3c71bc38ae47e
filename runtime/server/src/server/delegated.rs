//! Behind another API server, the host: it reviews tokens and access, and publishes the authorities of its users and of its front proxy.
//! Lifetimes and deadlines are those of servers that are made with k8s.io/apiserver.

use std::{path::PathBuf, sync::Arc, time::Duration};

use tokio::time::sleep;

use super::{
    AuthorizationWebhook, Error, Result,
    client_ca::{Authorities, verifier},
    review,
};
use crate::{
    auth::{Attributes, Authorize, Decision, Rules, Soon, User, front_proxy::FrontProxies, front_proxy::ProxyHeaders},
    tasks::{self, BoxFuture},
    upstream::{
        access_review::AccessReviews,
        client::{Client, Deadlines},
        conditions::Conditions,
        host::Published,
        token_review::{self, TokenReviews},
    },
};

/// How long answers of the host are kept.
const KEPT_FOR: Duration = Duration::from_secs(10);
/// How long a call to the host may take.
const DEADLINE: Duration = Duration::from_secs(10);
/// How often the published authorities are read.
const READ_AGAIN: Duration = Duration::from_secs(10);

/// The location of the host.
pub(super) enum HostLocation {
    /// The server of a kubeconfig.
    Kubeconfig(PathBuf),
    /// The API server of the cluster in which this program is a Pod.
    InCluster,
}

/// The host.
pub(super) struct Host {
    client: Arc<Client>,
    /// For messages.
    path: PathBuf,
    published: Published,
    /// The authorities of the front proxy.
    pub proxy_authorities: Arc<Authorities>,
    /// The proxy's headers.
    pub proxies: Arc<FrontProxies>,
    /// The authorities of users' certificates.
    pub user_authorities: Arc<Authorities>,
}

impl HostLocation {
    /// Reads the kubeconfig, and what the host publishes.
    pub(super) async fn open(&self) -> Result<Host> {
        let (client, path) = match self {
            Self::Kubeconfig(path) => (review::client(path)?, path.clone()),
            Self::InCluster => (review::in_cluster_client()?, PathBuf::from(review::IN_CLUSTER)),
        };
        let published = Published::read(&client, deadlines()).await;
        let published = published.map_err(|why| Error::Upstream(path.clone(), why))?;
        let [proxy_authorities, user_authorities] = [(); 2].map(|()| Arc::new(Authorities::default()));
        let proxies = Arc::new(FrontProxies::new(proxy_authorities.clone(), ProxyHeaders::default()));
        let host = Host { client, path, published, proxy_authorities, proxies, user_authorities };
        host.apply(&host.published).map_err(|why| Error::Upstream(host.path.clone(), why))?;
        if host.published.proxy_ca.is_none() {
            tracing::warn!("the host publishes no authority of a front proxy: requests through it are anonymous");
        }
        Ok(host)
    }
}

fn deadlines() -> Deadlines {
    Deadlines { attempt: DEADLINE, whole: DEADLINE }
}

impl Host {
    /// The host's reviews of tokens.
    pub(super) fn tokens(&self) -> Result<TokenReviews> {
        let settings = token_review::Settings {
            path: "/apis/authentication.k8s.io/v1/tokenreviews",
            known_for: KEPT_FOR,
            unknown_for: KEPT_FOR,
            deadlines: deadlines(),
            names_audiences: false,
        };
        let reviews = TokenReviews::new(self.client.clone(), settings);
        reviews.map_err(|why| Error::Upstream(self.path.clone(), why))
    }

    /// The host's reviews of access.
    pub(super) fn access(&self) -> AccessReviews {
        let mut settings = AuthorizationWebhook::named("host", None).settings;
        settings.path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        (settings.allowed_for, settings.refused_for) = (KEPT_FOR, KEPT_FOR);
        settings.deadlines = Deadlines { attempt: DEADLINE, whole: 3 * DEADLINE };
        AccessReviews::new(self.client.clone(), settings, Conditions::default())
    }

    /// Uses what the host publishes. Invalid authorities change nothing.
    fn apply(&self, published: &Published) -> std::result::Result<(), String> {
        let authorities = [
            ("client-ca-file", &self.user_authorities, &published.client_ca),
            ("requestheader-client-ca-file", &self.proxy_authorities, &published.proxy_ca),
        ];
        let mut read = Vec::new();
        for (key, authorities, pem) in authorities {
            let verifier = pem.as_ref().map(|pem| verifier(pem.as_bytes())).transpose();
            let failed =
                |why| format!("the ConfigMap kube-system/extension-apiserver-authentication: data.{key}: {why}");
            read.push((authorities, verifier.map_err(failed)?));
        }
        for (authorities, verifier) in read {
            authorities.set(verifier);
        }
        self.proxies.replace(published.headers.clone());
        Ok(())
    }

    /// Follows what the host publishes, until the task is cancelled.
    pub(super) fn follow(self) -> BoxFuture<()> {
        tasks::boxed(async move {
            let (mut last, mut last_error) = (self.published.clone(), None);
            loop {
                sleep(READ_AGAIN).await;
                let read = Published::read(&self.client, deadlines()).await;
                let applied = match read {
                    Ok(published) if published == last => Ok(()),
                    Ok(published) => self.apply(&published).map(|()| {
                        tracing::info!("the host's authorities were read again");
                        last = published;
                    }),
                    Err(why) => Err(why),
                };
                let error = applied.err();
                if let Some(why) = error.as_ref().filter(|_| error != last_error) {
                    tracing::error!(why, "the host's authorities cannot be read; what was read before stays valid");
                }
                last_error = error;
            }
        })
    }
}

/// Allows everyone to ask for the server's health: the kubelet asks it without credentials.
pub(super) struct HealthPaths;

impl HealthPaths {
    const PATHS: [&str; 3] = ["/healthz", "/readyz", "/livez"];
}

impl Authorize for HealthPaths {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        let is_health = attributes.resource.is_empty() && Self::PATHS.contains(&attributes.path);
        Soon::now(if is_health { Decision::ALLOW } else { Decision::NO_OPINION })
    }

    fn rules<'a>(&'a self, _user: &'a User, _namespace: &'a str) -> Soon<'a, Rules> {
        Soon::now(Rules::default())
    }
}
