//! The server's CPU time per event delivered to a watcher.
use std::fs;

use crate::{Outcome, Target, client::Connection, fill::config_map};

/// The CPU time of a process so far, user and system, in microseconds.
fn cpu_us(pid: u32) -> Outcome<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields: Vec<&str> = text.rsplit_once(')').ok_or("no process name in /proc")?.1.split_whitespace().collect();
    let ticks = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
    Ok(ticks * 10_000) // the kernel reports ticks of a hundredth of a second
}

/// The parameters of a measurement.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// The number of watchers of every change.
    pub watchers: usize,
    /// The number of concurrent writers. Each writes its own object and awaits its answers.
    pub writers: usize,
    /// The total number of changes.
    pub changes: usize,
}

const COLLECTION: &str = "/api/v1/namespaces/fanout/configmaps";

/// Opens the watchers, makes the changes, and waits until all watchers have received them.
pub(crate) async fn measure(target: &Target, pid: u32, plan: Plan) -> Outcome<()> {
    let Plan { watchers, writers, changes } = plan;
    let mut setup = Connection::open(target).await?;
    let namespace = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"fanout"}}"#;
    setup.send("POST", "/api/v1/namespaces", "application/json", namespace).await?;
    for writer in 0..writers {
        setup.send("POST", COLLECTION, "application/json", &config_map(&format!("w{writer}"))).await?;
    }
    // The same changes without watchers: the cost of the writes alone.
    let alone = change(target, pid, plan).await?;
    let there = setup.send("GET", COLLECTION, "application/json", "").await?.body;
    let objects = String::from_utf8_lossy(&there).matches(r#""uid":"#).count();
    let mut watching = Vec::new();
    for _ in 0..watchers {
        let mut connection = Connection::open(target).await?;
        let answer = connection.send("GET", &format!("{COLLECTION}?watch=1"), "application/json", "").await?;
        assert_eq!(answer.status, 200, "a watch is answered");
        watching.push(tokio::spawn(async move {
            connection.count_events(objects).await?;
            Outcome::Ok(connection)
        }));
    }
    let mut following = Vec::new();
    for watcher in watching {
        let mut connection = watcher.await??;
        following.push(tokio::spawn(async move { connection.count_events(changes).await }));
    }
    let before = cpu_us(pid)?;
    change(target, pid, plan).await?;
    for watcher in following {
        watcher.await??;
    }
    let spent = cpu_us(pid)? - before;
    let events = u64::try_from(watchers * changes)?;
    let cost = spent.saturating_sub(alone) * 100 / events;
    println!(
        "fanout: {}.{:02} us of server CPU a delivered event ({watchers} watchers, {changes} changes by {writers} at a time)",
        cost / 100,
        cost % 100
    );
    Ok(())
}

/// Makes the changes; returns the server's CPU time meanwhile.
async fn change(target: &Target, pid: u32, plan: Plan) -> Outcome<u64> {
    let before = cpu_us(pid)?;
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..plan.writers {
        let target = target.clone();
        tasks.spawn(async move {
            let mut connection = Connection::open(&target).await?;
            for number in (writer..plan.changes).step_by(plan.writers) {
                let patch = format!(r#"{{"metadata":{{"annotations":{{"n":"{number}-{before}"}}}}}}"#);
                let path = format!("{COLLECTION}/w{writer}");
                let answer = connection.send("PATCH", &path, "application/merge-patch+json", &patch).await?;
                if answer.status != 200 {
                    return Err(format!("patch answered {}", answer.status).into());
                }
            }
            Outcome::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(cpu_us(pid)? - before)
}
