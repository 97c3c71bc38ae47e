//! The place of a store.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

#[cfg(feature = "etcd")]
use crate::EtcdOptions;
use crate::embedded::tools::Error;

/// The place of a store: the source or the target of a copy.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Place {
    /// A data directory, of a stopped or a running server.
    Directory(PathBuf),
    /// A backup.
    Backup(PathBuf),
    /// The keys below a prefix of etcd.
    #[cfg(feature = "etcd")]
    Etcd(Box<EtcdOptions>),
}

impl Place {
    /// Reads a place as a user gives it. A path that does not exist is a backup if it ends in `.backup`, and a data
    /// directory otherwise. `etcd://HOST:PORT,HOST:PORT/PREFIX` is a place in etcd, without TLS and user; without a prefix it
    /// is `/registry`.
    ///
    /// # Errors
    /// [`Error::Place`] for another URL, and for one of etcd without a host, or with more than that.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let refused = |message: &str| Error::Place { place: text.to_owned(), message: message.to_owned() };
        if let Some(rest) = text.strip_prefix("etcd://") {
            return etcd(rest).map_err(|message| refused(&message));
        }
        if text.contains("://") {
            return Err(refused(
                "it is not a place of a store; give a data directory, a backup, or etcd://HOST:PORT/PREFIX",
            ));
        }
        let path = Path::new(text);
        let is_file = match fs::metadata(path) {
            Ok(metadata) => !metadata.is_dir(),
            Err(_) => path.extension().is_some_and(|ending| ending == "backup"),
        };
        Ok(if is_file { Self::Backup(path.to_owned()) } else { Self::Directory(path.to_owned()) })
    }

    /// Names the place, however it was given.
    pub(super) fn identity(&self) -> String {
        match self {
            Self::Directory(path) | Self::Backup(path) => {
                let path = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
                path.display().to_string()
            }
            #[cfg(feature = "etcd")]
            Self::Etcd(options) => options.address(),
        }
    }
}

#[cfg(feature = "etcd")]
fn etcd(rest: &str) -> Result<Place, String> {
    const EXPECTED: &str = "expected an address such as etcd://10.0.0.1:2379,10.0.0.2:2379/registry";
    let (hosts, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    if hosts.split(',').any(str::is_empty) {
        return Err(format!("a member of etcd has no host; {EXPECTED}"));
    }
    if hosts.contains('@') {
        return Err(format!("the user is not a part of the address; {EXPECTED}"));
    }
    if rest.contains(['?', '#']) {
        return Err(format!("it has more than hosts and a prefix; {EXPECTED}"));
    }
    let options = EtcdOptions::new(hosts.split(',').map(|host| format!("http://{host}")));
    let has_prefix = !prefix.trim_matches('/').is_empty();
    Ok(Place::Etcd(Box::new(if has_prefix { options.prefix(format!("/{prefix}")) } else { options })))
}

#[cfg(not(feature = "etcd"))]
fn etcd(_: &str) -> Result<Place, String> {
    Err("this program was built without the feature `etcd`; build it with `--features etcd`".to_owned())
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) | Self::Backup(path) => path.display().fmt(f),
            #[cfg(feature = "etcd")]
            Self::Etcd(options) => options.address().fmt(f),
        }
    }
}

#[cfg(all(test, feature = "etcd"))]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_hosts_and_a_prefix() {
        let parsed = |text: &str| match Place::parse(text) {
            Ok(Place::Etcd(options)) => (options.endpoints.join(" "), options.prefix),
            other => panic!("{other:?}"),
        };
        let one = ("http://a:2379".to_owned(), "/registry".to_owned());
        assert_eq!(parsed("etcd://a:2379"), one);
        assert_eq!(parsed("etcd://a:2379/"), one);
        assert_eq!(parsed("etcd://a:1,[::1]:2/x/y/"), ("http://a:1 http://[::1]:2".to_owned(), "/x/y/".to_owned()));
        assert_eq!(Place::parse("etcd://a:1,b:2/x/").unwrap().to_string(), "etcd://a:1,b:2/x");
        for (text, expected) in [
            ("etcd://", "has no host"),
            ("etcd:///registry", "has no host"),
            ("etcd://a:1,/registry", "has no host"),
            ("etcd://ann:secret@a:1/registry", "the user is not a part"),
            ("etcd://a:1/registry?x=1", "more than hosts and a prefix"),
            ("http://a:1/registry", "not a place of a store"),
        ] {
            let error = Place::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
