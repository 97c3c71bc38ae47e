//! Fills a server with `ConfigMap`s of 1.6 KB.
use crate::{Outcome, Target, client::Connection};

/// A `ConfigMap` whose answer is about 1.6 KB.
pub(crate) fn config_map(name: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","labels":{{"app":"load"}}}},"data":{{"text":"{}"}}}}"#,
        "x".repeat(1_300)
    )
}

/// Creates the namespace `load` and `count` `ConfigMap`s in it, over 16 connections.
pub(crate) async fn fill(target: &Target, count: usize) -> Outcome<()> {
    let namespace = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"load"}}"#;
    Connection::open(target).await?.send("POST", "/api/v1/namespaces", "application/json", namespace).await?;
    let started = std::time::Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 0..16 {
        let target = target.clone();
        tasks.spawn(async move {
            let mut connection = Connection::open(&target).await?;
            for index in (worker..count).step_by(16) {
                let body = config_map(&format!("cm-{index:06}"));
                let path = "/api/v1/namespaces/load/configmaps";
                let answer = connection.send("POST", path, "application/json", &body).await?;
                if answer.status != 201 {
                    return Err(format!(
                        "create answered {}: {}",
                        answer.status,
                        String::from_utf8_lossy(&answer.body)
                    )
                    .into());
                }
            }
            Outcome::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    let rate = f64::from(u32::try_from(count)?) / started.elapsed().as_secs_f64();
    println!("create: {rate:.0} a second, durable, from 16 connections");
    Ok(())
}
