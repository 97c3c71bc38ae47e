//! The setting for a proxy in front that names the user of a request.

use std::path::{Path, PathBuf};

use crate::auth::front_proxy::ProxyHeaders;

/// A proxy in front that has authenticated the user; see [`Builder::front_proxy`](super::Builder::front_proxy).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FrontProxy {
    /// The file with the authorities of the proxies' client certificates, in PEM.
    pub ca: PathBuf,
    /// The common names that proxies' certificates may have; any if it is empty.
    pub allowed_names: Vec<String>,
    /// The headers with the user's name; the first that is set counts.
    pub user_headers: Vec<String>,
    /// The headers with the user's uid; the first that is set counts.
    pub uid_headers: Vec<String>,
    /// The headers with the user's groups; all values count.
    pub group_headers: Vec<String>,
    /// The beginnings of the names of headers with further information about the user. The rest of such a name is the key,
    /// percent-encoded.
    pub extra_header_prefixes: Vec<String>,
}

impl FrontProxy {
    /// Proxies with a certificate of one of these authorities, and with the headers `X-Remote-User`, `X-Remote-Uid`,
    /// `X-Remote-Group` and `X-Remote-Extra-…`.
    pub fn new(ca: impl AsRef<Path>) -> Self {
        let one = |name: &str| vec![name.to_owned()];
        Self {
            ca: ca.as_ref().to_owned(),
            allowed_names: Vec::new(),
            user_headers: one("X-Remote-User"),
            uid_headers: one("X-Remote-Uid"),
            group_headers: one("X-Remote-Group"),
            extra_header_prefixes: one("X-Remote-Extra-"),
        }
    }

    /// Adds a common name that proxies' certificates may have. Without one, any certificate of the authorities is a proxy's.
    #[must_use]
    pub fn allowed_name(mut self, name: impl Into<String>) -> Self {
        self.allowed_names.push(name.into());
        self
    }

    /// The headers in the form in which requests have them.
    pub(super) fn headers(&self) -> ProxyHeaders {
        let lower = |names: &[String]| names.iter().map(|name| name.to_ascii_lowercase()).collect();
        ProxyHeaders {
            user: lower(&self.user_headers),
            uid: lower(&self.uid_headers),
            group: lower(&self.group_headers),
            extra_prefix: lower(&self.extra_header_prefixes),
            allowed_names: self.allowed_names.clone(),
        }
    }
}
