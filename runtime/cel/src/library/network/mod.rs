//! Addresses of the network and ranges of them: their values, Kubernetes' libraries, and cel-go's own.
use std::net::IpAddr;

use kindsmith_meta::go::quoted;

use self::address::{Address, Prefix, width};
use crate::{Error, Type, value::Opaque};

pub(crate) mod address;
mod extension;
mod kubernetes;
#[cfg(test)]
mod tests;

pub use self::{
    extension::NETWORK,
    kubernetes::{CIDR, IP},
};

/// An address: `net.IP`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip(pub IpAddr);

/// A range of addresses, with an address of it: `net.CIDR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr(pub(crate) Prefix);

impl Opaque for Ip {
    fn type_name(&self) -> &'static str {
        "net.IP"
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.downcast() == Some(self)
    }

    fn size(&self) -> u64 {
        u64::from(width(self.0) / 8)
    }
}

impl Opaque for Cidr {
    fn type_name(&self) -> &'static str {
        "net.CIDR"
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.downcast() == Some(self)
    }

    fn size(&self) -> u64 {
        u64::from(self.0.length.div_ceil(8))
    }
}

impl Ip {
    /// Reads an address without a zone.
    ///
    /// # Errors
    /// What is wrong, in Kubernetes' words.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let Address { ip, has_zone } = Address::parse(text).map_err(|message| {
            Error::new(format!("IP Address {} parse error during conversion from string: {message}", quoted(text)))
        })?;
        match ip {
            _ if has_zone => Err(Error::new(format!("IP address {} with zone value is not allowed", quoted(text)))),
            IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some() => Err(mapped(text)),
            ip => Ok(Self(ip)),
        }
    }
}

impl Cidr {
    /// Reads a range. Bits after the prefix may be set.
    ///
    /// # Errors
    /// What is wrong, in Kubernetes' words.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let failed =
            |message: &str| Error::new(format!("network address parse error during conversion from string: {message}"));
        // The beginning of the message is there twice, as in kube-apiserver.
        let prefix = Prefix::parse(text).map_err(|message| failed(&failed(&message).message))?;
        match prefix.ip {
            IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some() => Err(failed(&mapped(text).message)),
            _ => Ok(Self(prefix)),
        }
    }
}

fn mapped(text: &str) -> Error {
    Error::new(format!("IPv4-mapped IPv6 address {} is not allowed", quoted(text)))
}

fn ip_type() -> Type {
    Type::opaque("net.IP")
}

fn cidr_type() -> Type {
    Type::opaque("net.CIDR")
}
