//! Built-in kinds with the client's own types.

use std::collections::BTreeMap;

use futures::TryStreamExt;
use k8s_openapi::{
    ByteString,
    api::{
        coordination::v1::{Lease, LeaseSpec},
        core::v1::ConfigMap,
    },
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::Timestamp,
};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use serde_json::json;

use crate::{Failure, kinds::named, refused::refused};

/// Config maps: text and bytes, patches, a raw watch from a revision, and the deletion of a collection.
pub async fn config_maps(client: Client) -> Result<(), Failure> {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let labels = || Some(BTreeMap::from([("set".to_owned(), "maps".to_owned())]));
    let ours = ListParams::default().labels("set=maps");
    let since = maps.list(&ours).await?.metadata.resource_version.ok_or("a list has a revision")?;
    for number in 0..3 {
        let map = ConfigMap {
            metadata: kube::core::ObjectMeta { labels: labels(), ..named(&format!("map-{number}")) },
            data: Some([("number".to_owned(), number.to_string())].into()),
            binary_data: Some([("bytes".to_owned(), ByteString(vec![0, 255, number]))].into()),
            ..ConfigMap::default()
        };
        let made = maps.create(&PostParams::default(), &map).await?;
        assert_eq!((&made.data, &made.binary_data), (&map.data, &map.binary_data));
        assert_eq!(maps.get(&made.name_any()).await?, made);
    }
    let patch = Patch::Merge(json!({"data": {"number": null, "more": "m"}}));
    let patched = maps.patch("map-0", &PatchParams::default(), &patch).await?;
    assert_eq!(patched.data, Some([("more".to_owned(), "m".to_owned())].into()));
    let stale = maps.get("map-1").await?;
    let patch = Patch::Merge(json!({"immutable": true}));
    maps.patch("map-1", &PatchParams::default(), &patch).await?;
    refused(maps.replace("map-1", &PostParams::default(), &stale).await, 409, "Conflict");
    let patch = Patch::Merge(json!({"data": {"number": "5"}}));
    refused(maps.patch("map-1", &PatchParams::default(), &patch).await, 422, "Invalid");
    assert!(maps.delete("map-2", &DeleteParams::default()).await?.is_right());

    let watch = WatchParams::default().labels("set=maps").timeout(2);
    let events: Vec<WatchEvent<ConfigMap>> = maps.watch(&watch, &since).await?.try_collect().await?;
    let told: Vec<_> = events.iter().filter_map(told).collect();
    let wanted = ["ADDED map-0", "ADDED map-1", "ADDED map-2", "MODIFIED map-0", "MODIFIED map-1", "DELETED map-2"];
    assert_eq!(told, wanted);

    maps.delete_collection(&DeleteParams::default(), &ours).await?;
    assert!(maps.list(&ours).await?.items.is_empty());
    Ok(())
}

/// A lease keeps its times to the microsecond.
pub async fn leases(client: Client) -> Result<(), Failure> {
    let leases: Api<Lease> = Api::namespaced(client, "kube-system");
    let at = MicroTime("2026-01-02T03:04:05.678901Z".parse::<Timestamp>()?);
    let spec = LeaseSpec {
        holder_identity: Some("me".to_owned()),
        lease_duration_seconds: Some(15),
        renew_time: Some(at),
        ..LeaseSpec::default()
    };
    let lease = Lease { metadata: named("lead"), spec: Some(spec) };
    leases.create(&PostParams::default(), &lease).await?;
    let mut found = leases.get("lead").await?;
    assert_eq!(found.spec, lease.spec);
    let held = found.clone();
    found.spec.get_or_insert_default().holder_identity = Some("you".to_owned());
    leases.replace("lead", &PostParams::default(), &found).await?;
    refused(leases.replace("lead", &PostParams::default(), &held).await, 409, "Conflict");
    leases.delete("lead", &DeleteParams::default()).await?;
    Ok(())
}

fn told(event: &WatchEvent<ConfigMap>) -> Option<String> {
    let (kind, map) = match event {
        WatchEvent::Added(map) => ("ADDED", map),
        WatchEvent::Modified(map) => ("MODIFIED", map),
        WatchEvent::Deleted(map) => ("DELETED", map),
        WatchEvent::Bookmark(_) => return None,
        WatchEvent::Error(status) => panic!("{status:?}"),
    };
    Some(format!("{kind} {}", map.name_any()))
}
