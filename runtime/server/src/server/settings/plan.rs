//! All settings as typed values, and a builder with them.
use std::{path::PathBuf, time::Duration};

use crate::{
    auth::AnonymousAccess,
    server::{Builder, Error, FrontProxy, Limits, Result, logging::Log, stores::Keep},
};

/// What a server is to be like. What is not set is as the program's builder says.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are settings of their own")]
pub(super) struct Plan {
    pub listen: String,
    pub host_names: Vec<String>,
    pub path_prefix: Option<String>,
    pub cert_file: Option<PathBuf>,
    pub private_key_file: Option<PathBuf>,
    pub http: bool,
    pub version: Option<String>,
    pub stop_within: Option<Duration>,
    pub stop_delay: Option<Duration>,
    pub write_kubeconfig: Option<PathBuf>,
    pub ready_file: Option<PathBuf>,
    pub stop_with_stdin: bool,
    pub log: Log,
    pub kubernetes: bool,
    pub definitions: Vec<PathBuf>,
    pub crds: Vec<PathBuf>,
    pub max_file_size: Option<usize>,
    pub aggregation: bool,
    pub event_lifetime: Option<Duration>,
    pub data_dir: Option<PathBuf>,
    pub memory: bool,
    pub etcd: EtcdPlan,
    pub encryption: Option<PathBuf>,
    pub token_file: Option<PathBuf>,
    pub client_ca: Option<PathBuf>,
    pub service_account_keys: Option<PathBuf>,
    pub authentication_config: Option<PathBuf>,
    pub authorization_config: Option<PathBuf>,
    pub token_webhook: Option<PathBuf>,
    pub anonymous: Option<String>,
    pub front_proxy_ca: Option<PathBuf>,
    pub front_proxy_names: Vec<String>,
    pub delegate: Option<PathBuf>,
    pub delegate_in_cluster: bool,
    pub limits: Limits,
}

/// The settings for etcd.
#[derive(Clone, Debug, Default)]
pub(super) struct EtcdPlan {
    pub endpoints: Vec<String>,
    pub prefix: Option<String>,
    pub user: Option<String>,
    pub password_file: Option<PathBuf>,
    pub ca: Option<PathBuf>,
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub history_age: Option<Duration>,
}

/// Where objects are if neither settings nor the program say it.
const DATA_DIR: &str = "./data";

/// Sets an option of a builder, if there is a value.
fn with<T>(builder: Builder, value: Option<T>, set: impl FnOnce(Builder, T) -> Builder) -> Builder {
    match value {
        Some(value) => set(builder, value),
        None => builder,
    }
}

impl Plan {
    /// A plan in which nothing is set.
    pub(super) fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    /// A plan in which nothing is set, and these limits hold.
    pub(super) fn with_limits(limits: Limits) -> Self {
        Self {
            listen: "127.0.0.1:8080".to_owned(),
            log: Log { filter: "info".to_owned(), ..Log::default() },
            limits,
            host_names: Vec::new(),
            path_prefix: None,
            cert_file: None,
            private_key_file: None,
            http: false,
            version: None,
            stop_within: None,
            stop_delay: None,
            write_kubeconfig: None,
            ready_file: None,
            stop_with_stdin: false,
            kubernetes: false,
            definitions: Vec::new(),
            crds: Vec::new(),
            max_file_size: None,
            aggregation: false,
            event_lifetime: None,
            data_dir: None,
            memory: false,
            etcd: EtcdPlan::default(),
            encryption: None,
            token_file: None,
            client_ca: None,
            service_account_keys: None,
            authentication_config: None,
            authorization_config: None,
            token_webhook: None,
            anonymous: None,
            front_proxy_ca: None,
            front_proxy_names: Vec::new(),
            delegate: None,
            delegate_in_cluster: false,
        }
    }

    /// The builder with these settings.
    ///
    /// # Errors
    /// Settings that need a feature which this program was built without, and files that cannot be read.
    pub(super) fn build(self, builder: Builder) -> Result<Builder> {
        let builder = self.store(builder)?;
        let builder = self.kinds(builder)?;
        let builder = self.users(builder);
        let builder = self.host_names.into_iter().fold(builder, Builder::host_name);
        let builder = with(builder, self.path_prefix, Builder::path_prefix);
        let builder = with(builder, self.cert_file.zip(self.private_key_file), |builder, (certificate, key)| {
            builder.certificate(certificate, key)
        });
        let builder = if self.http { builder.http() } else { builder };
        let builder = with(builder, self.version, Builder::version);
        let builder = with(builder, self.stop_within, Builder::stop_within);
        let builder = with(builder, self.stop_delay, Builder::stop_delay);
        Ok(builder.limits(|limits| *limits = self.limits))
    }

    fn store(&self, builder: Builder) -> Result<Builder> {
        let builder = match &self.data_dir {
            _ if self.memory => builder.memory(),
            Some(path) => builder.data_dir(path),
            None if matches!(builder.core.store.keep, Keep::Unsaid) => builder.data_dir(DATA_DIR),
            None => builder,
        };
        let builder = match &self.encryption {
            Some(file) => builder.encryption_provider_config(file),
            None => builder,
        };
        if self.etcd.endpoints.is_empty() { Ok(builder) } else { self.etcd.build(builder) }
    }

    fn kinds(&self, builder: Builder) -> Result<Builder> {
        let builder = served_kubernetes(builder, self.kubernetes)?;
        let builder = builder.definition_files(&self.definitions).install_definitions(&self.crds);
        let builder = with(builder, self.max_file_size, |builder, size| builder.max_definition_file(size as u64));
        let builder = with(builder, self.event_lifetime, Builder::event_lifetime);
        Ok(if self.aggregation { builder.aggregation() } else { builder })
    }

    fn users(&self, builder: Builder) -> Builder {
        let builder = with(builder, self.token_file.as_ref(), Builder::token_file);
        let builder = with(builder, self.client_ca.as_ref(), Builder::client_ca);
        let builder = with(builder, self.service_account_keys.as_ref(), Builder::service_account_keys);
        let builder = with(builder, self.authentication_config.as_ref(), Builder::authentication_config);
        let builder = with(builder, self.authorization_config.as_ref(), Builder::authorization_config);
        let builder = with(builder, self.token_webhook.as_ref(), Builder::token_webhook);
        let builder = with(builder, self.anonymous.as_deref(), |builder, access| {
            builder.anonymous(match access {
                "none" => AnonymousAccess::Refused,
                "health" => AnonymousAccess::Paths(["/healthz", "/livez", "/readyz"].map(str::to_owned).into()),
                _ => AnonymousAccess::Allowed,
            })
        });
        let builder = with(builder, self.front_proxy_ca.as_ref(), |builder, ca| {
            let names = self.front_proxy_names.iter();
            builder.front_proxy(names.fold(FrontProxy::new(ca), FrontProxy::allowed_name))
        });
        let builder = with(builder, self.delegate.as_ref(), Builder::delegated);
        if self.delegate_in_cluster { builder.delegated_in_cluster() } else { builder }
    }
}

/// Serves the API of Kubernetes, or completes documents of it.
#[cfg(feature = "kubernetes")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature, it fails")]
fn served_kubernetes(builder: Builder, is_served: bool) -> Result<Builder> {
    Ok(if is_served { builder.kubernetes() } else { builder.complete_kubernetes() })
}

#[cfg(not(feature = "kubernetes"))]
fn served_kubernetes(builder: Builder, is_served: bool) -> Result<Builder> {
    if is_served { Err(lacks("kubernetes", "kubernetes")) } else { Ok(builder) }
}

#[cfg(not(all(feature = "kubernetes", feature = "etcd")))]
fn lacks(setting: &str, feature: &str) -> Error {
    Error::Setting(format!("{setting}: this program was built without the feature `{feature}`"))
}

impl EtcdPlan {
    #[cfg(not(feature = "etcd"))]
    #[expect(clippy::unused_self, reason = "with the feature, it is used")]
    fn build(&self, _: Builder) -> Result<Builder> {
        Err(lacks("etcd.endpoints", "etcd"))
    }

    #[cfg(feature = "etcd")]
    fn build(&self, builder: Builder) -> Result<Builder> {
        use crate::storage::EtcdOptions;

        let mut options = EtcdOptions::new(&self.endpoints);
        if let Some(prefix) = &self.prefix {
            options = options.prefix(prefix);
        }
        if let Some((user, file)) = self.user.as_ref().zip(self.password_file.as_ref()) {
            options = options.user_with_password_file(user, file).map_err(Error::Etcd)?;
        }
        if let Some(ca) = &self.ca {
            options = options.ca_file(ca).map_err(Error::Etcd)?;
        }
        if let Some((cert, key)) = self.cert.as_ref().zip(self.key.as_ref()) {
            options = options.client_certificate_files(cert, key).map_err(Error::Etcd)?;
        }
        if let Some(age) = self.history_age {
            options = options.history_age(age);
        }
        Ok(builder.etcd(options))
    }
}
