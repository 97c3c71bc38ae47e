//! A kind with types of k8s-openapi as they stand.
use k8s_openapi::api::core::v1::{PodTemplateSpec, Toleration};
use kindsmith::{ApiType, ObjectMeta, Resource, Server, kind::Definition, kind::crd};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Pods that are made from a template.
#[derive(Resource, Clone, Debug)]
#[resource(group = "apps.example.com", version = "v1")]
struct Fleet {
    metadata: ObjectMeta,
    spec: FleetSpec,
}

/// The desired state of a fleet.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct FleetSpec {
    #[api(schema = schemars)]
    template: PodTemplateSpec,
    #[serde(default)]
    #[api(schema = schemars, list = atomic)]
    tolerations: Vec<Toleration>,
}

#[tokio::test]
async fn a_template_of_pods_is_validated_and_pruned() {
    let server = Server::test().configure(kindsmith::server::Builder::kind::<Fleet>).start().await;
    let path = "/apis/apps.example.com/v1/namespaces/default/fleets";
    let fleet = |container| {
        let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}});
        json!({"metadata": {"name": "web"}, "spec": {"template": template}})
    };
    let (status, refused) = server.call("POST", path, fleet(json!({"image": "web", "ports": [{"name": 1}]}))).await;
    let causes = refused["details"]["causes"].as_array().into_iter().flatten();
    let fields: Vec<_> = causes.filter_map(|cause| cause["field"].as_str()).collect();
    let at = "spec.template.spec.containers[0]";
    assert_eq!(status, 422, "{refused}");
    for field in ["name", "ports[0].containerPort", "ports[0].name"] {
        assert!(fields.contains(&&*format!("{at}.{field}")), "{at}.{field} is in {fields:?}");
    }
    let container =
        json!({"name": "web", "image": "web", "resources": {"limits": {"cpu": 1, "memory": "1Gi"}}, "x": 1});
    let (status, created) = server.call("POST", path, fleet(container)).await;
    assert_eq!(status, 201, "{created}");
    let created = &created["spec"]["template"]["spec"]["containers"][0];
    assert_eq!((&created["resources"]["limits"]["cpu"], created.get("x")), (&json!("1"), None), "{created}");
}

#[test]
fn the_definition_is_structural() {
    let definition = Definition::of(vec![Fleet::kind()]).expect("a definition");
    let written = crd::write(&definition).expect("a manifest");
    crd::define(&written.document).unwrap_or_else(|findings| panic!("{:?}", findings.errors));
}
