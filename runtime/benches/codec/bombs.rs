//! Hostile bodies in YAML: how much of the processor's time each takes until it is refused.
use std::{
    fs,
    sync::LazyLock,
    time::{Duration, Instant},
};

use kindsmith_model::codec::{Limits, yaml};

/// Tells of each how long it takes, and the answer.
pub(crate) fn measure() {
    let limits = Limits::default();
    let body = 3 << 20;
    let laughs: Vec<String> = (1..12)
        .map(|n| {
            let before = format!("*a{}", n - 1);
            format!("a{n}: &a{n} [{}]\n", [before.as_str(); 9].join(","))
        })
        .collect();
    let keys: Vec<String> = (0..2_000).map(|n| format!("k{n}: 1")).collect();
    for (what, text) in [
        ("laughs", format!("a0: &a0 [lol,lol,lol]\n{}", laughs.concat())),
        ("long text by aliases", format!("a: &a {}\nb: [{}]", "x".repeat(1 << 20), vec!["*a"; 1000].join(","))),
        ("maps by aliases", format!("a: &a {{x: 1}}\nb: [{}]", vec!["*a"; 300_000].join(","))),
        ("merges", format!("a: &a {{{}}}\nb: [{}]", keys.join(","), vec!["{<<: *a}"; 2_000].join(","))),
        ("deep flow", "[".repeat(body)),
        ("deep block", "- ".repeat(body / 2)),
        ("small maps", "- a: 1\n".repeat(body / 7)),
        ("small items", format!("[{}1] # YAML", "1,".repeat(body / 2))),
        ("small JSON maps", format!("[{}1]", "{\"a\":1},".repeat(body / 8))),
        ("small JSON items", format!("[{}1]", "1,".repeat(body / 2))),
        ("lines", "\n".repeat(body) + "]"),
        ("spaces", " ".repeat(body) + "\t:"),
        ("quotes", "\"".repeat(body)),
        ("one key", "k".repeat(body) + ": ["),
        ("colons", "a: ".repeat(body / 3)),
        ("question marks", "? ".repeat(body / 2)),
        ("comments", "#".repeat(body) + "\n]"),
        ("comment lines", "# a\n".repeat(body / 4) + "]"),
        ("long number", "1".repeat(body)),
        ("long folded text", format!(">\n{}\n]", " a\n".repeat(body / 3))),
    ] {
        let began = processor_time();
        let answer = yaml::decode(text.as_bytes(), &limits).map(|_| ());
        let took = processor_time().saturating_sub(began);
        println!("{what:<28} {:>9.1} ms {:?}", took.as_secs_f64() * 1e3, answer.map_err(|error| error.to_string()));
    }
}

/// The processor's time that this thread has had; the clock's where the system does not tell.
fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|told| told.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| START.elapsed(), Duration::from_nanos)
}
