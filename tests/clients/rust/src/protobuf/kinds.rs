//! Lease and ConfigMap as kube-apiserver's messages, and as the client's own types.

use std::{collections::BTreeMap, fmt::Debug};

use k8s_openapi::{
    ByteString,
    api::{
        coordination::v1 as coordination,
        core::v1::{self as core},
    },
    apimachinery::pkg::apis::meta::v1 as meta,
    jiff::Timestamp,
};
use k8s_pb::{
    api::{
        coordination::v1::{Lease, LeaseList, LeaseSpec},
        core::v1::{ConfigMap, ConfigMapList},
    },
    apimachinery::pkg::apis::meta::v1::{ListMeta, ManagedFieldsEntry, MicroTime, ObjectMeta, Time},
};
use kube::core::NamespaceResourceScope;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::Failure;

/// A kind as a message.
pub trait Kind: k8s_pb::Resource + prost::Message + Default + Clone + Debug + PartialEq {
    /// The client's own type of it.
    type Json: kube::Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + PartialEq
        + DeserializeOwned;
    /// Its list as a message.
    type List: prost::Message + Default;
    /// The path of its objects.
    const COLLECTION: &'static str;

    /// An object to create.
    fn sample() -> Self;
    /// The change of an update.
    fn change(&mut self);
    /// The change of a patch.
    fn patch() -> Value;
    /// The metadata.
    fn metadata(&mut self) -> &mut ObjectMeta;
    /// The items of a list.
    fn items(list: Self::List) -> (ListMeta, Vec<Self>);
    /// The object as the client's own type.
    fn json(self) -> Result<Self::Json, Failure>;
}

impl Kind for ConfigMap {
    type Json = core::ConfigMap;
    type List = ConfigMapList;
    const COLLECTION: &'static str = "/api/v1/namespaces/default/configmaps";

    fn sample() -> Self {
        Self {
            metadata: Some(ObjectMeta::default()),
            data: [("text".to_owned(), "grün\n".to_owned()), ("empty".to_owned(), String::new())].into(),
            binary_data: [("bytes".to_owned(), vec![0, 255, 128])].into(),
            immutable: Some(false),
        }
    }

    fn change(&mut self) {
        self.data.insert("text".to_owned(), "rot".to_owned());
        self.binary_data.clear();
    }

    fn patch() -> Value {
        json!({"data": {"empty": null, "patched": "yes"}})
    }

    fn metadata(&mut self) -> &mut ObjectMeta {
        self.metadata.get_or_insert_default()
    }

    fn items(list: Self::List) -> (ListMeta, Vec<Self>) {
        (list.metadata.unwrap_or_default(), list.items)
    }

    fn json(self) -> Result<Self::Json, Failure> {
        Ok(core::ConfigMap {
            metadata: metadata(self.metadata.unwrap_or_default())?,
            data: some(self.data),
            binary_data: some(self.binary_data.into_iter().map(|(key, bytes)| (key, ByteString(bytes))).collect()),
            immutable: self.immutable,
        })
    }
}

impl Kind for Lease {
    type Json = coordination::Lease;
    type List = LeaseList;
    const COLLECTION: &'static str = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

    fn sample() -> Self {
        let spec = LeaseSpec {
            holder_identity: Some("me".to_owned()),
            lease_duration_seconds: Some(15),
            renew_time: Some(MicroTime { seconds: Some(1_767_323_045), nanos: Some(678_901_000) }),
            ..LeaseSpec::default()
        };
        Self { metadata: Some(ObjectMeta::default()), spec: Some(spec) }
    }

    fn change(&mut self) {
        let spec = self.spec.get_or_insert_default();
        spec.holder_identity = Some("you".to_owned());
        spec.lease_transitions = Some(0);
    }

    fn patch() -> Value {
        json!({"spec": {"leaseTransitions": 3, "renewTime": null}})
    }

    fn metadata(&mut self) -> &mut ObjectMeta {
        self.metadata.get_or_insert_default()
    }

    fn items(list: Self::List) -> (ListMeta, Vec<Self>) {
        (list.metadata.unwrap_or_default(), list.items)
    }

    fn json(self) -> Result<Self::Json, Failure> {
        let spec = self.spec.map(|spec| {
            Ok::<_, Failure>(coordination::LeaseSpec {
                holder_identity: spec.holder_identity,
                lease_duration_seconds: spec.lease_duration_seconds,
                acquire_time: spec.acquire_time.map(micro_time).transpose()?,
                renew_time: spec.renew_time.map(micro_time).transpose()?,
                lease_transitions: spec.lease_transitions,
                strategy: spec.strategy,
                preferred_holder: spec.preferred_holder,
            })
        });
        let metadata = metadata(self.metadata.unwrap_or_default())?;
        Ok(coordination::Lease { metadata, spec: spec.transpose()? })
    }
}

/// Go omits empty maps, empty text and zero in JSON.
fn some<T>(map: BTreeMap<String, T>) -> Option<BTreeMap<String, T>> {
    (!map.is_empty()).then_some(map)
}

fn text(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

fn number(number: Option<i64>) -> Option<i64> {
    number.filter(|&number| number != 0)
}

fn metadata(message: ObjectMeta) -> Result<meta::ObjectMeta, Failure> {
    let owners = message.owner_references.into_iter().map(|owner| meta::OwnerReference {
        api_version: owner.api_version.unwrap_or_default(),
        kind: owner.kind.unwrap_or_default(),
        name: owner.name.unwrap_or_default(),
        uid: owner.uid.unwrap_or_default(),
        controller: owner.controller,
        block_owner_deletion: owner.block_owner_deletion,
    });
    let owners: Vec<_> = owners.collect();
    let managed = message.managed_fields.into_iter().map(managed).collect::<Result<Vec<_>, _>>()?;
    Ok(meta::ObjectMeta {
        name: text(message.name),
        generate_name: text(message.generate_name),
        namespace: text(message.namespace),
        self_link: text(message.self_link),
        uid: text(message.uid),
        resource_version: text(message.resource_version),
        generation: number(message.generation),
        creation_timestamp: message.creation_timestamp.filter(is_set).map(time).transpose()?,
        deletion_timestamp: message.deletion_timestamp.map(time).transpose()?,
        deletion_grace_period_seconds: message.deletion_grace_period_seconds,
        labels: some(message.labels),
        annotations: some(message.annotations),
        owner_references: (!owners.is_empty()).then_some(owners),
        finalizers: (!message.finalizers.is_empty()).then_some(message.finalizers),
        managed_fields: (!managed.is_empty()).then_some(managed),
    })
}

fn managed(entry: ManagedFieldsEntry) -> Result<meta::ManagedFieldsEntry, Failure> {
    let fields = entry.fields_v1.and_then(|fields| fields.raw);
    Ok(meta::ManagedFieldsEntry {
        manager: text(entry.manager),
        operation: text(entry.operation),
        api_version: text(entry.api_version),
        time: entry.time.map(time).transpose()?,
        fields_type: text(entry.fields_type),
        fields_v1: fields.map(|raw| serde_json::from_slice(&raw).map(meta::FieldsV1)).transpose()?,
        subresource: text(entry.subresource),
    })
}

/// Go's zero time is a message without fields.
fn is_set(time: &Time) -> bool {
    time.seconds.is_some()
}

fn time(time: Time) -> Result<meta::Time, Failure> {
    Ok(meta::Time(Timestamp::new(time.seconds(), time.nanos())?))
}

fn micro_time(time: MicroTime) -> Result<meta::MicroTime, Failure> {
    Ok(meta::MicroTime(Timestamp::new(time.seconds(), time.nanos())?))
}
