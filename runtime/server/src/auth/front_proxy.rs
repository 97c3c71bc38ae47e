//! A proxy in front: it has authenticated the user, and says in headers who that is. It is believed by its client certificate alone.
use std::sync::Arc;

use arc_swap::ArcSwap;

use super::{
    Soon, User,
    authenticate::{Authenticate, Credentials, Identity, Unauthenticated},
    certificates::{VerifyClient, subject},
};
use crate::meta::percent;

/// The headers of a proxy, and which proxies may send them. Names are in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProxyHeaders {
    /// The headers with the user's name. The first that is set counts.
    pub user: Vec<String>,
    /// The headers with the user's uid. The first that is set counts.
    pub uid: Vec<String>,
    /// The headers with groups. All values count.
    pub group: Vec<String>,
    /// The beginnings of the names of headers with further information, whose key is the rest of the name.
    pub extra_prefix: Vec<String>,
    /// The common names of the proxies' certificates; empty for any.
    pub allowed_names: Vec<String>,
}

impl ProxyHeaders {
    /// Refuses an empty prefix, which would make every header one of the user's.
    ///
    /// # Errors
    /// What is wrong.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.extra_prefix.iter().any(String::is_empty) { Err("a prefix is empty") } else { Ok(()) }
    }
}

/// Identifies users by the headers of a proxy.
pub(crate) struct FrontProxies {
    verifier: Arc<dyn VerifyClient>,
    headers: ArcSwap<ProxyHeaders>,
}

impl FrontProxies {
    /// Proxies whose certificates a verifier accepts.
    pub(crate) fn new(verifier: Arc<dyn VerifyClient>, headers: ProxyHeaders) -> Self {
        Self { verifier, headers: ArcSwap::from_pointee(headers) }
    }

    /// Replaces the headers and the allowed names for subsequent requests.
    pub(crate) fn replace(&self, headers: ProxyHeaders) {
        self.headers.store(Arc::new(headers));
    }
}

impl Authenticate for FrontProxies {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        Soon::now(self.identify(credentials))
    }
}

impl FrontProxies {
    fn identify(&self, credentials: &Credentials<'_>) -> Identity {
        let Some(certificate) = credentials.certificates.first() else { return Ok(None) };
        let refuse = |why: &str| Err(Unauthenticated(format!("the client's certificate is no front proxy's: {why}")));
        if let Err(why) = self.verifier.verify(credentials.certificates) {
            return refuse(&why);
        }
        let headers = self.headers.load();
        if !headers.allowed_names.is_empty() {
            let Ok(proxy) = subject(certificate) else { return refuse("its subject cannot be read") };
            if !headers.allowed_names.contains(&proxy.name) {
                return refuse(&format!("its common name {:?} is not allowed", proxy.name));
            }
        }
        user(&headers, credentials).map(|user| user.map(Arc::new))
    }
}

/// The user that the headers name. Values that are empty do not count, except in further information.
fn user(headers: &ProxyHeaders, credentials: &Credentials<'_>) -> Result<Option<User>, Unauthenticated> {
    let (mut user, mut unreadable) = (User::default(), None);
    // A name and a uid come from the first header of the list that is there.
    let (mut name_from, mut uid_from) = (usize::MAX, usize::MAX);
    let mut groups: Vec<(usize, String)> = Vec::new();
    credentials.headers.each(&mut |name, value| {
        let at = |names: &[String]| names.iter().position(|known| known == name);
        let extra = headers.extra_prefix.iter().find_map(|prefix| name.strip_prefix(&**prefix));
        let (is_name, is_uid, is_group) = (at(&headers.user), at(&headers.uid), at(&headers.group));
        if is_name.is_none() && is_uid.is_none() && is_group.is_none() && extra.is_none() {
            return;
        }
        // A value that was ignored could make the user another one.
        let Ok(value) = std::str::from_utf8(value) else {
            unreadable.get_or_insert_with(|| name.to_owned());
            return;
        };
        if let Some(key) = extra {
            let key = percent::decode(key).unwrap_or_else(|_| key.to_owned());
            user.extra.entry(key).or_default().push(value.to_owned());
        }
        if value.is_empty() {
            return;
        }
        if let Some(from) = is_name.filter(|from| *from < name_from) {
            (user.name, name_from) = (value.to_owned(), from);
        }
        if let Some(from) = is_uid.filter(|from| *from < uid_from) {
            (user.uid, uid_from) = (value.to_owned(), from);
        }
        groups.extend(is_group.map(|from| (from, value.to_owned())));
    });
    if let Some(name) = unreadable {
        return Err(Unauthenticated(format!("the header {name} of the front proxy is not text in UTF-8")));
    }
    if user.name.is_empty() {
        return Ok(None);
    }
    // Stable: the values of one header stay in their order.
    groups.sort_by_key(|(from, _)| *from);
    user.groups = groups.into_iter().map(|(_, group)| group).collect();
    Ok(Some(user))
}

#[cfg(test)]
mod tests;
