//! Methods: those of each path, 405 and OPTIONS, and HEAD.
use super::*;

#[tokio::test]
async fn a_405_names_the_methods_that_the_path_serves() {
    let rig = Rig::new().await;
    let widgets = "/apis/conformance.example.com/v1/namespaces/default/widgets";
    let collection = "GET, HEAD, POST, DELETE, OPTIONS";
    for (method, path, allow) in [
        ("PUT", CONFIG_MAPS.to_owned(), collection),
        ("PATCH", format!("{CONFIG_MAPS}?watch=1"), collection),
        ("POST", format!("{CONFIG_MAPS}/a"), "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"),
        ("BREW", format!("{CONFIG_MAPS}/a"), "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"),
        ("DELETE", "/api/v1/configmaps".to_owned(), "GET, HEAD, OPTIONS"),
        ("DELETE", "/api/v1/namespaces".to_owned(), "GET, HEAD, POST, OPTIONS"),
        ("POST", format!("{widgets}/w/status"), "GET, HEAD, PUT, PATCH, OPTIONS"),
        ("POST", format!("{widgets}/w/scale"), "GET, HEAD, PUT, PATCH, OPTIONS"),
        ("GET", "/api/v1/namespaces/default/finalize".to_owned(), "PUT, OPTIONS"),
        ("DELETE", "/api/v1/watch/namespaces/default/configmaps".to_owned(), "GET, HEAD, OPTIONS"),
        ("POST", "/version".to_owned(), "GET, HEAD, OPTIONS"),
        ("DELETE", "/readyz".to_owned(), "GET, HEAD, OPTIONS"),
    ] {
        let answer = rig.answer(method, &path, &[], "{}").await;
        assert_eq!(answer.status(), 405, "{method} {path}");
        assert_eq!(header(answer.headers(), "allow"), allow, "{method} {path}");
        let options = rig.answer("OPTIONS", &path, &[], "").await;
        assert_eq!((options.status().as_u16(), header(options.headers(), "allow").as_str()), (204, allow), "{path}");
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] {
            let code = rig.answer(method, path.split('?').next().unwrap(), &[], "").await.status();
            assert_eq!(code != 405, allow.split(", ").any(|allowed| allowed == method), "{method} {path}: {code}");
        }
    }
}

#[tokio::test]
async fn options_are_answered_for_served_paths() {
    let rig = Rig::new().await;
    let nested = "/api/v1/namespaces/default/namespaces/default";
    let nothings = "/api/v1/namespaces/default/nothings";
    for path in [nothings, nested, "/apis/no.example.com/v1/things", "/nothing", "/openapi/v4"] {
        assert_eq!(rig.answer("OPTIONS", path, &[], "").await.status(), 404, "{path}");
    }
    let whole = rig.answer("OPTIONS", "*", &[], "").await;
    assert_eq!((whole.status().as_u16(), header(whole.headers(), "allow").as_str()), (204, "GET, HEAD, OPTIONS"));
    let refused = [("authorization", "Bearer alicetoken")];
    assert_eq!(rig.answer("OPTIONS", CONFIG_MAPS, &refused, "").await.status(), 403);
}

#[tokio::test]
async fn head_is_answered_like_get() {
    let rig = Rig::new().await;
    rig.config_map("a").await;
    let one = format!("{CONFIG_MAPS}/a");
    for (path, code) in [(CONFIG_MAPS, 200), (&one, 200), ("/api/v1/namespaces/default/configmaps/b", 404)] {
        let (get, head) = (rig.answer("GET", path, &[], "").await, rig.answer("HEAD", path, &[], "").await);
        assert_eq!((get.status().as_u16(), head.status().as_u16()), (code, code), "{path}");
        assert_eq!(header(get.headers(), "content-type"), header(head.headers(), "content-type"), "{path}");
    }
}

#[tokio::test]
async fn a_401_has_a_challenge() {
    let rig = Rig::new().await;
    let answer = rig.answer("GET", CONFIG_MAPS, &[("authorization", "Bearer wrong")], "").await;
    assert_eq!(
        (answer.status().as_u16(), header(answer.headers(), "www-authenticate").as_str()),
        (401, "Bearer realm=\"kindsmith\"")
    );
    let answer = rig.answer("GET", CONFIG_MAPS, &[("authorization", "Bearer alicetoken")], "").await;
    assert_eq!((answer.status().as_u16(), header(answer.headers(), "www-authenticate").as_str()), (403, ""));
}
