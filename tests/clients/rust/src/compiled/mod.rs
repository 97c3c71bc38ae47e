//! The exported definitions compiled to Rust: their bytes equal the server's in both directions, and those of the types
//! that derive `Message`.

mod sample;

use std::{fmt::Debug, fs, path::Path};

use kindsmith::{
    Resource, Server,
    builtin::{self, ClusterRole, ConfigMap, Event, Lease, Namespace, Role, Secret, ServiceAccount},
    kind::{Kind, model::Scope, proto},
    schema::Schema,
    testing,
};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use prost::Message;
use serde_json::{Value, json};

use self::{
    messages::{
        com::example::sample::v1 as sample_v1,
        k8s::io::{
            api::{coordination::v1 as coordination_v1, core::v1 as core_v1, rbac::v1 as rbac_v1},
            apimachinery::pkg::apis::meta::v1::ObjectMeta,
        },
    },
    sample::Sample,
};
use crate::{
    Failure,
    protobuf::{PROTOBUF, accepting, raw, seal, send},
};

/// The generated code of the definitions.
#[allow(clippy::all, clippy::pedantic, dead_code, missing_docs)]
mod messages {
    include!(concat!(env!("OUT_DIR"), "/messages.rs"));
}

/// The number of compared objects of each kind.
const OBJECTS: usize = 30;

/// The kinds of the definitions in `proto/`.
fn kinds() -> Vec<Kind> {
    builtin::kinds().into_iter().chain([Sample::kind()]).collect()
}

/// Writes the definitions of the kinds and their imports into a folder.
pub fn export(folder: &Path) -> Result<(), Failure> {
    Ok(proto::files(&kinds()).iter().try_for_each(|file| file.write_below(folder))?)
}

/// The compiled definitions equal the definitions that a server with these kinds serves. Random objects of all kinds have the
/// same bytes in the server, in the compiled code, and in the derived types.
pub async fn definitions() -> Result<(), Failure> {
    let server = Server::test().tls().kind::<Sample>().start().await;
    let kubeconfig = Kubeconfig::read_from(server.kubeconfig())?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let client = Client::try_from(config)?;
    served(&client).await?;
    same_bytes::<ConfigMap, core_v1::ConfigMap>(&client, |map| &mut map.metadata).await?;
    same_bytes::<Event, core_v1::Event>(&client, |event| &mut event.metadata).await?;
    same_bytes::<Lease, coordination_v1::Lease>(&client, |lease| &mut lease.metadata).await?;
    same_bytes::<Namespace, core_v1::Namespace>(&client, |namespace| &mut namespace.metadata).await?;
    same_bytes::<Secret, core_v1::Secret>(&client, |secret| &mut secret.metadata).await?;
    same_bytes::<ServiceAccount, core_v1::ServiceAccount>(&client, |account| &mut account.metadata).await?;
    same_bytes::<ClusterRole, rbac_v1::ClusterRole>(&client, |role| &mut role.metadata).await?;
    same_bytes::<Role, rbac_v1::Role>(&client, |role| &mut role.metadata).await?;
    same_bytes::<Sample, sample_v1::Sample>(&client, |sample| &mut sample.metadata).await?;
    server.stop();
    Ok(())
}

/// The index has all files, and each equals the compiled one.
async fn served(client: &Client) -> Result<(), Failure> {
    let index = accepting(client, "GET", "/openapi/proto", "application/json", None).await?;
    let index: Value = serde_json::from_slice(&index.body)?;
    let paths: Vec<&str> = index["paths"].as_array().ok_or("an index")?.iter().filter_map(Value::as_str).collect();
    assert_eq!(paths.len(), proto::files(&kinds()).len(), "{paths:?}");
    for path in paths {
        let file = accepting(client, "GET", &format!("/openapi/proto/{path}"), "*/*", None).await?;
        let compiled = fs::read(Path::new(env!("OUT_DIR")).join("proto").join(path))?;
        assert_eq!(file.code, 200, "{path}");
        assert!(file.body == compiled, "{path} differs from the compiled one; `--definitions` updates it");
    }
    Ok(())
}

/// Objects are generated as JSON and read as messages, and generated as messages and read back.
async fn same_bytes<R, M>(client: &Client, metadata: fn(&mut M) -> &mut Option<ObjectMeta>) -> Result<(), Failure>
where
    R: Resource + Message + Default,
    M: Message + Default + Clone + Debug + PartialEq,
{
    let kind = R::kind();
    let (version, name) = (kind.group_version.to_string(), kind.names().kind.as_str());
    let collection = collection(&kind);
    let mut compared = 0;
    for mut document in testing::documents(&kind, 0x6275_666c).take(20 * OBJECTS) {
        keep_rules(&mut document);
        let sent = Some(("application/json", serde_json::to_vec(&document)?));
        let made = send(client, "POST", &collection, sent).await?;
        if made.code == 422 {
            continue; // The generated document breaks a validation rule of the kind.
        }
        let theirs = raw(&made.body, &version, name)?;
        let mut object = M::decode(theirs.as_slice())?;
        if !has_zero_entries(&kind.version.schema, &document) {
            assert_eq!(text(&object.encode_to_vec()), text(&theirs), "compiled, of {document}");
        }
        assert_eq!(text(&R::decode(theirs.as_slice())?.encode_to_vec()), text(&theirs), "derived, of {document}");

        let first = object.clone();
        let about = metadata(&mut object).get_or_insert_default();
        *about = ObjectMeta { name: Some(format!("{}-again", about.name())), ..ObjectMeta::default() };
        let again = send(client, "POST", &collection, Some((PROTOBUF, seal(&version, name, &object)))).await?;
        let again: M = again.message(&version, name)?;
        assert_eq!(bare(again, metadata), bare(first, metadata), "made of a message, of {document}");
        compared += 1;
        if compared == OBJECTS {
            return Ok(());
        }
    }
    Err(format!("of {name} only {compared} objects could be compared").into())
}

/// Makes random documents obey the rules of events: an event is in the namespace of its object, and one with a time has
/// a reporter.
fn keep_rules(document: &mut Value) {
    if document["kind"] == "Event" {
        document["involvedObject"]["namespace"] = "default".into();
        if !document["eventTime"].is_null() {
            document["reportingComponent"] = "example.com/c".into();
            for field in ["reportingInstance", "action", "reason"] {
                document[field] = "Some".into();
            }
            document["type"] = "Normal".into();
        }
    }
}

/// True if a map has an entry without a value, such as empty text. Go and the server write such entries completely;
/// prost omits zero keys and values. Both forms decode to the same map.
fn has_zero_entries(schema: &Schema, document: &Value) -> bool {
    let within = |(name, value): (&String, &Value)| match (&schema.additional, schema.properties.get(name)) {
        (Some(values), _) => {
            name.is_empty() || [json!(""), json!([]), json!({})].contains(value) || has_zero_entries(values, value)
        }
        (None, Some(property)) => has_zero_entries(property, value),
        (None, None) => false,
    };
    match (document, &schema.items) {
        (Value::Object(fields), _) => fields.iter().any(within),
        (Value::Array(list), Some(items)) => list.iter().any(|item| has_zero_entries(items, item)),
        _ => false,
    }
}

/// An object without the fields that the server sets.
fn bare<M>(mut object: M, metadata: fn(&mut M) -> &mut Option<ObjectMeta>) -> M {
    *metadata(&mut object) = None;
    object
}

/// Bytes as text, for readable differences.
fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

fn collection(kind: &Kind) -> String {
    let at = &kind.group_version;
    let root = if at.group.is_empty() { "/api/v1".to_owned() } else { format!("/apis/{at}") };
    match kind.shared.scope {
        Scope::Namespaced => format!("{root}/namespaces/default/{}", kind.names().plural),
        Scope::Cluster => format!("{root}/{}", kind.names().plural),
    }
}
