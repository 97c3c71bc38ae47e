//! Why a call of etcd failed, and what that says about a write.

use std::{error::Error, fmt};

use crate::{CommitError, ReadError};

/// Codes of gRPC.
mod code {
    pub(super) const INVALID_ARGUMENT: u32 = 3;
    pub(super) const NOT_FOUND: u32 = 5;
    pub(super) const PERMISSION_DENIED: u32 = 7;
    pub(super) const RESOURCE_EXHAUSTED: u32 = 8;
    pub(super) const FAILED_PRECONDITION: u32 = 9;
    pub(super) const OUT_OF_RANGE: u32 = 11;
    pub(super) const UNIMPLEMENTED: u32 = 12;
    pub(super) const UNAUTHENTICATED: u32 = 16;
}

/// rustls's text of an alert, of which HTTP keeps nothing else.
const ALERT: &str = "received fatal alert";

/// The text of an error, and of what caused it.
pub(super) fn text(error: &(dyn Error + 'static)) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// A call that failed.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// The request was not sent.
    Unsent(String),
    /// The member answered with an error.
    Status {
        /// The code of gRPC.
        code: u32,
        /// etcd's text.
        message: String,
    },
    /// The request was sent, and no answer came.
    Lost(String),
}

impl Fault {
    fn says(&self, part: &str) -> bool {
        matches!(self, Self::Status { message, .. } if message.contains(part))
    }

    fn has_code(&self, codes: &[u32]) -> bool {
        matches!(self, Self::Status { code, .. } if codes.contains(code))
    }

    /// The member has ended TLS with an alert. With TLS 1.3 it refuses a client's certificate in this way, after the handshake.
    pub(super) fn is_alert(&self) -> bool {
        matches!(self, Self::Unsent(why) | Self::Lost(why) if why.contains(ALERT))
    }

    /// The member has lost its leader, and has refused the request because of that. Another member may have one.
    pub(super) fn is_without_leader(&self) -> bool {
        self.says("etcdserver: no leader")
    }

    /// The token has expired, or was issued under earlier users and roles, or etcd asks for users since then, or no more.
    pub(super) fn is_stale_token(&self) -> bool {
        self.has_code(&[code::UNAUTHENTICATED])
            || self.says("revision of auth store is old")
            || self.lacks_user()
            || self.is_without_users()
    }

    /// The name or the password is wrong.
    pub(super) fn is_wrong_password(&self) -> bool {
        self.says("authentication failed")
    }

    /// etcd has no users.
    pub(super) fn is_without_users(&self) -> bool {
        self.says("authentication is not enabled")
    }

    /// etcd asks for a user, and the call had none.
    pub(super) fn lacks_user(&self) -> bool {
        self.says("user name is empty")
    }

    /// The user may not do this.
    pub(super) fn is_forbidden(&self) -> bool {
        self.has_code(&[code::PERMISSION_DENIED])
    }

    /// The database has reached its quota.
    pub(super) fn is_full(&self) -> bool {
        self.says("database space exceeded")
    }

    /// The request exceeds etcd's limit (`--max-request-bytes`).
    fn is_too_large(&self) -> bool {
        self.says("request is too large") || self.says("received message larger than max")
    }

    /// The requested revision is compacted.
    pub(super) fn is_compacted(&self) -> bool {
        self.says("required revision has been compacted")
    }

    /// The requested revision has not happened yet.
    pub(super) fn is_future(&self) -> bool {
        self.says("required revision is a future revision")
    }

    /// The lease of a put has expired.
    pub(super) fn lacks_lease(&self) -> bool {
        self.says("requested lease not found")
    }

    /// True if the request has certainly changed nothing: it was not sent, or etcd refused it before it proposed it.
    pub(super) fn is_refusal(&self) -> bool {
        let refused = [
            code::INVALID_ARGUMENT,
            code::NOT_FOUND,
            code::PERMISSION_DENIED,
            code::RESOURCE_EXHAUSTED,
            code::FAILED_PRECONDITION,
            code::OUT_OF_RANGE,
            code::UNIMPLEMENTED,
            code::UNAUTHENTICATED,
        ];
        matches!(self, Self::Unsent(_)) || self.is_without_leader() || self.has_code(&refused)
    }

    /// The fault of a request that could not be sent because this call, which had to come first, failed.
    pub(super) fn before_request(self) -> Self {
        if self.is_refusal() { self } else { Self::Unsent(self.to_string()) }
    }

    /// The outcome of a commit.
    pub(super) fn of_commit(self) -> CommitError {
        let message = self.to_string();
        if self.is_too_large() {
            return CommitError::TooLarge(format!(
                "the object exceeds the limit of a request to etcd (--max-request-bytes, 1.5 MiB by default): {message}"
            ));
        }
        if self.is_full() {
            let message = format!(
                "etcd's database has reached its quota (--quota-backend-bytes); compact and defragment it, and disarm the \
                 alarm: {message}"
            );
            return CommitError::Refused { full: true, message };
        }
        if self.says("too many requests") {
            return CommitError::Busy;
        }
        if self.is_refusal() {
            return CommitError::Refused { full: false, message };
        }
        CommitError::Unknown(message)
    }

    /// The outcome of a read.
    pub(super) fn of_read(&self) -> ReadError {
        let is_final = self.is_refusal() && !self.is_without_leader() && !matches!(self, Self::Unsent(_));
        let outcome = if is_final { ReadError::Engine } else { ReadError::Unreachable };
        outcome(self.to_string())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsent(why) => write!(f, "etcd cannot be reached: {why}"),
            Self::Status { message, code } if message.is_empty() => write!(f, "etcd answered with code {code} of gRPC"),
            Self::Status { message, .. } => write!(f, "etcd answered: {message}"),
            Self::Lost(why) => write!(f, "no answer from etcd: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_may_be_tried_again_unless_etcd_refused_them() {
        let status = |code, message: &str| Fault::Status { code, message: message.to_owned() };
        let lost = Fault::Lost("the connection broke".to_owned());
        for passing in [
            lost,
            Fault::Unsent(String::new()),
            status(14, "etcdserver: request timed out"),
            status(14, "etcdserver: no leader"),
        ] {
            assert!(matches!(passing.of_read(), ReadError::Unreachable(_)), "{passing}");
        }
        let refused = status(code::PERMISSION_DENIED, "etcdserver: permission denied");
        assert!(matches!(refused.of_read(), ReadError::Engine(_)));
    }
}
