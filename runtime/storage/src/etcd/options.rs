//! What a program sets: endpoints, prefix, user, certificates, the age of history.

use std::{fmt, fs, path::Path, time::Duration};

use super::EtcdError;

/// How to reach an etcd cluster, and where in it the objects are.
///
/// `EtcdOptions::new(["http://127.0.0.1:2379"])` is enough for a cluster without access control.
#[derive(Clone)]
#[non_exhaustive]
pub struct EtcdOptions {
    /// The URLs of the members, such as `https://10.0.0.1:2379`. One that works is used, starting with a random one.
    pub endpoints: Vec<String>,
    /// The beginning of all keys: `/registry`, as in kube-apiserver. Clusters that share an etcd have a prefix each.
    pub prefix: String,
    /// The name and the password of etcd's user, if etcd asks for one.
    pub user: Option<(String, String)>,
    /// The certificates of the authorities that sign the members' certificates, as PEM. Needed for `https`.
    pub ca: Option<Vec<u8>>,
    /// The client's certificates and their key, as PEM, if etcd asks for them.
    pub client_certificate: Option<(Vec<u8>, Vec<u8>)>,
    /// How long changes can be read back, at least. One of the servers of a cluster compacts etcd at this interval.
    /// Zero if the servers are not to compact it.
    pub history_age: Duration,
}

impl EtcdOptions {
    /// Options for the members at these URLs.
    pub fn new(endpoints: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            endpoints: endpoints.into_iter().map(Into::into).collect(),
            prefix: "/registry".to_owned(),
            user: None,
            ca: None,
            client_certificate: None,
            history_age: Duration::from_mins(5),
        }
    }

    /// Sets the beginning of all keys.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets the name and the password of etcd's user.
    #[must_use]
    pub fn user(mut self, name: impl Into<String>, password: impl Into<String>) -> Self {
        self.user = Some((name.into(), password.into()));
        self
    }

    /// Sets the name of etcd's user, and the password that a file has in its first line.
    ///
    /// # Errors
    /// [`EtcdError::Options`], if the file cannot be read.
    pub fn user_with_password_file(self, name: impl Into<String>, file: impl AsRef<Path>) -> Result<Self, EtcdError> {
        let password = read(file.as_ref())?;
        let password = String::from_utf8(password)
            .map_err(|_| EtcdError::Options(format!("{} is not UTF-8", file.as_ref().display())))?;
        Ok(self.user(name, password.lines().next().unwrap_or_default()))
    }

    /// Sets the authorities that sign the members' certificates, from a file with PEM.
    ///
    /// # Errors
    /// [`EtcdError::Options`], if the file cannot be read.
    pub fn ca_file(self, file: impl AsRef<Path>) -> Result<Self, EtcdError> {
        Ok(self.ca(read(file.as_ref())?))
    }

    /// Sets the client's certificates and their key, from files with PEM.
    ///
    /// # Errors
    /// [`EtcdError::Options`], if one of the files cannot be read.
    pub fn client_certificate_files(
        self,
        certificate: impl AsRef<Path>,
        key: impl AsRef<Path>,
    ) -> Result<Self, EtcdError> {
        Ok(self.client_certificate(read(certificate.as_ref())?, read(key.as_ref())?))
    }

    /// Sets the authorities that sign the members' certificates, as PEM.
    #[must_use]
    pub fn ca(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.ca = Some(pem.into());
        self
    }

    /// Sets the client's certificates and their key, as PEM.
    #[must_use]
    pub fn client_certificate(mut self, certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.client_certificate = Some((certificate.into(), key.into()));
        self
    }

    /// Sets how long changes can be read back, at least.
    #[must_use]
    pub fn history_age(mut self, age: Duration) -> Self {
        self.history_age = age;
        self
    }
}

fn read(path: &Path) -> Result<Vec<u8>, EtcdError> {
    fs::read(path).map_err(|error| EtcdError::Options(format!("{} cannot be read: {error}", path.display())))
}

/// Shows no password and no key.
impl fmt::Debug for EtcdOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdOptions")
            .field("endpoints", &self.endpoints)
            .field("prefix", &self.prefix)
            .field("user", &self.user.as_ref().map(|(name, _)| name))
            .field("history_age", &self.history_age)
            .finish_non_exhaustive()
    }
}
