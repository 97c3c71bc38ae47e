//! The output of pods: a log, and a flood.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use kindsmith::{
    ApiType,
    handlers::{NoOptions, Parent, Result, Text},
};
use serde::{Deserialize, Serialize};

use crate::{Pod, check};

/// Options of its log.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PodLogOptions {
    /// The container's name.
    pub container: Option<String>,
    /// Follow the log.
    pub follow: Option<bool>,
    /// The number of lines from the end.
    #[api(minimum = 0)]
    pub tail_lines: Option<i64>,
}

pub(crate) async fn log(pod: Parent<Pod>, options: PodLogOptions) -> Result<Text> {
    check(&pod, options.container.as_deref())?;
    Ok(lines(&pod.metadata.name, &options))
}

/// Five lines of an object of this name, or without end.
pub(crate) fn lines(name: &str, options: &PodLogOptions) -> Text {
    let lines: Vec<String> = (1..=5).map(|number| format!("line {number} of {name}")).collect();
    let from = options.tail_lines.map_or(0, |tail| lines.len().saturating_sub(usize::try_from(tail).unwrap_or(0)));
    if !options.follow.unwrap_or_default() {
        return Text::whole(lines[from..].join("\n") + "\n");
    }
    let endless = name.starts_with("endless");
    Text::written(move |mut out| async move {
        for line in &lines[from..] {
            out.line(line).await?;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        if !endless {
            return Ok(());
        }
        loop {
            out.line("and on").await?;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
}

/// The number of bytes that floods have written.
static FLOODED: AtomicU64 = AtomicU64::new(0);

/// The number of bytes that floods have written.
pub fn flooded() -> u64 {
    FLOODED.load(Ordering::Relaxed)
}

/// A flood as fast as it is read, or a failure after part of it.
pub(crate) async fn flood(pod: Parent<Pod>, _options: NoOptions) -> Result<Text> {
    let breaks = pod.metadata.name.starts_with("breaks");
    Ok(Text::written(move |mut out| async move {
        for number in 0_u64.. {
            out.line(format!("{number:0>1000}")).await?;
            FLOODED.fetch_add(1001, Ordering::Relaxed);
            if breaks && number == 100 {
                return Err(std::io::Error::other("as asked"));
            }
        }
        Ok(())
    }))
}
