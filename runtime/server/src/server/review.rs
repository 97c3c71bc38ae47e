//! The settings for webhooks that review tokens and access.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use super::{Error, Result};
use crate::upstream::{
    access_review::{self, AccessReviews, OnFailure, Version},
    client::{Client, Deadlines},
    conditions::{Conditions, MOST_CONDITIONS},
    kubeconfig::Endpoint,
    token_review::{self, TokenReviews},
};

/// The longest time of one attempt, and the longest time of all attempts that requests share, as in kube-apiserver.
const ATTEMPT: Duration = Duration::from_secs(30);

/// The name in messages of the API server of the cluster in which this program is a Pod, in place of a kubeconfig.
pub(super) const IN_CLUSTER: &str = "the service account of this Pod";

/// The webhook of a kubeconfig that reviews tokens.
pub(super) fn token_webhook(kubeconfig: &Path) -> Result<TokenReviews> {
    let settings = token_review::Settings {
        path: "",
        known_for: Duration::from_mins(2),
        unknown_for: Duration::from_secs(30),
        deadlines: Deadlines { attempt: ATTEMPT, whole: ATTEMPT },
        names_audiences: true,
    };
    TokenReviews::new(client(kubeconfig)?, settings).map_err(|why| Error::Upstream(kubeconfig.to_owned(), why))
}

/// A client of the server of a kubeconfig.
pub(super) fn client(kubeconfig: &Path) -> Result<Arc<Client>> {
    let client = Endpoint::from_file(kubeconfig).and_then(Client::new);
    client.map(Arc::new).map_err(|why| Error::Upstream(kubeconfig.to_owned(), why))
}

/// A client of the API server of the cluster in which this program is a Pod.
pub(super) fn in_cluster_client() -> Result<Arc<Client>> {
    let client = Endpoint::in_cluster().and_then(Client::new);
    client.map(Arc::new).map_err(|why| Error::Upstream(PathBuf::from(IN_CLUSTER), why))
}

/// A webhook that decides about access; see [`Builder::authorization_webhook`](super::Builder::authorization_webhook). It gets a
/// SubjectAccessReview (`authorization.k8s.io/v1`).
#[derive(Clone, Debug)]
pub struct AuthorizationWebhook {
    pub(super) settings: access_review::Settings,
    /// The file; `None` for the server of the cluster in which this program is a Pod.
    pub(super) kubeconfig: Option<PathBuf>,
    pub(super) conditions: Vec<String>,
}

impl AuthorizationWebhook {
    /// The webhook of a kubeconfig, with kube-apiserver's defaults: an answer that allows is kept for five minutes, any other for 30
    /// seconds, and if the webhook fails, it has no opinion.
    pub fn new(kubeconfig: impl AsRef<Path>) -> Self {
        let kubeconfig = kubeconfig.as_ref();
        Self::named(&kubeconfig.display().to_string(), Some(kubeconfig.to_owned()))
    }

    /// The webhook with a name for logs.
    pub(super) fn named(name: &str, kubeconfig: Option<PathBuf>) -> Self {
        let settings = access_review::Settings {
            name: name.to_owned(),
            path: "",
            version: Version::V1,
            allowed_for: Duration::from_mins(5),
            refused_for: Duration::from_secs(30),
            deadlines: Deadlines { attempt: ATTEMPT, whole: 2 * ATTEMPT },
            on_failure: OnFailure::NoOpinion,
        };
        Self { settings, kubeconfig, conditions: Vec::new() }
    }

    /// Keeps answers that allow a request, and other answers, for these times; zero keeps none.
    #[must_use]
    pub fn keep_for(mut self, allowed: Duration, refused: Duration) -> Self {
        (self.settings.allowed_for, self.settings.refused_for) = (allowed, refused);
        self
    }

    /// The time that one call may take, at most 30 seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.deadlines.attempt = timeout.min(ATTEMPT);
        self
    }

    /// Denies requests if the webhook fails, or one of its match conditions. The default is that it has no opinion then.
    #[must_use]
    pub fn deny_on_failure(mut self) -> Self {
        self.settings.on_failure = OnFailure::Deny;
        self
    }

    /// Asks the webhook only about requests that meet a condition: an expression in CEL about `request`, the spec of the
    /// SubjectAccessReview, such as `has(request.resourceAttributes)`. Of several, all must be met.
    #[must_use]
    pub fn match_condition(mut self, expression: impl Into<String>) -> Self {
        self.conditions.push(expression.into());
        self
    }

    /// Reads the kubeconfig, and compiles the conditions.
    pub(super) fn open(&self) -> Result<AccessReviews> {
        let (client, path) = match &self.kubeconfig {
            Some(path) => (client(path)?, path.clone()),
            None => (in_cluster_client()?, PathBuf::from(IN_CLUSTER)),
        };
        let mut conditions = Conditions::default();
        if self.conditions.len() > MOST_CONDITIONS {
            let why = format!("there are more than {MOST_CONDITIONS} match conditions for its webhook");
            return Err(Error::Upstream(path, why));
        }
        for expression in &self.conditions {
            let wrong = |why| Error::Upstream(path.clone(), format!("the match condition {expression:?}: {why}"));
            conditions.add(expression).map_err(wrong)?;
        }
        Ok(AccessReviews::new(client, self.settings.clone(), conditions))
    }
}
