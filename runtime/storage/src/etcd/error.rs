//! Why an etcd cluster cannot be used.

use std::fmt;

/// Why [`Etcd::open`](super::Etcd::open) failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EtcdError {
    /// An option is invalid. The message names it and what is expected.
    Options(String),
    /// No member could be used. The message names each of them with the reason.
    Unreachable(String),
    /// A member's certificate was refused, or the member refused ours.
    Certificate(String),
    /// etcd asks for a user, and none is set.
    UserRequired,
    /// The user's name or password is wrong.
    Password {
        /// The user's name.
        user: String,
        /// etcd's answer.
        message: String,
    },
    /// The user may not read and write below the prefix.
    Forbidden {
        /// The user's name, or an empty string without one.
        user: String,
        /// The prefix.
        prefix: String,
    },
    /// A copy that fills the prefix is not complete.
    Unfinished {
        /// The prefix.
        prefix: String,
    },
    /// The system refused a thread, or etcd answered with an error. The message is the cause.
    Failed(String),
}

impl fmt::Display for EtcdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Options(message) => write!(f, "the options for etcd are invalid: {message}"),
            Self::Unreachable(message) => write!(f, "no member of etcd can be reached: {message}"),
            Self::Certificate(message) => write!(
                f,
                "TLS with etcd failed: {message}; set the authority of etcd's certificates with `ca`, and a certificate that \
                 etcd trusts with `client_certificate`"
            ),
            Self::UserRequired => f.write_str("etcd asks for a user; set it with `user`"),
            Self::Password { user, message } => {
                write!(f, "etcd refused the user {user:?} with this password: {message}")
            }
            Self::Forbidden { user, prefix } => write!(
                f,
                "etcd's user {user:?} may not write below {prefix}; grant it with `etcdctl role grant-permission ROLE \
                 readwrite --prefix {prefix}/`"
            ),
            Self::Unfinished { prefix } => write!(
                f,
                "a copy to {prefix} is not complete; complete it with the same `kindsmith store copy` command, or delete all keys \
                 below {prefix}/ in etcd"
            ),
            Self::Failed(message) => write!(f, "etcd cannot be used: {message}"),
        }
    }
}

impl std::error::Error for EtcdError {}
