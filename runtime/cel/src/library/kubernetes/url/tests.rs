use super::*;

#[test]
fn a_url_has_parts() {
    let url = read("HTTPS://user:pass@Example.com:80/path%2fto%20a b?k=a&k=b%20c&x=1+2&;=2&bad=%zz&e#frag").unwrap();
    assert_eq!((&*url.scheme, &*url.host()), ("https", "Example.com:80"));
    assert_eq!(url.host_and_port(), ("Example.com".into(), "80".into()));
    assert_eq!(url.escaped_path(), "/path%2Fto%20a%20b".replace("%2F", "/"));
    let list = |values: &[&str]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        url.parameters(),
        [("k".into(), list(&["a", "b c"])), ("x".into(), list(&["1 2"])), ("e".into(), list(&[""]))]
    );
    assert_eq!(read("https://h/a%2fb").unwrap().escaped_path(), "/a%2fb");
    assert_eq!(read("https://[::1]:80/").unwrap().host(), "[::1]:80");
    assert_eq!(read("https://[::1]/").unwrap().host_and_port(), ("::1".into(), "".into()));
    assert_eq!(read("mailto:a@b").unwrap().escaped_path(), "");
    assert_eq!(read("/path?k=v").unwrap().scheme, "");
    assert_eq!(read("//host/path").unwrap().host(), "host");
    assert_eq!(read("http://%e4%bd%a0/").unwrap().host(), "\u{4f60}");
}

#[test]
fn a_url_is_printed() {
    for (text, printed) in [
        ("HTTP://u:p%40@h/%7e?#", "http://u:p%40@h/%7e?"),
        ("http://h/a!b'c(d)*e;f,g", "http://h/a!b'c(d)*e;f,g"),
        ("http://h/a\"b", "http://h/a%22b"),
        ("http:/path", "http:/path"),
        ("http:///path", "http:///path"),
        ("file:", "file:"),
        ("https:://kubernetes.io/", "https:://kubernetes.io/"),
        ("http://h#a b", "http://h#a%20b"),
        ("*", "*"),
        ("/a?", "/a?"),
    ] {
        let url = Url::parse(text).unwrap();
        assert_eq!(url.printed(), printed, "{text}");
    }
}

#[test]
fn what_is_no_url_is_refused_as_go_words_it() {
    for (text, message) in [
        ("", "empty url"),
        ("../x", "invalid URI for request"),
        ("example.com", "invalid URI for request"),
        ("://x", "missing protocol scheme"),
        ("http://a b/", "invalid character \" \" in host name"),
        ("http://[::1/", "missing ']' in host"),
        ("http://x[::1]/", "invalid IP-literal"),
        ("http://[1.2.3.4]/", "invalid IP-literal"),
        ("http://[v1.x]/", "invalid host: ParseAddr(\"v1.x\"): unexpected character (at \"v1.x\")"),
        ("http://h:80:90/", "invalid port \":80:90\" after host"),
        ("http://h:x/", "invalid port \":x\" after host"),
        ("ftp://a:1,b:x/", "invalid port \":x\" after host"),
        ("http://us er@h/", "net/url: invalid userinfo"),
        ("http://h/%zz", "invalid URL escape \"%zz\""),
        ("http://h/%z\u{e9}", "invalid URL escape \"%z\\xc3\""),
        ("http://h/%", "invalid URL escape \"%\""),
        ("http://%41/", "invalid URL escape \"%41\""),
        ("http://h/\n", "net/url: invalid control character in URL"),
    ] {
        assert_eq!(check_request_uri(text), Err(format!("parse {}: {message}", kindsmith_meta::go::quoted(text))));
    }
    assert_eq!(check_request_uri("ftp://a:1,b:2/"), Ok(()));
    assert_eq!(
        read("//a b/c").unwrap_err().message,
        "URL parse error during conversion from string: parse \"//a b/c\": invalid character \" \" in host name"
    );
}
