//! Why a server could not start or continue. Each message names the file or the address, and what to do.

use std::{fmt, io, net::SocketAddr, path::PathBuf};

#[cfg(feature = "etcd")]
use crate::storage::EtcdError;
use crate::storage::{FileError, OpenError};

/// Why a server could not start or continue.
///
/// `Debug` prints the message as well, because that is what `fn main() -> kindsmith::Result<()>` shows a person.
#[non_exhaustive]
pub enum Error {
    /// The address to listen on is not `host:port`, or its host has no address.
    Address {
        /// The given address.
        given: String,
        /// The error.
        source: io::Error,
    },
    /// Another process listens on the address.
    PortInUse(SocketAddr),
    /// The server cannot listen on the address for another reason.
    Listen(SocketAddr, io::Error),
    /// A given listener cannot be used.
    Listener(io::Error),
    /// Plain HTTP was requested on an address that other machines can reach.
    PlainHttp(SocketAddr),
    /// The system's clock is before 1970 or after 9999, which answers cannot contain as a date.
    Clock,
    /// Neither `data_dir` nor `memory` was called.
    NoStore,
    /// The data directory or a file in it cannot be created, read or written, or other users could have written it.
    File(FileError),
    /// The store cannot be opened: another process uses the data directory, or it is damaged.
    Store(OpenError),
    /// etcd cannot be used.
    #[cfg(feature = "etcd")]
    Etcd(EtcdError),
    /// The token file cannot be used.
    TokenFile(PathBuf, String),
    /// The certificate authority in the data directory cannot be used.
    Certificates(PathBuf, String),
    /// The builder's certificate or key cannot be used.
    Certificate(PathBuf, String),
    /// The builder's authorities of client certificates cannot be used.
    ClientAuthority(PathBuf, String),
    /// A kubeconfig of a webhook or a host cannot be used, or the host does not answer as it should.
    Upstream(PathBuf, String),
    /// The authorization configuration cannot be used.
    Authorization(PathBuf, String),
    /// The keys of service accounts cannot be used.
    AccountKeys(PathBuf, String),
    /// The authentication configuration cannot be used.
    AuthenticationConfiguration(PathBuf, String),
    /// A setting of the builder is invalid.
    Setting(String),
    /// A kind cannot be served.
    Kind(String),
    /// Metrics of the user's cannot be registered.
    Metrics(prometheus::Error),
    /// A built-in object could not be created at startup.
    Bootstrap(String),
    /// The kinds were written to the file that `KINDSMITH_EXPORT` names, in place of a server. [`Builder::serve`](super::Builder::serve)
    /// returns `Ok` then.
    Exported,
}

/// A result whose error is [`Error`], unless another one is named.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<FileError> for Error {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { given, source } => write!(
                f,
                "cannot listen on `{given}`: {source}; expected a host and a port, such as 127.0.0.1:8080 (port 0 picks a free one)"
            ),
            Self::PortInUse(address) => write!(
                f,
                "{address} is in use by another process; stop it, or listen on another port (port 0 picks a free one)"
            ),
            Self::Listen(address, source) => write!(f, "cannot listen on {address}: {source}"),
            Self::Listener(source) => write!(f, "the listener cannot be used: {source}"),
            Self::PlainHttp(address) => write!(
                f,
                "plain HTTP is refused on {address}, which other machines may reach and where tokens could be read on the way; listen on 127.0.0.1 or [::1], or leave out http() for TLS"
            ),
            Self::Clock => f.write_str("the system's clock is before 1970 or after 9999; set it and start again"),
            Self::NoStore => f.write_str(
                "the server has no store; call data_dir(\"./data\") to keep objects on disk, or memory() to forget them at the end",
            ),
            Self::File(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
            #[cfg(feature = "etcd")]
            Self::Etcd(error) => error.fmt(f),
            Self::TokenFile(path, message) => write!(
                f,
                "the token file {} cannot be used: {message}; each line is token,user,uid,\"group,group\"",
                path.display()
            ),
            Self::Certificates(path, message) => write!(
                f,
                "{} cannot be used: {message}; move it and its pair (.crt, .key) away, and new ones are made at the next start",
                path.display()
            ),
            Self::Certificate(path, message) => {
                write!(f, "{} cannot be used for the server's certificate: {message}", path.display())
            }
            Self::ClientAuthority(path, message) => {
                write!(f, "{} cannot be used to verify client certificates: {message}", path.display())
            }
            Self::Upstream(path, message) => {
                write!(f, "{} cannot be used to ask another server: {message}", path.display())
            }
            Self::Authorization(path, message) => {
                write!(f, "the authorization configuration {} cannot be used: {message}", path.display())
            }
            Self::AccountKeys(path, message) => write!(
                f,
                "the keys of service accounts in {} cannot be used: {message}; without the file, a new key is made, and tokens of the old one are refused",
                path.display()
            ),
            Self::AuthenticationConfiguration(path, message) => {
                write!(f, "the authentication configuration {} cannot be used: {message}", path.display())
            }
            Self::Kind(message) | Self::Setting(message) => f.write_str(message),
            Self::Metrics(error) => write!(f, "the metrics given to `metrics` cannot be registered: {error}"),
            Self::Exported => f.write_str("the kinds were exported, as KINDSMITH_EXPORT asks; nothing is served"),
            Self::Bootstrap(message) => write!(f, "the objects every server has could not be made: {message}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Address { source, .. } | Self::Listen(_, source) | Self::Listener(source) => Some(source),
            Self::File(error) => Some(error),
            Self::Store(error) => Some(error),
            #[cfg(feature = "etcd")]
            Self::Etcd(error) => Some(error),
            Self::Metrics(error) => Some(error),
            _ => None,
        }
    }
}
