//! Access to the server: the token file or the admin token, and the builder's authenticators and authorizers.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    AuthorizationWebhook, Error, FrontProxy, Result, authentication_file,
    authorization_config::ConfiguredAuthorizers,
    client_ca::ClientAuthorities,
    client_certificates::ClientCertificates,
    client_issuer::ClientIssuer,
    delegated::{HealthPaths, Host, HostLocation},
    files::FileWatcher,
    first_run::Kubeconfig,
    review,
    state::{ADMIN_TOKEN, StateDir},
    token_file::{self, TokenFile},
};
use crate::{
    auth::{
        AnonymousAccess, Authenticate, Authorize, Chain, CurrentAnonymousAccess, Masters, Union,
        certificates::KnownCertificates, roles::Roles,
    },
    builtin::accounts::Accounts,
    tasks::BoxFuture,
};

/// The builder's settings for access.
#[derive(Default)]
pub(super) struct Users {
    pub token_file: Option<PathBuf>,
    /// The file with the issuers of ID tokens.
    pub authentication_config: Option<PathBuf>,
    /// Who may be anonymous, if the program says so.
    pub anonymous: Option<AnonymousAccess>,
    /// The file with the keys of service accounts, if it is not in the data directory.
    pub account_keys: Option<PathBuf>,
    /// The file of the authorities of users' certificates.
    pub client_ca: Option<PathBuf>,
    pub front_proxy: Option<FrontProxy>,
    /// The kubeconfig of the webhook that reviews tokens.
    pub token_webhook: Option<PathBuf>,
    pub authorization_webhooks: Vec<AuthorizationWebhook>,
    /// The file of the authorizers and their order.
    pub authorization_config: Option<PathBuf>,
    /// The API server that says who users are and what they may do.
    pub host: Option<HostLocation>,
    pub authenticators: Vec<Box<dyn Authenticate>>,
    pub authorizers: Vec<Box<dyn Authorize>>,
}

/// The authentication and authorization of the server.
pub(super) struct Access {
    pub authenticator: Arc<dyn Authenticate>,
    pub authorizer: Arc<dyn Authorize>,
    /// The admin, if the server created the token.
    pub admin: Option<Admin>,
    /// The file of the authorities of users' certificates.
    pub client_ca: Option<PathBuf>,
    /// The authorities of client certificates, if clients are asked for any.
    pub clients: Option<Arc<ClientAuthorities>>,
    /// The watchers of files with tokens, authorities and authorizers.
    pub files: Vec<FileWatcher>,
    /// The task that follows the host.
    pub follow_host: Option<BoxFuture<()>>,
}

/// The admin whose token the server created.
pub(super) struct Admin {
    /// The token at startup.
    pub token: String,
    kubeconfig: Arc<Mutex<Option<Kubeconfig>>>,
}

impl Admin {
    /// Writes the kubeconfig, now and whenever the token changes.
    pub(super) fn write_kubeconfig(&self, state: &StateDir, kubeconfig: Kubeconfig) -> Result<()> {
        let mut current = self.kubeconfig.lock().unwrap_or_else(PoisonError::into_inner);
        // The token may have changed since the start.
        current.insert(kubeconfig).write(&state.files, &state.admin_token()?)
    }
}

impl Users {
    /// Refuses settings that exclude each other.
    pub(super) fn check(&self, plain_http: bool) -> Result<()> {
        let settings = [
            ("client_ca()", self.client_ca.is_some()),
            ("front_proxy()", self.front_proxy.is_some()),
            ("delegated()", self.host.is_some()),
        ];
        if let Some((setting, _)) = settings.iter().find(|(_, is_set)| plain_http && *is_set) {
            return Err(Error::Setting(format!("{setting} needs TLS: leave out http()")));
        }
        if let Some(Err(why)) = self.front_proxy.as_ref().map(|proxy| proxy.headers().check()) {
            return Err(Error::Setting(format!("front_proxy(): extra_header_prefixes: {why}")));
        }
        let own = [
            ("token_file()", self.token_file.is_some()),
            ("service_account_keys()", self.account_keys.is_some()),
            ("authorization_config()", self.authorization_config.is_some()),
        ];
        if let Some((setting, _)) = own.iter().find(|(_, is_set)| self.host.is_some() && *is_set) {
            let why = format!(
                "{setting} and delegated() exclude each other: the host says who users are and what they may do"
            );
            return Err(Error::Setting(why));
        }
        if self.authorization_config.is_some() && !self.authorization_webhooks.is_empty() {
            let why =
                "authorization_webhook() and authorization_config() exclude each other: name the webhook in the file";
            return Err(Error::Setting(why.to_owned()));
        }
        Ok(())
    }

    /// The front proxy and client certificates are checked first, then tokens: those of the token file, or the server's own admin
    /// token, those of service accounts and of OpenID Connect, and those that a webhook knows. Then the builder's authenticators run. With a host, it reviews
    /// tokens, and the server has none of its own.
    pub(super) async fn access(
        mut self,
        state: &StateDir,
        plain_http: bool,
        accounts: Option<Arc<Accounts>>,
        roles: Arc<Roles>,
    ) -> Result<Access> {
        let host = match self.host.take() {
            Some(location) => Some(location.open().await?),
            None => None,
        };
        let has_own_authority = self.client_ca.is_none() && host.is_none() && !plain_http;
        if has_own_authority {
            self.client_ca = Some(ClientIssuer::open(&state.files)?.file());
        }
        let client_ca = self.client_ca.clone();
        let certificates = ClientCertificates::open(self.client_ca.take(), self.front_proxy.take(), host.as_ref())?;
        // The program does not ask for certificates: a client may have one for another server.
        let clients = certificates.authorities(has_own_authority);
        let ClientCertificates { mut authenticators, watchers: mut files, .. } = certificates;
        let mut admin = None;
        if let Some(host) = &host {
            authenticators.push(Box::new(host.tokens()?));
        } else {
            let (file, own_admin) = self.token_file(state)?;
            admin = own_admin;
            let (tokens, token_file) = token_file::open(file)?;
            files.push(token_file);
            authenticators.push(Box::new(tokens));
            if let Some(accounts) = accounts {
                authenticators.push(Box::new(accounts));
            }
        }
        let anonymous = Arc::new(CurrentAnonymousAccess::default());
        anonymous.replace(self.anonymous.clone().unwrap_or_default());
        if let Some(path) = self.authentication_config.take() {
            let (id_tokens, watcher) = authentication_file::open(path, self.anonymous.take(), &anonymous)?;
            authenticators.push(Box::new(id_tokens));
            files.push(watcher);
        }
        if let Some(kubeconfig) = &self.token_webhook {
            authenticators.push(Box::new(review::token_webhook(kubeconfig)?));
        }
        authenticators.append(&mut self.authenticators);
        let authorizers = self.authorizers(host.as_ref(), roles, &mut files)?;
        // The authorizers decide what requests without credentials may do.
        let chain = Chain::new(authenticators).or_anonymous_if(anonymous);
        let authenticator: Arc<dyn Authenticate> = match &clients {
            Some(clients) if has_own_authority => {
                Arc::new(KnownCertificates { authorities: clients.clone(), authenticator: chain })
            }
            _ => Arc::new(chain),
        };
        let (authorizer, follow_host) = (Arc::new(Union::new(authorizers)), host.map(Host::follow));
        Ok(Access { authenticator, authorizer, admin, client_ca, clients, files, follow_host })
    }

    /// The file with the tokens, and the admin, if the server makes the token.
    fn token_file(&mut self, state: &StateDir) -> Result<(TokenFile, Option<Admin>)> {
        if let Some(path) = self.token_file.take() {
            return Ok((TokenFile::Users(path), None));
        }
        let admin = Admin { token: state.admin_token()?, kubeconfig: Arc::default() };
        let (files, kubeconfig) = (state.files.clone(), admin.kubeconfig.clone());
        Ok((TokenFile::Admin { files, name: ADMIN_TOKEN, kubeconfig }, Some(admin)))
    }

    /// `system:masters` may do everything. About others decide the host, or the authorizers of a file, or roles and then webhooks; the
    /// builder's authorizers come last.
    fn authorizers(
        self,
        host: Option<&Host>,
        roles: Arc<Roles>,
        files: &mut Vec<FileWatcher>,
    ) -> Result<Vec<Box<dyn Authorize>>> {
        let mut authorizers: Vec<Box<dyn Authorize>> = vec![Box::new(Masters)];
        match (host, self.authorization_config) {
            (Some(host), _) => {
                authorizers.push(Box::new(HealthPaths));
                authorizers.push(Box::new(host.access()));
            }
            (None, Some(path)) => {
                let (configured, watcher) = ConfiguredAuthorizers::open(path, roles)?;
                files.push(watcher);
                authorizers.push(Box::new(configured));
            }
            (None, None) => authorizers.push(Box::new(roles)),
        }
        for webhook in &self.authorization_webhooks {
            authorizers.push(Box::new(webhook.open()?));
        }
        authorizers.extend(self.authorizers);
        Ok(authorizers)
    }
}
