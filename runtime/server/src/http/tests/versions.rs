//! A kind in several versions, as clients see it.
use super::*;
use crate::{
    handlers::{self, Parent},
    kind::convert::Unchanged,
};

fn widget_in(version: &str) -> Kind {
    let widget = Widget::kind();
    widget.with(|_, data, binding| {
        version.clone_into(&mut data.name);
        binding.conversion = Some(Arc::new(Unchanged { fills: true }));
    })
}

/// Widgets in the storage version, a deprecated one, one that is not served, and a later one.
async fn rig() -> Rig {
    let deprecated = Some("v1beta1 is \"old\"".to_owned());
    Rig::with(vec![
        Namespace::kind(),
        widget_in("v1beta1").with(|_, version, _| version.deprecated = deprecated),
        widget_in("v1alpha1").with(|_, version, _| version.served = false),
        Widget::kind(),
        widget_in("v2"),
    ])
    .await
}

const GROUP: &str = "/apis/conformance.example.com";

#[tokio::test]
async fn discovery_and_openapi_list_served_versions_by_priority() {
    let rig = rig().await;
    let (_, group) = rig.get(GROUP).await;
    let versions: Vec<&Value> = group["versions"].as_array().unwrap().iter().map(|found| &found["version"]).collect();
    assert_eq!(
        (json!(versions), &group["preferredVersion"]["version"]),
        (json!(["v2", "v1", "v1beta1"]), &json!("v2"))
    );
    let mut hashes = Vec::new();
    for version in ["v2", "v1", "v1beta1"] {
        let (code, found) = rig.get(&format!("{GROUP}/{version}")).await;
        assert_eq!((code, &found["resources"][0]["name"]), (200, &json!("widgets")));
        hashes.push(found["resources"][0]["storageVersionHash"].clone());
        let (code, found) = rig.get(&format!("/openapi/v3{GROUP}/{version}")).await;
        assert_eq!((code, found["paths"].get(format!("{GROUP}/{version}/widgets")).is_some()), (200, true));
    }
    hashes.dedup();
    assert_eq!(hashes.len(), 1, "all are stored in one version");
    for path in
        [format!("{GROUP}/v1alpha1"), format!("{GROUP}/v1alpha1/widgets"), format!("/openapi/v3{GROUP}/v1alpha1")]
    {
        let answer = rig.answer("GET", &path, &[], "").await;
        assert_eq!((answer.status().as_u16(), text(answer).await.as_str()), (404, "404 page not found\n"), "{path}");
    }
}

#[tokio::test]
async fn a_subresource_is_served_in_all_versions_and_its_handler_sees_its_own() {
    let later = ConfigMap::kind().with(|_, version, binding| {
        "v2".clone_into(&mut version.name);
        binding.conversion = Some(Arc::new(Unchanged { fills: true }));
    });
    let mut pending = Pending::default();
    let act = handlers::post(async |map: Parent<ConfigMap>, mut given: ConfigMap| {
        given.data.clone_from(&map.data);
        Ok(given)
    });
    pending.subresource("act", act);
    let rig = Rig::handled(vec![Namespace::kind(), ConfigMap::kind(), later], pending).await;
    rig.config_map("a").await;
    for version in ["v1", "v2"] {
        let path = format!("/api/{version}/namespaces/default/configmaps/a/act");
        let (code, given) = rig.json("POST", &path, &[("content-type", "application/json")], "{}").await;
        assert_eq!((code, &given["apiVersion"], &given["data"]["k"]), (201, &json!("v1"), &json!("v")), "{version}");
        let (_, listed) = rig.get(&format!("/api/{version}")).await;
        let mut resources = listed["resources"].as_array().unwrap().iter();
        assert!(resources.any(|resource| resource["name"] == "configmaps/act"), "{version}: {listed}");
        let (_, v3) = rig.get(&format!("/openapi/v3/api/{version}")).await;
        let path = format!("/paths/~1api~1{version}~1namespaces~1{{namespace}}~1configmaps~1{{name}}~1act/post");
        let answer = v3.pointer(&format!("{path}/responses/201/content/application~1json/schema/$ref"));
        assert_eq!(answer, Some(&json!("#/components/schemas/io.k8s.api.core.v1.ConfigMap")), "{version}");
    }
    let (code, _) = rig.json("POST", "/api/v2/namespaces/default/configmaps/none/act", &[], "{}").await;
    assert_eq!(code, 404);
}

#[tokio::test]
async fn every_answer_of_a_deprecated_version_has_a_warning_first() {
    let rig = rig().await;
    let (old, new) =
        (format!("{GROUP}/v1beta1/namespaces/default/widgets"), format!("{GROUP}/v1/namespaces/default/widgets"));
    let body = |version: &str| {
        let spec = json!({"size": 1, "unknown": 2});
        json!({"apiVersion": version, "kind": "Widget", "metadata": {"name": "w"}, "spec": spec}).to_string()
    };
    let warnings = async |method: &str, path: &str, body: &str| {
        let headers = [("content-type", "application/json")];
        let answer = rig.answer(method, path, &headers, body).await;
        let found = answer.headers().get_all("warning").iter().map(|value| value.to_str().unwrap().to_owned());
        (answer.status().as_u16(), found.collect::<Vec<_>>())
    };
    let deprecated = "299 - \"v1beta1 is \\\"old\\\"\"".to_owned();
    let unknown = "299 - \"unknown field \\\"spec.unknown\\\"\"".to_owned();
    let created = warnings("POST", &old, &body("conformance.example.com/v1beta1")).await;
    assert_eq!(created, (201, vec![deprecated.clone(), unknown]));
    for (method, path, body, code) in [
        ("GET", format!("{old}/w"), "", 200),
        ("GET", old.clone(), "", 200),
        ("GET", format!("{old}?watch=1&timeoutSeconds=1"), "", 200),
        ("GET", format!("{old}?fieldSelector=spec.size=1"), "", 400),
        ("GET", format!("{old}/none"), "", 404),
        ("GET", format!("{old}/w/none"), "", 404),
        ("POST", format!("{old}/w"), "{}", 405),
        ("POST", old.clone(), "nonsense", 400),
        ("DELETE", format!("{old}/w"), "", 200),
    ] {
        assert_eq!(warnings(method, &path, body).await, (code, vec![deprecated.clone()]), "{method} {path}");
        let path = path.replace(&old, &new);
        assert_eq!(warnings(method, &path, body).await.1, Vec::<String>::new(), "{method} {path}");
    }
    let stranger = rig.answer("GET", &old, &[("authorization", "Bearer wrong")], "").await;
    assert_eq!((stranger.status().as_u16(), stranger.headers().get("warning")), (401, None));
}
