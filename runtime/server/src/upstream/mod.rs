//! Other servers that this one asks: webhooks that review tokens and access, and the API server of a host. A [`client`] sends JSON over
//! TLS to the server of a kubeconfig; [`token_review`] and [`access_review`] are an authenticator and an authorizer over it, with
//! a cache each, and [`conditions`] say which requests are reviewed. [`host`] reads what a host publishes for servers behind it.
pub(crate) mod access_review;
pub(crate) mod client;
pub(crate) mod conditions;
pub(crate) mod host;
pub(crate) mod kubeconfig;
mod tls;
pub(crate) mod token_review;

#[cfg(test)]
mod tests;
