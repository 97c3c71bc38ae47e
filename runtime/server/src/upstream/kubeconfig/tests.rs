//! Tests of kubeconfigs: what is read, and what is refused with which words.
use super::*;

fn parse(cluster: &str, user: &str) -> Result<Endpoint, String> {
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {{cluster: k, user: u}}\n\
         clusters:\n- name: k\n  cluster: {cluster}\nusers:\n- name: u\n  user: {user}\n"
    );
    Endpoint::parse(&text, Path::new("/etc/host"))
}

#[test]
fn files_are_relative_to_the_folder_and_data_counts_before_them() {
    let cluster = "{server: 'https://host:6443/review', certificate-authority: ca.crt, tls-server-name: other}";
    let endpoint =
        parse(cluster, "{client-certificate: a.crt, client-key-data: S0VZ, token: x, tokenFile: /t}").unwrap();
    assert_eq!((&*endpoint.url, endpoint.server_name.as_deref()), ("https://host:6443/review", Some("other")));
    assert_eq!(format!("{:?}", endpoint.authorities), "Some(/etc/host/ca.crt)");
    assert_eq!(format!("{:?}", endpoint.identity), "Some((/etc/host/a.crt, (inline)))");
    assert_eq!(format!("{:?}", endpoint.token), "Some(/t)", "a file counts before the token");
    assert!(!endpoint.insecure);
    let endpoint =
        parse("{server: 'https://host', certificate-authority: a, certificate-authority-data: Q0E=}", "").unwrap();
    assert_eq!(endpoint.authorities.unwrap().read().unwrap(), b"CA");
    assert!(endpoint.token.is_none() && endpoint.identity.is_none());
}

#[test]
fn what_cannot_be_used_is_named_without_its_value() {
    let host = "{server: 'https://host'}";
    let cases = [
        (
            "{server: 'http://host'}",
            "{}",
            "clusters[k].cluster.server: \"http://host\" is not a URL such as https://HOST:PORT",
        ),
        ("{server: ''}", "{}", "clusters[k].cluster.server: \"\" is not a URL such as https://HOST:PORT"),
        ("{server: 'https://host:0'}", "{}", "clusters[k].cluster.server: \"0\" has no port between 1 and 65535"),
        ("{server: 'https://h', proxy-url: p}", "{}", "clusters[k].cluster.proxy-url: proxies are not supported"),
        (
            "{server: 'https://h', insecure-skip-tls-verify: true, certificate-authority: a}",
            "{}",
            "clusters[k].cluster.insecure-skip-tls-verify: not together with certificate-authority",
        ),
        (
            host,
            "{exec: {command: x}}",
            "users[u].user.exec: not supported; use token, tokenFile, or client-certificate and client-key",
        ),
        (host, "{client-key: k}", "users[u].user.client-certificate: it is missing, client-key is set"),
        (host, "{client-certificate-data: '!'}", "users[u].user.client-certificate-data: it is not base64"),
        (
            host,
            "{token: [s3cret]}",
            "it is no kubeconfig: expected contexts, clusters and users, with text in their fields",
        ),
    ];
    for (cluster, user, why) in cases {
        assert_eq!(parse(cluster, user).unwrap_err(), why);
    }
    let missing = Endpoint::parse("current-context: x\ncontexts: null", Path::new("")).unwrap_err();
    assert_eq!(missing, "contexts: there is no \"x\", which current-context names");
    let missing = Endpoint::parse("contexts: [{name: a, context: {cluster: k}}]", Path::new("")).unwrap_err();
    assert_eq!(missing, "clusters: there is no \"k\", which the context \"a\" names");
    assert_eq!(Endpoint::parse("{}", Path::new("")).unwrap_err(), "current-context is missing");
}
