//! Writes while the disk of the store is slow.

use tokio::task::JoinSet;

use super::*;
use crate::storage::{
    embedded::{Embedded, Options},
    ramdisk::RamDisk,
};

#[tokio::test]
async fn writes_that_wait_too_long_for_a_slow_disk_get_429_and_reads_go_on() {
    let disk = RamDisk::new(64 << 20);
    let options = Options { queue_bytes: 100 << 10, ..Options::default() };
    let store = Arc::new(Embedded::open_on(disk.clone(), options).unwrap());
    let rig = Rig::stored(vec![Namespace::kind(), ConfigMap::kind()], store).await;
    let (slow, mut writes) = (disk.hold_sync(), JoinSet::new());
    for number in 0..20 {
        let rig = Rig(rig.0.clone());
        let object = json!({"metadata": {"name": format!("m{number}")}, "data": {"text": "x".repeat(20_000)}});
        writes.spawn(async move {
            rig.answer("POST", CONFIG_MAPS, &[("content-type", "application/json")], &object.to_string()).await
        });
    }
    // While the disk is held up nothing else happens, so time passes at once.
    tokio::time::pause();
    for _ in 0..16 {
        let refused = writes.join_next().await.unwrap().unwrap();
        assert_eq!((refused.status().as_u16(), &*header(refused.headers(), "retry-after")), (429, "1"));
        let status: Value = serde_json::from_slice(&collect(refused).await).unwrap();
        assert_eq!(status["reason"], "TooManyRequests", "{status}");
    }
    let (code, list) = rig.get(CONFIG_MAPS).await;
    assert_eq!((code, &list["items"]), (200, &json!([])), "nothing is shown before it is durable");
    tokio::time::resume();
    drop(slow);
    for written in writes.join_all().await {
        assert_eq!(written.status(), 201, "four of 20 kB have room in 100 KiB");
    }
    let (_, list) = rig.get(CONFIG_MAPS).await;
    assert_eq!(list["items"].as_array().map(Vec::len), Some(4), "a refused write writes nothing");
    rig.config_map("after").await;
}
