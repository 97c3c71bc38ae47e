//! How `kindsmith store` reaches etcd: a user, authorities and a client's certificate, for each place in etcd.

use std::path::PathBuf;

use clap::Args;
use kindsmith::maintenance::{Error, Place};

/// The options. They are those of the program `library`.
#[derive(Args)]
#[command(next_help_heading = "Options for etcd")]
pub(super) struct Access {
    /// etcd's user.
    #[arg(long, value_name = "NAME", requires = "etcd_password_file")]
    etcd_user: Option<String>,
    /// The file whose first line is the user's password.
    #[arg(long, value_name = "FILE", requires = "etcd_user")]
    etcd_password_file: Option<PathBuf>,
    /// The authorities of etcd's certificates, as PEM. With it etcd is reached through TLS.
    #[arg(long, value_name = "FILE")]
    etcd_ca: Option<PathBuf>,
    /// The certificate of this command for etcd, as PEM.
    #[arg(long, value_name = "FILE", requires_all = ["etcd_key", "etcd_ca"])]
    etcd_cert: Option<PathBuf>,
    /// The key of the certificate, as PEM.
    #[arg(long, value_name = "FILE", requires = "etcd_cert")]
    etcd_key: Option<PathBuf>,
}

impl Access {
    /// Reads places; those in etcd get the options.
    pub(super) fn places<const N: usize>(&self, texts: [&str; N]) -> Result<[Place; N], Error> {
        let mut places = Vec::with_capacity(N);
        for text in texts {
            places.push(self.place(text)?);
        }
        if let Some(option) = self.first()
            && !texts.iter().any(|text| text.starts_with("etcd://"))
        {
            let message = format!("{option} is for a place in etcd, such as etcd://10.0.0.1:2379/registry");
            return Err(Error::Place { place: texts.join(" "), message });
        }
        Ok(places.try_into().expect("as many places as texts"))
    }

    fn first(&self) -> Option<&str> {
        let Self { etcd_user, etcd_ca, .. } = self;
        let user = etcd_user.as_ref().map(|_| "--etcd-user");
        user.or(etcd_ca.as_ref().map(|_| "--etcd-ca"))
    }

    #[cfg(not(feature = "etcd"))]
    fn place(&self, text: &str) -> Result<Place, Error> {
        Place::parse(text)
    }

    #[cfg(feature = "etcd")]
    fn place(&self, text: &str) -> Result<Place, Error> {
        let wrong = |error: kindsmith::EtcdError| Error::Place { place: text.to_owned(), message: error.to_string() };
        let mut options = match Place::parse(text)? {
            Place::Etcd(options) => *options,
            place => return Ok(place),
        };
        if let (Some(name), Some(file)) = (&self.etcd_user, &self.etcd_password_file) {
            options = options.user_with_password_file(name, file).map_err(wrong)?;
        }
        if let Some(file) = &self.etcd_ca {
            options = options.ca_file(file).map_err(wrong)?;
            for url in &mut options.endpoints {
                *url = url.replacen("http://", "https://", 1);
            }
        }
        if let (Some(certificate), Some(key)) = (&self.etcd_cert, &self.etcd_key) {
            options = options.client_certificate_files(certificate, key).map_err(wrong)?;
        }
        Ok(Place::Etcd(Box::new(options)))
    }
}
