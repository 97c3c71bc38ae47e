//! Limits.
use super::Setting;
use crate::server::settings::effect::Effect::{Count, Size, Time};

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "limits.requests.bodyBytes",
        "SIZE",
        Size(|plan, value| plan.limits.requests.body_bytes = value),
        "Size of a request's body.",
    )
    .or("3Mi")
    .live(),
    Setting::new(
        "limits.requests.bodySeconds",
        "COUNT",
        Count(|plan, value| plan.limits.requests.body_seconds = value as u64),
        "Seconds for a body to arrive.",
    )
    .or("60")
    .live(),
    Setting::new(
        "limits.requests.requestSeconds",
        "COUNT",
        Count(|plan, value| plan.limits.requests.request_seconds = value as u64),
        "Seconds to answer; watches and connections have no such limit.",
    )
    .or("60")
    .live(),
    Setting::new(
        "limits.requests.minWatchSeconds",
        "COUNT",
        Count(|plan, value| plan.limits.requests.min_watch_seconds = value as u64),
        "Seconds of the shortest watch without timeoutSeconds; the longest takes twice as long.",
    )
    .or("1800")
    .live(),
    Setting::new(
        "limits.requests.readsInFlight",
        "COUNT",
        Count(|plan, value| plan.limits.requests.reads_in_flight = value),
        "Short reads at a time.",
    )
    .or("400")
    .live(),
    Setting::new(
        "limits.requests.writesInFlight",
        "COUNT",
        Count(|plan, value| plan.limits.requests.writes_in_flight = value),
        "Short writes at a time.",
    )
    .or("200")
    .live(),
    Setting::new(
        "limits.requests.longRunning",
        "COUNT",
        Count(|plan, value| plan.limits.requests.long_running = value),
        "Watches, connections and streamed texts at a time.",
    )
    .or("20000")
    .live(),
    Setting::new(
        "limits.cache.historyBytes",
        "SIZE",
        Size(|plan, value| plan.limits.cache.history_bytes = value),
        "Past changes of all resources in memory.",
    )
    .or("128Mi"),
    Setting::new(
        "limits.cache.renderingBytes",
        "SIZE",
        Size(|plan, value| plan.limits.cache.rendering_bytes = value),
        "Objects in other encodings and versions.",
    )
    .or("16Mi"),
    Setting::new(
        "limits.cache.indexBytes",
        "SIZE",
        Size(|plan, value| plan.limits.cache.index_bytes = value),
        "Indexes of fields and labels.",
    )
    .or("64Mi"),
    Setting::new(
        "limits.store.historyAge",
        "TIME",
        Time(|plan, value| plan.limits.store.history_age = value),
        "How long past changes stay in the data directory.",
    )
    .or("5m"),
    Setting::new(
        "limits.store.historyBytes",
        "SIZE",
        Size(|plan, value| plan.limits.store.history_bytes = value as u64),
        "Past changes in the data directory.",
    )
    .or("256Mi"),
    Setting::new(
        "limits.store.queueBytes",
        "SIZE",
        Size(|plan, value| plan.limits.store.queue_bytes = value),
        "Commits that wait.",
    )
    .or("64Mi"),
    Setting::new(
        "limits.store.cacheBytes",
        "SIZE",
        Size(|plan, value| plan.limits.store.cache_bytes = value),
        "The page cache of the data directory's engine.",
    )
    .or("4Mi"),
    Setting::new(
        "limits.store.scrubBytesPerSecond",
        "SIZE",
        Size(|plan, value| plan.limits.store.scrub_bytes_per_second = value as u64),
        "Rate of the verification in the background; 0 disables it.",
    )
    .or("4Mi"),
    Setting::new(
        "limits.store.scrubPause",
        "TIME",
        Time(|plan, value| plan.limits.store.scrub_pause = value),
        "Pause between two verifications.",
    )
    .or("10m"),
    Setting::new(
        "limits.connections.greeting",
        "TIME",
        Time(|plan, value| plan.limits.connections.greeting = value),
        "Time for a TLS handshake and the first bytes of HTTP.",
    )
    .or("10s"),
    Setting::new(
        "limits.connections.head",
        "TIME",
        Time(|plan, value| plan.limits.connections.head = value),
        "Time for the head of a request.",
    )
    .or("1m"),
    Setting::new(
        "limits.connections.stall",
        "TIME",
        Time(|plan, value| plan.limits.connections.stall = value),
        "Time in which a peer may read nothing.",
    )
    .or("30s"),
    Setting::new(
        "limits.connections.lastStall",
        "TIME",
        Time(|plan, value| plan.limits.connections.last_stall = value),
        "The same while the server stops.",
    )
    .or("1s"),
    Setting::new(
        "limits.connections.overtime",
        "TIME",
        Time(|plan, value| plan.limits.connections.overtime = value),
        "Time to read the rest of an answer after its end.",
    )
    .or("5s"),
    Setting::new(
        "limits.connections.linger",
        "TIME",
        Time(|plan, value| plan.limits.connections.linger = value),
        "Time in which data after the last answer is read.",
    )
    .or("10s"),
    Setting::new(
        "limits.connections.silence",
        "TIME",
        Time(|plan, value| plan.limits.connections.silence = value),
        "The same without any data.",
    )
    .or("1s"),
    Setting::new(
        "limits.connections.open",
        "COUNT",
        Count(|plan, value| plan.limits.connections.open = value),
        "Connections; by default as many as the process has descriptors for.",
    ),
    Setting::new(
        "limits.connections.greetings",
        "COUNT",
        Count(|plan, value| plan.limits.connections.greetings = value),
        "Handshakes at a time; by default half of the connections, and at most 1000.",
    ),
    Setting::new(
        "limits.connections.lingering",
        "COUNT",
        Count(|plan, value| plan.limits.connections.lingering = value),
        "Connections that only linger; by default a quarter of them, and at most 100.",
    ),
];
