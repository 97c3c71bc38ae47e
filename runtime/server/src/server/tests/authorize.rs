//! Tests of handlers, hooks, admission and controllers that ask what a user may do.
use serde_json::{Value, json};

use crate::{
    Resource, Server,
    auth::User,
    builtin::ConfigMap,
    handlers::{Refusal, Result},
    kind::{
        client::Access,
        hook::{Context, Hooks},
    },
    verbs::admission::{Admission, Attributes},
    widget::Widget,
};

/// Widgets are of people who may also delete the config map `parts`.
struct Owners;

fn parts(namespace: &str) -> Access {
    Access::to::<ConfigMap>("delete").in_namespace(namespace).named("parts")
}

impl Hooks<Widget> for Owners {
    async fn admit(&self, widget: &Widget, context: &Context<'_, Widget>) -> Result<()> {
        context.client().authorize(context.user, &parts(&widget.metadata.namespace)).await
    }
}

/// Refuses config maps of who may not lend widgets, in words of its own.
struct Lenders;

impl Admission for Lenders {
    async fn validate(&self, attributes: &Attributes<'_>, _: &Value) -> Result<()> {
        if attributes.resource != "configmaps" {
            return Ok(());
        }
        let lends = Access::to_resource("lend", "example.com", "widgets").subresource("copies");
        let asked = attributes.client().authorize(attributes.user, &lends).await;
        asked.map_err(|_| Refusal::forbidden("lenders only"))
    }
}

#[tokio::test]
async fn user_code_asks_what_a_user_may_do() {
    let test = Server::test().configure(|server| server.kind_with::<Widget>(Owners).admission(Lenders));
    let server = test.start().await;
    let rules = json!([
        {"apiGroups": [Widget::kind().group_version.group], "resources": ["widgets"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]},
    ]);
    let role = json!({"metadata": {"name": "makes"}, "rules": rules});
    let of = |kind: &str| format!("/apis/rbac.authorization.k8s.io/v1/{kind}");
    assert_eq!(server.call("POST", &of("clusterroles"), role).await.0, 201);
    let binding = json!({
        "metadata": {"name": "makes"}, "roleRef": {"kind": "ClusterRole", "name": "makes"},
        "subjects": [{"kind": "User", "name": "ada"}],
    });
    assert_eq!(server.call("POST", &of("clusterrolebindings"), binding).await.0, 201);
    let ada = User { name: "ada".to_owned(), ..User::default() };

    let version = Widget::kind().group_version.to_string();
    let path = format!("/apis/{version}/namespaces/default/widgets");
    let widget = json!({"apiVersion": version, "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1}});
    let (code, answer) = server.call_as(&ada, "POST", &path, widget.clone()).await;
    let message = answer["message"].as_str().unwrap_or_default().to_owned();
    assert_eq!(code, 403, "{answer}");
    let expected = r#"configmaps "parts" is forbidden: User "ada" cannot delete resource "configmaps" in API group "" in the namespace "default""#;
    assert!(message.contains(expected), "{message}");
    assert_ne!(server.call("POST", &path, widget).await.0, 403, "an administrator may do everything");

    let maps = "/api/v1/namespaces/default/configmaps";
    let (code, answer) = server.call_as(&ada, "POST", maps, json!({"metadata": {"name": "m"}})).await;
    assert!(code == 403 && answer["message"].as_str().unwrap().contains("lenders only"), "{answer}");
    assert_eq!(server.call("POST", maps, json!({"metadata": {"name": "m"}})).await.0, 201);

    // A controller's client asks for whom it wants.
    let client = server.client();
    assert!(client.authorize(&User::system(), &parts("default")).await.is_ok());
    let refused = client.authorize(&ada, &parts("default")).await.unwrap_err();
    assert_eq!((refused.status().code, refused.status().reason.as_str()), (403, "Forbidden"));
}
