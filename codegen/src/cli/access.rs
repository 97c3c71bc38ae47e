//! How `kindsmith store` reaches etcd: a user, authorities and a client's certificate, for each place in etcd.

use std::path::PathBuf;

use clap::Args;
use kindsmith::tools::{Error, Place};

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
            places.push(Place::parse(text)?);
        }
        #[cfg(feature = "etcd")]
        places.iter_mut().try_for_each(|place| self.configure(place))?;
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

    #[cfg(feature = "etcd")]
    fn configure(&self, place: &mut Place) -> Result<(), Error> {
        let text = place.to_string();
        let wrong = |error: kindsmith::EtcdError| Error::Place { place: text.clone(), message: error.to_string() };
        let Place::Etcd(options) = place else { return Ok(()) };
        let mut configured = (**options).clone();
        if let (Some(name), Some(file)) = (&self.etcd_user, &self.etcd_password_file) {
            configured = configured.user_with_password_file(name, file).map_err(wrong)?;
        }
        if let Some(file) = &self.etcd_ca {
            configured = configured.ca_file(file).map_err(wrong)?;
            for url in &mut configured.endpoints {
                *url = url.replacen("http://", "https://", 1);
            }
        }
        if let (Some(certificate), Some(key)) = (&self.etcd_cert, &self.etcd_key) {
            configured = configured.client_certificate_files(certificate, key).map_err(wrong)?;
        }
        **options = configured;
        Ok(())
    }
}
