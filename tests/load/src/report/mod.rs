//! Reports of a run: text for people, JSON for programs, SVG of the latencies.
pub(crate) mod json;
pub(crate) mod svg;

use std::fmt::Write;

use crate::{
    drive::Load,
    measure::{Measure, Ratio},
    session::{Compared, Rounds},
};

/// The quantiles of the text, with their titles.
const SHOWN: [(&str, f64); 5] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)];

/// How a load is described above its figures.
pub(crate) fn describe(load: Load, rounds: usize) -> String {
    let kind = load.rate.map_or("closed loop".to_owned(), |rate| format!("open loop of {rate}/s"));
    let streams = if load.streams > 1 { format!(" with {} streams each", load.streams) } else { String::new() };
    let slow = if load.slow { ", slow readers" } else { "" };
    format!("{} connections{streams}, {kind}{slow}, {rounds} × {} s", load.connections, load.duration.as_secs_f64())
}

/// The figures of a scenario: medians of the rounds, and ratios if there are two servers.
pub(crate) fn text(compared: &Compared) -> String {
    let mut out = format!("{}: {}\n{:28}{:>12}", compared.scenario.name, compared.scenario.about, "", "per second");
    for (title, _) in SHOWN {
        let _ = write!(out, "{:>12}", format!("{title} ms"));
    }
    out.push('\n');
    for rounds in &compared.sides {
        let _ = write!(out, "  {:26}{:>12.1}", rounds.label, rounds.median(Measure::rate));
        for (_, quantile) in SHOWN {
            let _ = write!(out, "{:>12.3}", rounds.median(|measure| measure.latency_ms(quantile)));
        }
        out.push('\n');
        notes(rounds, &mut out);
    }
    if let [first, second] = compared.sides.as_slice() {
        let _ = write!(out, "  {:26}{:>12}", "ratio", ratio(first, second, Measure::rate).map_or("-".into(), short));
        for (_, quantile) in SHOWN {
            let of = ratio(first, second, |measure| measure.latency_ms(quantile));
            let _ = write!(out, "{:>12}", of.map_or("-".into(), short));
        }
        out.push('\n');
        if let Some(Ratio { lowest, highest, .. }) = ratio(first, second, Measure::rate) {
            let _ = writeln!(out, "    ratios of rates in single rounds: {lowest:.2} to {highest:.2}");
        }
    }
    out
}

fn short(ratio: Ratio) -> String {
    format!("{:.2}", ratio.of_medians)
}

/// The ratio of a figure between two servers.
pub(crate) fn ratio(first: &Rounds, second: &Rounds, figure: impl Fn(&Measure) -> f64 + Copy) -> Option<Ratio> {
    Ratio::of(&first.each(figure), &second.each(figure))
}

/// Notes on a server: sizes, usage, refusals and errors.
fn notes(rounds: &Rounds, out: &mut String) {
    let whole = rounds.whole();
    let mut parts = Vec::new();
    if let Some(bytes) = whole.bytes.checked_div(whole.count()) {
        parts.push(format!("{bytes} bytes each"));
    }
    if let Some(cpu) = rounds.cpu_us().filter(|_| whole.count() > 0) {
        parts.push(format!("{cpu:.1} µs of server CPU each"));
    }
    if let Some((most, before)) = rounds.resident_kib() {
        parts.push(format!("server memory {} MB, {} MB before", most / 1024, before / 1024));
    }
    if !parts.is_empty() {
        let _ = writeln!(out, "    {}", parts.join(", "));
    }
    for (code, count) in &whole.refused {
        let _ = writeln!(out, "    refused with {code}: {count}");
    }
    for (reason, count) in &whole.errors {
        let _ = writeln!(out, "    failed: {count}, {reason}");
    }
    if whole.unsent > 0 {
        let _ = writeln!(
            out,
            "    not sent in time: {}; the rate is more than the server, or this client, can do",
            whole.unsent
        );
    }
    if let (0, Some(first)) = (whole.count(), &whole.first) {
        let _ = writeln!(out, "    nothing succeeded: {first}");
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{scenario::ALL, session::Measured};

    /// Rounds with these numbers of operations in a second, each of 5 ms.
    pub(crate) fn rounds(label: &str, counts: &[u64]) -> Rounds {
        let round = |count: &u64| {
            let mut measure = Measure { elapsed: Duration::from_secs(1), ..Measure::new() };
            (0..*count).for_each(|_| measure.succeeded(Duration::from_millis(5), 100));
            Measured { measure, usage: None }
        };
        Rounds { label: label.into(), rounds: counts.iter().map(round).collect() }
    }

    #[test]
    fn the_text_has_medians_ratios_and_refusals() {
        let mut sides = vec![rounds("new", &[300, 100, 200]), rounds("old", &[100, 100, 100])];
        sides[1].rounds[0].measure.refused.insert(429, 7);
        let text = text(&Compared { scenario: &ALL[0], sides });
        let line = |start: &str| text.lines().find(|line| line.trim().starts_with(start)).unwrap().to_owned();
        assert!(line("new").contains(" 200.0 "), "{text}");
        assert_eq!(line("ratio ").split_whitespace().nth(1), Some("2.00"), "{text}");
        assert!(text.contains("single rounds: 1.00 to 3.00"), "{text}");
        assert!(text.contains("refused with 429: 7"), "{text}");
        assert!(text.contains("100 bytes each"), "{text}");
    }
}
