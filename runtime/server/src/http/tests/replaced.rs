//! Writes during which the definition of their resource changes.
use std::time::Duration;

use tokio::sync::Notify;

use super::*;
use crate::{
    handlers::{self, Parent},
    registry::ResourceEntry,
    schema::fixture::schema,
    storage::{Expect, Hold, Op},
};

const ROW: &str = "/registry/definitions/gadgets.example.com";
const GADGETS: &str = "/apis/example.com/v1/namespaces/default/gadgets";

impl Rig {
    /// Writes the row that declares gadgets.
    async fn declare(&self) -> Hold {
        let op = Op { key: ROW.into(), value: Some("{}".into()), expect: Expect::Any, lifetime: None };
        let revision = self.0.backend.api.store.commit(vec![op].into()).await.unwrap()[0];
        Hold { key: ROW.into(), revision: Some(revision) }
    }

    /// Serves gadgets as the row declares them: with this default, and as many fields.
    fn serve_gadgets(&self, row: Hold, generation: u64) -> Arc<ResourceEntry> {
        let number = json!({"type": "integer", "default": generation});
        let fields: serde_json::Map<_, _> = (1..=generation).map(|n| (format!("g{n}"), number.clone())).collect();
        let spec = json!({"type": "object", "default": {}, "properties": fields});
        let gadgets = ConfigMap::kind().with(|shared, version, binding| {
            binding.hooks = Arc::new(Hooks::default());
            shared.names = Names::new("Gadget", "gadgets");
            shared.group = "example.com".to_owned();
            version.schema = Arc::new(schema(&json!({"type": "object", "properties": {"spec": spec}})));
        });
        self.0.backend.api.registry.replace([gadgets], Some(row)).unwrap()
    }

    /// Answers a write that begins before a changed definition is read, and whose commit fails for that.
    async fn write_while_replaced(
        &self,
        generation: u64,
        (method, path, media_type): (&str, &str, &str),
        body: &Value,
    ) -> (u16, Value) {
        let row = self.declare().await;
        let body = body.to_string();
        let headers = [("content-type", media_type)];
        let write = self.json(method, path, &headers, &body);
        let replace = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            self.serve_gadgets(row, generation);
        };
        tokio::join!(write, replace).0
    }
}

#[tokio::test]
async fn a_write_during_which_the_schema_changes_is_done_with_the_new_one() {
    const JSON: &str = "application/json";
    let rig = Rig::new().await;
    rig.serve_gadgets(rig.declare().await, 1);
    let gadget = |field: &str| json!({"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "a"}, "spec": {field: 9}});
    let object = format!("{GADGETS}/a");
    let (code, made) = rig.write_while_replaced(2, ("POST", GADGETS, JSON), &gadget("g2")).await;
    assert_eq!((code, &made["spec"]), (201, &json!({"g1": 2, "g2": 9})), "{made}");
    let (code, made) = rig.write_while_replaced(3, ("PUT", &object, JSON), &gadget("g3")).await;
    assert_eq!((code, &made["spec"]), (200, &json!({"g1": 3, "g2": 3, "g3": 9})), "{made}");
    let patch = ("PATCH", &*object, "application/merge-patch+json");
    let (code, made) = rig.write_while_replaced(4, patch, &json!({"spec": {"g1": 7, "g4": 8}})).await;
    assert_eq!((code, &made["spec"]), (200, &json!({"g1": 7, "g2": 3, "g3": 9, "g4": 8})), "{made}");
    let apply = format!("{object}?fieldManager=m&force=true");
    let apply = ("PATCH", &*apply, "application/apply-patch+yaml");
    let (code, made) = rig.write_while_replaced(5, apply, &gadget("g1")).await;
    assert_eq!((code, &made["spec"]["g1"], &made["spec"]["g5"]), (200, &json!(9), &json!(5)), "{made}");
    let (code, gone) = rig.write_while_replaced(6, ("DELETE", &object, JSON), &json!({})).await;
    assert_eq!((code, rig.get(&object).await.0), (200, 404), "{gone}");
}

#[tokio::test]
async fn warnings_about_fields_of_the_old_schema_are_not_given() {
    let rig = Rig::new().await;
    rig.serve_gadgets(rig.declare().await, 1);
    let row = rig.declare().await;
    let body = json!({"metadata": {"name": "a"}, "spec": {"g2": 9}}).to_string();
    let write = rig.answer("POST", GADGETS, &[("content-type", "application/json")], &body);
    let replace = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        rig.serve_gadgets(row, 2);
    };
    let answer = tokio::join!(write, replace).0;
    assert_eq!((answer.status().as_u16(), header(answer.headers(), "warning")), (201, String::new()));
}

#[tokio::test]
async fn a_write_is_refused_if_its_resource_is_removed_meanwhile() {
    let rig = Rig::new().await;
    let served = rig.serve_gadgets(rig.declare().await, 1);
    rig.declare().await;
    let gadget = json!({"metadata": {"name": "a"}});
    let write = rig.post(GADGETS, &gadget);
    let remove = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        rig.0.backend.api.registry.remove(&served);
    };
    let (code, answer) = tokio::join!(write, remove).0;
    assert_eq!(code, 404, "{answer}");
}

#[tokio::test]
async fn a_change_by_a_handler_is_made_in_the_resource_that_has_replaced_its_own() {
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (mut pending, waiting) = (Pending::default(), (begun.clone(), go.clone()));
    let mark = handlers::post(move |map: Parent<ConfigMap>, _: ConfigMap| {
        let (begun, go) = waiting.clone();
        async move {
            begun.notify_one();
            go.notified().await;
            let mark = |map: &mut ConfigMap| {
                map.data.insert("marked".to_owned(), "yes".to_owned());
                Ok(())
            };
            map.change(mark).await
        }
    });
    pending.subresource("mark", mark);
    let rig = Rig::handled(vec![Namespace::kind(), ConfigMap::kind()], pending).await;
    rig.config_map("a").await;
    let object = format!("{CONFIG_MAPS}/a");
    let replace = async {
        begun.notified().await;
        let registry = &rig.0.backend.api.registry;
        let maps = registry.find("", "v1", "configmaps").unwrap();
        registry.replace([Kind::clone(&maps.kind)], None).unwrap();
        let merge = [("content-type", "application/merge-patch+json")];
        let patched = rig.json("PATCH", &object, &merge, r#"{"data": {"k": "w"}}"#).await;
        assert_eq!(patched.0, 200, "{}", patched.1);
        go.notify_one();
    };
    let (path, body) = (format!("{object}/mark"), json!({"metadata": {"name": "a"}}));
    let ((code, marked), ()) = tokio::join!(rig.post(&path, &body), replace);
    assert_eq!((code, &marked["data"]), (201, &json!({"k": "w", "marked": "yes"})), "{marked}");
}
