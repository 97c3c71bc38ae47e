//! The flags of the program: the address to listen on, and where objects are if that is not the data directory.
//!
//! | flag | |
//! |---|---|
//! | `--etcd URL[,URL]` | stores objects in this etcd, which several servers may share |
//! | `--etcd-prefix PREFIX` | the beginning of all keys; `/registry` by default |
//! | `--etcd-user NAME`, `--etcd-password-file FILE` | etcd's user, and the file of the password |
//! | `--etcd-ca FILE` | the authorities of etcd's certificates, as PEM |
//! | `--etcd-cert FILE`, `--etcd-key FILE` | the certificate of this server for etcd, and its key, as PEM |
//! | `--data-dir DIRECTORY` | the directory of the server's files, and of its objects without etcd; `./data` by default |

use std::collections::BTreeMap;

use kindsmith::{EtcdError, EtcdOptions, server::Builder};

/// The flags that take a value.
const NAMES: [&str; 8] = [
    "--etcd",
    "--etcd-prefix",
    "--etcd-user",
    "--etcd-password-file",
    "--etcd-ca",
    "--etcd-cert",
    "--etcd-key",
    "--data-dir",
];

/// Has a server store objects as arguments say. Returns the address to listen on, if there is one.
///
/// # Errors
/// What is wrong with an argument.
pub fn configure(
    server: Builder,
    arguments: impl IntoIterator<Item = String>,
) -> Result<(Option<String>, Builder), String> {
    let Flags { address, data_dir, options } = Flags::of(arguments)?;
    let server = server.data_dir(data_dir.unwrap_or_else(|| "./data".to_owned()));
    Ok((address, options.into_iter().fold(server, Builder::etcd)))
}

/// What the program was called with.
#[derive(Debug, Default)]
pub struct Flags {
    /// The address to listen on.
    pub address: Option<String>,
    /// The directory of the server's files.
    pub data_dir: Option<String>,
    /// The etcd that stores objects.
    pub options: Option<EtcdOptions>,
}

impl Flags {
    /// Reads arguments.
    ///
    /// # Errors
    /// What is wrong with one.
    pub fn of(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let (mut address, mut given, mut arguments) = (None, BTreeMap::new(), arguments.into_iter());
        while let Some(argument) = arguments.next() {
            if !argument.starts_with("--") {
                address = Some(argument);
                continue;
            }
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (argument, arguments.next()),
            };
            if !NAMES.contains(&name.as_str()) {
                return Err(format!("{name} is not a flag; there are {}", NAMES.join(", ")));
            }
            let value = value.ok_or_else(|| format!("{name} needs a value"))?;
            given.insert(name, value);
        }
        let data_dir = given.remove("--data-dir");
        Ok(Self { address, data_dir, options: options(given)? })
    }
}

/// The options for etcd, if `--etcd` is given.
fn options(mut given: BTreeMap<String, String>) -> Result<Option<EtcdOptions>, String> {
    let Some(endpoints) = given.remove("--etcd") else {
        return match given.keys().next() {
            Some(flag) => Err(format!("{flag} needs --etcd")),
            None => Ok(None),
        };
    };
    let wrong = |error: EtcdError| error.to_string();
    let mut options = EtcdOptions::new(endpoints.split(','));
    if let Some(prefix) = given.remove("--etcd-prefix") {
        options = options.prefix(prefix);
    }
    match (given.remove("--etcd-user"), given.remove("--etcd-password-file")) {
        (Some(name), Some(file)) => {
            options = options.user_with_password_file(name, file).map_err(wrong)?;
        }
        (None, None) => {}
        _ => return Err("--etcd-user and --etcd-password-file need each other".to_owned()),
    }
    if let Some(path) = given.remove("--etcd-ca") {
        options = options.ca_file(path).map_err(wrong)?;
    }
    match (given.remove("--etcd-cert"), given.remove("--etcd-key")) {
        (Some(certificate), Some(key)) => {
            options = options.client_certificate_files(certificate, key).map_err(wrong)?;
        }
        (None, None) => {}
        _ => return Err("--etcd-cert and --etcd-key need each other".to_owned()),
    }
    Ok(Some(options))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn flags(arguments: &str) -> Result<Flags, String> {
        Flags::of(arguments.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn flags_are_read_with_both_kinds_of_values() {
        let file = std::env::temp_dir().join(format!("library-password-{}", std::process::id()));
        fs::write(&file, "secret\n").unwrap();
        let user = format!("--etcd-user me --etcd-password-file {}", file.display());
        let read = flags(&format!("127.0.0.1:0 --etcd http://a:1,http://b:2 --etcd-prefix=/x {user}"));
        fs::remove_file(&file).unwrap();
        let read = read.unwrap();
        let options = read.options.unwrap();
        assert_eq!(read.address.as_deref(), Some("127.0.0.1:0"));
        assert_eq!((options.endpoints.len(), options.prefix.as_str()), (2, "/x"));
        assert_eq!(options.user, Some(("me".to_owned(), "secret".to_owned())));
        assert!(flags("").unwrap().options.is_none());
    }

    #[test]
    fn errors_name_the_flag() {
        for (arguments, expected) in [
            ("--etc http://a:1", "--etc is not a flag"),
            ("--etcd", "--etcd needs a value"),
            ("--etcd-prefix /x", "--etcd-prefix needs --etcd"),
            ("--etcd http://a:1 --etcd-user me", "need each other"),
            ("--etcd http://a:1 --etcd-key k", "need each other"),
            ("--etcd http://a:1 --etcd-ca /no/such", "/no/such cannot be read"),
        ] {
            let error = flags(arguments).unwrap_err();
            assert!(error.contains(expected), "{arguments}: {error}");
        }
    }
}
