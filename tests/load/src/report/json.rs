//! A run as JSON: every round, all quantiles, and what was refused.
use serde_json::{Value, json};

use super::ratio;
use crate::{
    drive::Load,
    measure::{Measure, Ratio},
    session::{Compared, Measured, Rounds},
};

/// The quantiles that are written.
const QUANTILES: [f64; 9] = [0.0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];

/// The document of a run.
pub(crate) fn document(load: Load, all: &[Compared]) -> Value {
    json!({
        "load": {
            "connections": load.connections,
            "streams": load.streams,
            "rate": load.rate,
            "seconds": load.duration.as_secs_f64(),
            "objects": load.objects,
            "watchers": load.watchers,
            "slow": load.slow,
        },
        "scenarios": all.iter().map(scenario).collect::<Vec<_>>(),
    })
}

fn scenario(compared: &Compared) -> Value {
    let mut value = json!({
        "name": compared.scenario.name,
        "about": compared.scenario.about,
        "servers": compared.sides.iter().map(server).collect::<Vec<_>>(),
    });
    if let [first, second] = compared.sides.as_slice() {
        let of = |found: Option<Ratio>| {
            found.map(|found| json!({"ofMedians": found.of_medians, "lowest": found.lowest, "highest": found.highest}))
        };
        value["ratios"] = json!({
            "rate": of(ratio(first, second, Measure::rate)),
            "p50": of(ratio(first, second, |measure| measure.latency_ms(0.5))),
            "p99": of(ratio(first, second, |measure| measure.latency_ms(0.99))),
        });
    }
    value
}

fn server(rounds: &Rounds) -> Value {
    json!({
        "label": rounds.label,
        "perSecond": rounds.median(Measure::rate),
        "latencyMs": quantiles(&rounds.whole()),
        "rounds": rounds.rounds.iter().map(round).collect::<Vec<_>>(),
    })
}

fn round(Measured { measure, usage }: &Measured) -> Value {
    json!({
        "seconds": measure.elapsed.as_secs_f64(),
        "succeeded": measure.count(),
        "perSecond": measure.rate(),
        "bytes": measure.bytes,
        "latencyMs": quantiles(measure),
        "refused": measure.refused.iter().map(|(code, count)| (code.to_string(), json!(count))).collect::<Value>(),
        "failed": measure.errors,
        "unsent": measure.unsent,
        "server": usage.map(|u| json!({"cpuUs": u.cpu_us, "residentKib": u.most_kib, "residentKibBefore": u.before_kib})),
    })
}

/// Latencies in milliseconds by the percentage that does not exceed them.
fn quantiles(measure: &Measure) -> Value {
    QUANTILES.iter().map(|quantile| (format!("{}", quantile * 100.0), json!(measure.latency_ms(*quantile)))).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{report::tests::rounds, scenario::ALL};

    #[test]
    fn a_document_has_every_round_and_the_ratio() {
        let load = Load {
            connections: 2,
            streams: 1,
            rate: Some(50.0),
            duration: Duration::from_secs(1),
            objects: 10,
            watchers: 0,
            slow: false,
        };
        let mut sides = vec![rounds("a", &[30, 10, 20]), rounds("b", &[10, 10, 10])];
        sides[0].rounds[2].measure.refused.insert(503, 4);
        let document = document(load, &[Compared { scenario: &ALL[0], sides }]);
        let found = &document["scenarios"][0];
        assert_eq!((&document["load"]["rate"], &found["name"]), (&json!(50.0), &json!("get")));
        assert_eq!(found["ratios"]["rate"], json!({"ofMedians": 2.0, "lowest": 1.0, "highest": 3.0}));
        let server = &found["servers"][0];
        assert_eq!(server["rounds"].as_array().map(Vec::len), Some(3));
        assert_eq!(
            (&server["rounds"][2]["refused"], &server["rounds"][2]["succeeded"]),
            (&json!({"503": 4}), &json!(20))
        );
        let p99 = server["latencyMs"]["99"].as_f64().unwrap();
        assert!((p99 - 5.0).abs() < 0.01, "{p99}");
    }
}
