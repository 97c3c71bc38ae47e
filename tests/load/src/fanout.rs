//! What an event delivered to a watcher costs the server in CPU time.
use std::fs;

use crate::{Outcome, Target, client::Connection, fill::config_map};

/// CPU time of a process so far, user and system, in microseconds.
fn cpu_us(pid: u32) -> Outcome<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields: Vec<&str> = text.rsplit_once(')').ok_or("no process name in /proc")?.1.split_whitespace().collect();
    let ticks = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    Ok(ticks * 10_000) // the kernel tells it in ticks of a hundredth of a second
}

/// Opens the watchers, makes the changes one after the other, waits until everybody has seen them all.
pub async fn measure(target: &Target, pid: u32, watchers: usize, changes: usize) -> Outcome<()> {
    let mut writer = Connection::open(target).await?;
    let namespace = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"fanout"}}"#;
    writer.send("POST", "/api/v1/namespaces", "application/json", namespace).await?;
    let collection = "/api/v1/namespaces/fanout/configmaps";
    writer.send("POST", collection, "application/json", &config_map("one")).await?;

    // The same changes with nobody watching: what the writes alone cost.
    let alone = change(pid, &mut writer, collection, changes).await?;
    let mut watching = Vec::new();
    for _ in 0..watchers {
        let mut connection = Connection::open(target).await?;
        let answer = connection.send("GET", &format!("{collection}?watch=1"), "application/json", "").await?;
        assert_eq!(answer.status, 200, "a watch is answered");
        watching.push(tokio::spawn(async move { connection.count_events(changes + 1).await }));
    }
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let before = cpu_us(pid)?;
    change(pid, &mut writer, collection, changes).await?;
    for watcher in watching {
        watcher.await??;
    }
    let spent = cpu_us(pid)? - before;
    let events = u64::try_from(watchers * changes)?;
    let cost = spent.saturating_sub(alone) * 100 / events;
    println!(
        "fanout: {}.{:02} us of server CPU a delivered event ({watchers} watchers, {changes} changes)",
        cost / 100,
        cost % 100
    );
    Ok(())
}

/// Makes the changes, awaiting each answer; gives the server's CPU time meanwhile.
async fn change(pid: u32, writer: &mut Connection, collection: &str, changes: usize) -> Outcome<u64> {
    let before = cpu_us(pid)?;
    for number in 0..changes {
        let patch = format!(r#"{{"metadata":{{"annotations":{{"n":"{number}-{before}"}}}}}}"#);
        let answer = writer.send("PATCH", &format!("{collection}/one"), "application/merge-patch+json", &patch).await?;
        if answer.status != 200 {
            return Err(format!("patch answered {}", answer.status).into());
        }
    }
    Ok(cpu_us(pid)? - before)
}
