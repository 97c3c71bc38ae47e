//! Reviews: what the server answers about users, their access, and tokens.

use kindsmith::{
    Server,
    auth::{Attributes, Authorize, Decision, ResourceRule, Rules, Soon, User},
    server::TestServer,
};
use kindsmith_tests::Client;
use serde_json::{Value, json};

const AUTHENTICATION: &str = "/apis/authentication.k8s.io/v1";
const AUTHORIZATION: &str = "/apis/authorization.k8s.io/v1";

/// Readers may read configmaps in the namespace `open`. `frozen` is denied with a reason, also to others.
struct Readers;

impl Authorize for Readers {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        let Attributes { user, verb, version, resource, namespace, name, path, .. } = *attributes;
        let reads = verb == "get" && resource == "configmaps" && namespace == "open" && matches!(version, "v1" | "*");
        Soon::now(match (name, path) {
            ("frozen", _) => Decision::Deny("it is frozen".to_owned()),
            (_, "/statistics") if user.extra.get("team").is_some_and(|team| team.contains(&"data".to_owned())) => {
                Decision::ALLOW
            }
            _ if user.is_in("readers") && reads => Decision::Allow("readers may".into()),
            _ => Decision::NoOpinion("readers may not".to_owned()),
        })
    }

    fn rules<'a>(&'a self, user: &'a User, namespace: &'a str) -> Soon<'a, Rules> {
        let mut rules = Rules::default();
        if user.is_in("readers") && namespace == "open" {
            rules.resources.push(ResourceRule::new(&["get"], &[""], &["configmaps"]));
        }
        Soon::now(rules)
    }
}

/// An authorizer that decides and lists nothing.
struct Silent;

impl Authorize for Silent {
    fn authorize<'a>(&'a self, _: &'a Attributes<'a>) -> Soon<'a, Decision> {
        Soon::now(Decision::NO_OPINION)
    }
}

async fn server() -> TestServer {
    Server::test().configure(|server| server.authorizer(Readers)).start().await
}

fn alice() -> User {
    User::new("alice", &["readers"])
}

async fn review(server: &TestServer, user: &User, path: &str, spec: Value) -> (u16, Value) {
    server.call_as(user, "POST", path, json!({"spec": spec})).await
}

#[tokio::test]
async fn a_user_learns_who_the_server_thinks_it_is() {
    let server = server().await;
    let path = format!("{AUTHENTICATION}/selfsubjectreviews");
    let (code, mut answer) = server.call("POST", &path, json!({})).await;
    assert!(answer["metadata"].as_object_mut().expect("metadata").remove("creationTimestamp").is_some());
    let admin = json!({"username": "admin", "uid": "admin", "groups": ["system:masters", "system:authenticated"]});
    let kind = json!({"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1", "metadata": {}});
    assert_eq!((code, &answer), (201, &merged(&kind, json!({"status": {"userInfo": admin}}))));

    let mut client = Client::new(server.url(), server.token());
    let request = hyper::Request::post(&path)
        .header("host", "x")
        .header("authorization", format!("Bearer {}", server.token()))
        .header("content-type", "application/json")
        .header("impersonate-user", "kim")
        .header("impersonate-extra-example.com%2fteam", "a")
        .header("impersonate-extra-example.com%2fteam", "b");
    let answer = client.send(request.body("{}".into()).expect("a request")).await.expect("an answer");
    let answer: Value = serde_json::from_slice(&answer.body).expect("JSON");
    let kim = json!({"username": "kim", "groups": ["system:authenticated"], "extra": {"example.com/team": ["a", "b"]}});
    assert_eq!(answer["status"]["userInfo"], kim);

    let mut anonymous = User::new("system:anonymous", &[]);
    anonymous.groups = vec![User::UNAUTHENTICATED.to_owned()];
    assert_eq!(server.call_as(&anonymous, "POST", &path, json!({})).await.0, 403);
    assert_eq!(server.call_as(&alice(), "POST", &path, json!({})).await.0, 201, "without any grant");
    assert_eq!(server.call("GET", &path, Value::Null).await.0, 405, "there is nothing to read");
}

fn merged(base: &Value, more: Value) -> Value {
    let mut merged = base.clone();
    let Value::Object(more) = more else { unreachable!("an object") };
    merged.as_object_mut().expect("an object").extend(more);
    merged
}

#[tokio::test]
async fn the_servers_authorizers_answer_reviews_of_access() {
    let server = server().await;
    let on = |verb: &str, namespace: &str, name: &str| json!({"verb": verb, "resource": "configmaps", "namespace": namespace, "name": name});
    let discovery = "RBAC: allowed by ClusterRoleBinding \"system:discovery\" of ClusterRole \"system:discovery\" to Group \
                     \"system:authenticated\"";
    let denied = json!({"allowed": false, "denied": true, "reason": "it is frozen"});
    let cases = [
        (json!({"resourceAttributes": on("get", "open", "a")}), json!({"allowed": true, "reason": "readers may"})),
        (
            json!({"resourceAttributes": on("delete", "open", "a")}),
            json!({"allowed": false, "reason": "readers may not"}),
        ),
        (json!({"resourceAttributes": on("get", "open", "frozen")}), denied),
        (
            json!({"nonResourceAttributes": {"verb": "get", "path": "/apis"}}),
            json!({"allowed": true, "reason": discovery}),
        ),
        (
            json!({"nonResourceAttributes": {"verb": "get", "path": "/metrics"}}),
            json!({"allowed": false, "reason": "readers may not"}),
        ),
    ];
    let own = format!("{AUTHORIZATION}/selfsubjectaccessreviews");
    for (spec, status) in cases {
        let (code, answer) = review(&server, &alice(), &own, spec.clone()).await;
        assert_eq!((code, &answer["status"], &answer["spec"]), (201, &status, &spec));
        assert_eq!(answer["metadata"], json!({}));
    }

    let subject = format!("{AUTHORIZATION}/subjectaccessreviews");
    let asked = |more: Value| merged(&json!({"resourceAttributes": on("get", "open", "a")}), more);
    let admin = User::new("admin", &[User::MASTERS]);
    for (spec, allowed) in [
        (asked(json!({"user": "bob", "groups": ["readers"]})), true),
        (asked(json!({"groups": ["readers"]})), true),
        // Groups are not looked up: this is a user without any.
        (asked(json!({"user": "alice"})), false),
        (json!({"user": "u", "extra": {"team": ["data"]}, "nonResourceAttributes": {"path": "/statistics"}}), true),
    ] {
        let (code, answer) = review(&server, &admin, &subject, spec.clone()).await;
        assert_eq!((code, &answer["status"]["allowed"]), (201, &json!(allowed)), "{spec}");
    }
    assert_eq!(review(&server, &alice(), &subject, asked(json!({"user": "bob"}))).await.0, 403);

    let local = format!("{AUTHORIZATION}/namespaces/open/localsubjectaccessreviews");
    let readers = asked(json!({"groups": ["readers"]}));
    let (code, answer) = review(&server, &admin, &local, readers).await;
    assert_eq!(
        (code, &answer["status"]),
        (201, &json!({"allowed": true, "reason": "readers may"})),
        "the namespace need not exist"
    );
    assert_eq!(answer["metadata"], json!({"namespace": "open"}));
}

#[tokio::test]
async fn an_unclear_review_is_refused_as_kube_apiserver_does() {
    let server = server().await;
    let (subject, local) = ("subjectaccessreviews", "namespaces/open/localsubjectaccessreviews");
    let get = json!({"verb": "get", "resource": "pods"});
    let path = json!({"path": "/x", "verb": "get"});
    let selecting =
        |selector: Value| json!({"user": "u", "resourceAttributes": merged(&get, json!({"labelSelector": selector}))});
    let by_field =
        |selector: Value| json!({"user": "u", "resourceAttributes": merged(&get, json!({"fieldSelector": selector}))});
    let cases = [
        (
            subject,
            json!({"resourceAttributes": get}),
            "spec.user: Invalid value: \"\": at least one of user or group must be specified",
        ),
        (
            subject,
            json!({"user": "u"}),
            "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
        ),
        (
            subject,
            json!({"user": "u", "resourceAttributes": get, "nonResourceAttributes": path}),
            "spec.nonResourceAttributes: Invalid value: {\"Path\":\"/x\",\"Verb\":\"get\"}: cannot be specified in combination with resourceAttributes",
        ),
        (
            subject,
            selecting(json!({"rawSelector": "a=b", "requirements": [{"key": "a", "operator": "Exists"}]})),
            "spec.resourceAttributes.labelSelector.rawSelector: Invalid value: \"a=b\": may not specified at the same time as requirements",
        ),
        (
            subject,
            selecting(
                json!({"requirements": [{"key": "a", "operator": "Like", "values": ["x"]}, {"key": "b", "operator": "In"}]}),
            ),
            "spec.resourceAttributes.labelSelector.requirements[1].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        ),
        (
            subject,
            by_field(json!({"requirements": [{"key": "", "operator": "Exists"}]})),
            "spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified",
        ),
        (
            subject,
            by_field(json!({})),
            "spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required",
        ),
        (
            local,
            json!({"user": "u", "resourceAttributes": merged(&get, json!({"namespace": "other"}))}),
            "spec.resourceAttributes.namespace: Invalid value: \"other\": must match metadata.namespace",
        ),
        (
            local,
            json!({"user": "u", "nonResourceAttributes": path}),
            "spec.nonResourceAttributes: Invalid value: {\"Path\":\"/x\",\"Verb\":\"get\"}: disallowed on this kind of request",
        ),
    ];
    for (at, spec, message) in cases {
        let (code, status) = server.call("POST", &format!("{AUTHORIZATION}/{at}"), json!({"spec": spec})).await;
        assert_eq!(status["message"], format!(".authorization.k8s.io \"\" is invalid: {message}"));
        assert_eq!(code, 422);
        assert_eq!(status["details"]["group"], "authorization.k8s.io");
        assert!(status["details"].get("kind").is_none(), "{status}");
    }
    let named = json!({"metadata": {"name": "x"}, "spec": {"user": "u", "resourceAttributes": get}});
    let (code, status) = server.call("POST", &format!("{AUTHORIZATION}/{subject}"), named).await;
    assert_eq!((code, &status["details"]["causes"][0]["field"]), (422, &json!("metadata")), "{status}");
}

#[tokio::test]
async fn the_rules_of_a_user_are_listed_as_far_as_authorizers_list_them() {
    let path = format!("{AUTHORIZATION}/selfsubjectrulesreviews");
    let server = server().await;
    let (code, answer) = review(&server, &alice(), &path, json!({"namespace": "open"})).await;
    let status = &answer["status"];
    assert_eq!((code, &answer["spec"], &status["incomplete"]), (201, &json!({}), &json!(false)));
    assert_eq!(
        status["resourceRules"],
        json!([
            {"verbs": ["create"], "apiGroups": ["authorization.k8s.io"], "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]},
            {"verbs": ["create"], "apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"]},
            {"verbs": ["get"], "apiGroups": [""], "resources": ["configmaps"]},
        ])
    );
    let paths: Vec<&str> = status["nonResourceRules"]
        .as_array()
        .expect("rules")
        .iter()
        .flat_map(|rule| rule["nonResourceURLs"].as_array().expect("paths"))
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(
        paths,
        [
            "/api",
            "/api/*",
            "/apis",
            "/apis/*",
            "/healthz",
            "/livez",
            "/openapi",
            "/openapi/*",
            "/readyz",
            "/version",
            "/version/",
            "/healthz",
            "/livez",
            "/readyz",
            "/version",
            "/version/",
        ]
    );
    let (code, status) = review(&server, &alice(), &path, json!({})).await;
    assert_eq!((code, status["message"].as_str()), (400, Some("no namespace on request")));

    let silent = Server::test().configure(|server| server.authorizer(Silent)).start().await;
    let admin = User::new("admin", &[User::MASTERS]);
    let (_, answer) = review(&silent, &admin, &path, json!({"namespace": "open"})).await;
    let status = &answer["status"];
    assert_eq!(status["resourceRules"][0], json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}));
    assert_eq!(status["incomplete"], true);
    assert_eq!(status["evaluationError"], "an authorizer does not support listing its rules");
}

#[tokio::test]
async fn tokens_are_reviewed_by_the_servers_authenticators() {
    let server = server().await;
    let path = format!("{AUTHENTICATION}/tokenreviews");
    let admin = User::new("admin", &[User::MASTERS]);
    let (code, answer) = review(&server, &admin, &path, json!({"token": server.token()})).await;
    let user = json!({"username": "admin", "uid": "admin", "groups": ["system:masters", "system:authenticated"]});
    let audience = "https://kubernetes.default.svc";
    assert_eq!(code, 201);
    assert_eq!(answer["status"], json!({"authenticated": true, "user": user, "audiences": [audience]}));
    let unknown = json!({"user": {}, "error": "invalid bearer token"});
    for spec in [json!({"token": "nope"}), json!({"token": server.token(), "audiences": ["https://elsewhere"]})] {
        let (code, answer) = review(&server, &admin, &path, spec).await;
        assert_eq!((code, &answer["status"]), (201, &unknown));
    }
    let (code, answer) =
        review(&server, &admin, &path, json!({"token": server.token(), "audiences": ["a", audience]})).await;
    assert_eq!((code, &answer["status"]["audiences"]), (201, &json!([audience])));
    let (code, status) = review(&server, &admin, &path, json!({})).await;
    assert_eq!((code, status["message"].as_str()), (400, Some("token is required for TokenReview in authentication")));
    assert_eq!(review(&server, &alice(), &path, json!({"token": "nope"})).await.0, 403);
}
