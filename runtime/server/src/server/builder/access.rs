//! The builder's settings for access: TLS, and who may use the server.
use std::path::Path;

use super::Builder;
use crate::{
    auth::{AnonymousAccess, Authenticate, Authorize},
    server::{AuthorizationWebhook, FrontProxy, delegated::HostLocation, tls::CertificateFiles},
};

impl Builder {
    /// Uses plain HTTP, on loopback addresses only. Tokens are still required. kubectl sends none without TLS, so this
    /// is for load tests and tools.
    pub fn http(mut self) -> Self {
        self.entrance.plain_http = true;
        self
    }

    /// Another host name or address of the server, for its certificate.
    pub fn host_name(mut self, name: impl Into<String>) -> Self {
        self.entrance.names.push(name.into());
        self
    }

    /// Uses a certificate chain and its key from PEM files instead of the server's own certificates. The files are read
    /// again within a few seconds after a change. If they are invalid, the server logs an error and keeps the previous
    /// certificate.
    ///
    /// The kubeconfig then contains no certificate authority, so that clients trust those of their system, and its URL
    /// has the first [host name](Builder::host_name), if there is one.
    pub fn certificate(mut self, certificate: impl AsRef<Path>, key: impl AsRef<Path>) -> Self {
        let (certificate, key) = (certificate.as_ref().to_owned(), key.as_ref().to_owned());
        self.entrance.certificate = Some(CertificateFiles { certificate, key });
        self
    }

    /// Authenticates users by the tokens in this file, with lines of `token,user,uid,"group,group"`, instead of
    /// creating an admin token and a kubeconfig. Members of the group `system:masters` may do everything.
    ///
    /// The file is read again within a few seconds after a change, and at once after SIGHUP. If it is invalid, the
    /// server logs an error and keeps the previous tokens.
    pub fn token_file(mut self, path: impl AsRef<Path>) -> Self {
        self.users.token_file = Some(path.as_ref().to_owned());
        self
    }

    /// Authenticates users by the ID tokens of OpenID Connect issuers that this file names, and decides by it who may be anonymous. The file
    /// is kube-apiserver's `AuthenticationConfiguration` of `apiserver.config.k8s.io/v1` or `v1beta1`, in YAML or JSON; the guide's page
    /// about OpenID Connect describes it. Distributed claims and egress selectors are not supported.
    ///
    /// The file is read again within a few seconds after a change, and at once after SIGHUP. If it is invalid, the server logs an error
    /// and keeps what it said before. An issuer that cannot be reached does not affect others: its tokens are refused, and the server tries
    /// again.
    pub fn authentication_config(mut self, path: impl AsRef<Path>) -> Self {
        self.users.authentication_config = Some(path.as_ref().to_owned());
        self
    }

    /// Says which requests without credentials are let in as `system:anonymous`; all by default, as roles allow them little. A file of
    /// [`Builder::authentication_config`] may say it instead.
    ///
    /// ```
    /// # use kindsmith::{Server, auth::AnonymousAccess};
    /// let health = ["/livez", "/readyz"].map(str::to_owned);
    /// let server = Server::builder().anonymous(AnonymousAccess::Paths(health.into()));
    /// ```
    pub fn anonymous(mut self, access: AnonymousAccess) -> Self {
        self.users.anonymous = Some(access);
        self
    }

    /// Signs the tokens of service accounts with the first key in this PEM file, instead of a key of the server's own in the data
    /// directory. Tokens of all keys in it are valid, so that a new key can be put before an old one, which goes once its tokens have
    /// expired. Keys are in PKCS #8: of the curve P-256, or RSA. The file is read again within a few seconds after a change.
    ///
    /// Several servers over one store need the same keys.
    pub fn service_account_keys(mut self, path: impl AsRef<Path>) -> Self {
        self.users.account_keys = Some(path.as_ref().to_owned());
        self
    }

    /// Verifies the certificates of TLS clients against the authorities in a PEM file, instead of `client-ca.crt` in the data
    /// directory, which signs for `kindsmith user add`. The file is read again within a few seconds after a change. As in kube-apiserver, the subject's common name (CN) is the user, and its
    /// organizations (O) are the groups. Members of the group `system:masters` may do everything, so use only authorities
    /// that sign certificates for clients of this server. Clients without a certificate can connect, clients with an invalid
    /// one cannot. On an open connection, a certificate that has expired, or whose authority was taken
    /// away, identifies no user any more after a minute at most.
    pub fn client_ca(mut self, path: impl AsRef<Path>) -> Self {
        self.users.client_ca = Some(path.as_ref().to_owned());
        self
    }

    /// Believes a proxy in front that has authenticated the user and names it in the headers `X-Remote-User`, `X-Remote-Uid`,
    /// `X-Remote-Group` and `X-Remote-Extra-…`, as kube-apiserver does with `--requestheader-client-ca-file`. The proxy is known by its
    /// client certificate, which one of the [`FrontProxy`]'s authorities must have signed. These headers are ignored from everyone else.
    ///
    /// The authorities should be others than those of [`Builder::client_ca`]: certificates of a user's authority are never a proxy's,
    /// and those of a proxy's authority never a user's. The file is read again within a few seconds after a change.
    ///
    /// ```no_run
    /// # use kindsmith::{Server, server::FrontProxy};
    /// let server = Server::builder().front_proxy(FrontProxy::new("front-proxy-ca.crt").allowed_name("front-proxy-client"));
    /// ```
    ///
    /// # Errors
    /// [`Builder::build`] fails if the file has no certificate authority in PEM, and with [`Builder::http`].
    pub fn front_proxy(mut self, proxy: FrontProxy) -> Self {
        self.users.front_proxy = Some(proxy);
        self
    }

    /// Identifies users by their bearer tokens with the webhook of a kubeconfig, which gets a TokenReview
    /// (`authentication.k8s.io/v1`) for each token that this server does not know itself. A user is kept for two minutes, and for 30
    /// seconds that a token has none. If the webhook does not answer, even when it is tried again, the token is refused with 401 and
    /// the error is logged.
    ///
    /// The kubeconfig has the webhook's URL, its authorities, and a token or a client certificate of this server.
    ///
    /// # Errors
    /// [`Builder::build`] fails if the kubeconfig cannot be used.
    pub fn token_webhook(mut self, kubeconfig: impl AsRef<Path>) -> Self {
        self.users.token_webhook = Some(kubeconfig.as_ref().to_owned());
        self
    }

    /// Asks a webhook about requests that neither `system:masters` nor roles allow, before the [authorizers](Builder::authorizer) of
    /// this program. May be called several times; the webhooks are asked in that order.
    ///
    /// ```no_run
    /// # use kindsmith::{Server, server::AuthorizationWebhook};
    /// let webhook = AuthorizationWebhook::new("webhook.kubeconfig").match_condition("has(request.resourceAttributes)");
    /// let server = Server::builder().authorization_webhook(webhook);
    /// ```
    ///
    /// # Errors
    /// [`Builder::build`] fails if the kubeconfig cannot be used, or a match condition is invalid.
    pub fn authorization_webhook(mut self, webhook: AuthorizationWebhook) -> Self {
        self.users.authorization_webhooks.push(webhook);
        self
    }

    /// Reads the authorizers and their order from an AuthorizationConfiguration (`apiserver.config.k8s.io/v1`), the file that
    /// kube-apiserver takes with `--authorization-config`. Its types are `RBAC` (the roles of this server), `Webhook`, `AlwaysAllow` and
    /// `AlwaysDeny`. Without `RBAC` in it, roles allow nothing. Members of `system:masters` may do everything nevertheless, and
    /// [authorizers](Builder::authorizer) of this program are asked last.
    ///
    /// The file is read again within a few seconds after a change. If it is invalid, the server logs all errors and keeps the previous
    /// authorizers.
    ///
    /// # Errors
    /// [`Builder::build`] fails if the file or a kubeconfig that it names is invalid, and with [`Builder::authorization_webhook`].
    pub fn authorization_config(mut self, path: impl AsRef<Path>) -> Self {
        self.users.authorization_config = Some(path.as_ref().to_owned());
        self
    }

    /// Serves behind another API server, the host, whose kubeconfig this is, as servers do that are made with k8s.io/apiserver:
    ///
    /// - The host reviews bearer tokens (TokenReview) and access (SubjectAccessReview). Its answers are kept for ten seconds.
    /// - The front proxy's authorities, its names and its headers, and the authorities of users' certificates come from the host's
    ///   ConfigMap `kube-system/extension-apiserver-authentication`, which is read every ten seconds. The files of
    ///   [`Builder::front_proxy`] and [`Builder::client_ca`] count before it.
    /// - Members of `system:masters` may do everything, and everyone may get `/healthz`, `/readyz` and `/livez`.
    /// - The server has no admin token, writes no kubeconfig, and serves neither roles nor service accounts: those of the host count.
    ///
    /// This server's user on the host needs the ClusterRole `system:auth-delegator`, and in the namespace `kube-system` the Role
    /// `extension-apiserver-authentication-reader`. `kindsmith export apiservice` writes the bindings.
    ///
    /// # Errors
    /// [`Builder::build`] fails if the kubeconfig cannot be used, or the ConfigMap cannot be read; and with [`Builder::http`],
    /// [`Builder::token_file`], [`Builder::service_account_keys`] and [`Builder::authorization_config`].
    pub fn delegated(self, kubeconfig: impl AsRef<Path>) -> Self {
        self.behind(HostLocation::Kubeconfig(kubeconfig.as_ref().to_owned()))
    }

    /// Like [`Builder::delegated`], behind the API server of the cluster in which this program runs as a Pod, with the credentials of
    /// its service account.
    ///
    /// # Errors
    /// [`Builder::build`] fails outside of a Pod, and like [`Builder::delegated`].
    pub fn delegated_in_cluster(self) -> Self {
        self.behind(HostLocation::InCluster)
    }

    fn behind(mut self, host: HostLocation) -> Self {
        self.users.host = Some(host);
        self.core.without_users = true;
        self
    }

    /// Adds an authenticator, after tokens and the authenticators added before. The first that identifies the user
    /// decides, and the user is put into `system:authenticated`. A request is anonymous if none identifies its user and
    /// none refuses its credentials.
    ///
    #[doc = include_str!("../docs/authenticator.md")]
    pub fn authenticator(mut self, authenticator: impl Authenticate) -> Self {
        self.users.authenticators.push(Box::new(authenticator));
        self
    }

    /// Adds an authorizer. Members of `system:masters` may do everything, and others what roles allow. About everything else the
    /// authorizers are called in the order in which they were added, and the first that allows or denies decides. If all have no
    /// opinion, the request is denied.
    ///
    #[doc = include_str!("../docs/authorizer.md")]
    pub fn authorizer(mut self, authorizer: impl Authorize) -> Self {
        self.users.authorizers.push(Box::new(authorizer));
        self
    }
}
