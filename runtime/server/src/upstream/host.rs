//! What a host publishes for API servers behind it: the ConfigMap `extension-apiserver-authentication` in the namespace `kube-system`,
//! with the authorities of its users and of its front proxy, and the names of the proxy's headers.
use super::client::{Client, Deadlines};
use crate::{auth::front_proxy::ProxyHeaders, schema::Document};

/// The path of the ConfigMap.
const PATH: &str = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

/// What a host publishes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Published {
    /// The authorities of users' certificates in PEM, if it has any.
    pub client_ca: Option<String>,
    /// The authorities of the front proxies' certificates in PEM, if it has any.
    pub proxy_ca: Option<String>,
    /// The headers of the front proxies, and their names.
    pub headers: ProxyHeaders,
}

impl Published {
    /// Reads the ConfigMap.
    ///
    /// # Errors
    /// Why it cannot be read, and how to change that.
    pub(crate) async fn read(client: &Client, deadlines: Deadlines) -> Result<Self, String> {
        let map = client.get(PATH, deadlines).await.map_err(|error| {
            format!(
                "{error}; this server's user needs the role extension-apiserver-authentication-reader in kube-system of the host"
            )
        })?;
        Self::parse(&map).map_err(|why| format!("the ConfigMap kube-system/extension-apiserver-authentication: {why}"))
    }

    fn parse(map: &Document) -> Result<Self, String> {
        let data = &map["data"];
        let pem = |key: &str| data[key].as_str().filter(|pem| !pem.is_empty()).map(str::to_owned);
        let texts = |key: &str| {
            let text = data[key].as_str().unwrap_or_default();
            if text.is_empty() {
                return Ok(Vec::new());
            }
            serde_json::from_str::<Vec<String>>(text)
                .map_err(|_| format!("data.{key}: expected a JSON list of strings"))
        };
        let headers =
            |key: &str| texts(key).map(|names| names.iter().map(|name| name.to_ascii_lowercase()).collect::<Vec<_>>());
        let headers = ProxyHeaders {
            user: headers("requestheader-username-headers")?,
            uid: headers("requestheader-uid-headers")?,
            group: headers("requestheader-group-headers")?,
            extra_prefix: headers("requestheader-extra-headers-prefix")?,
            allowed_names: texts("requestheader-allowed-names")?,
        };
        headers.check().map_err(|why| format!("data.requestheader-extra-headers-prefix: {why}"))?;
        Ok(Self { client_ca: pem("client-ca-file"), proxy_ca: pem("requestheader-client-ca-file"), headers })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_config_map_of_kube_apiserver_is_read() {
        let map = json!({"data": {
            "client-ca-file": "A",
            "requestheader-client-ca-file": "B",
            "requestheader-allowed-names": "[\"front-proxy-client\"]",
            "requestheader-username-headers": "[\"X-Remote-User\"]",
            "requestheader-group-headers": "[\"X-Remote-Group\"]",
            "requestheader-extra-headers-prefix": "[\"X-Remote-Extra-\"]",
        }});
        let published = Published::parse(&map).unwrap();
        assert_eq!((published.client_ca.as_deref(), published.proxy_ca.as_deref()), (Some("A"), Some("B")));
        let one = |name: &str| vec![name.to_owned()];
        let headers = ProxyHeaders {
            user: one("x-remote-user"),
            uid: Vec::new(),
            group: one("x-remote-group"),
            extra_prefix: one("x-remote-extra-"),
            allowed_names: one("front-proxy-client"),
        };
        assert_eq!(published.headers, headers);
        assert_eq!(Published::parse(&json!({})), Ok(Published::default()));
        let wrong = json!({"data": {"requestheader-allowed-names": "proxy"}});
        let why = "data.requestheader-allowed-names: expected a JSON list of strings";
        assert_eq!(Published::parse(&wrong).unwrap_err(), why);
        let wrong = json!({"data": {"requestheader-extra-headers-prefix": "[\"\"]"}});
        assert!(Published::parse(&wrong).is_err());
    }
}
