//! A chart of latencies: one panel for each scenario, one line for each server. The axis of quantiles is logarithmic in
//! what exceeds them, so that p99 and p99.9 have room.
use std::fmt::Write;

use crate::{measure::Measure, session::Compared};

const WIDTH: f64 = 720.0;
const PANEL: f64 = 260.0;
/// Room for the titles of the axes, on the left and at the bottom, and for the title of a panel.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 36.0;
/// The quantiles that are named below the axis.
const NAMED: [(&str, f64); 6] =
    [("0", 0.0), ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)];
/// The last position on the axis: p99.999.
const NINES: f64 = 5.0;
/// Room for the name of the second server, to the right of the first.
const LABEL: f64 = 220.0;
const STEPS: u32 = 100;
const COLOURS: [&str; 2] = ["#1f6feb", "#d9480f"];

/// The chart of a run.
pub(crate) fn chart(all: &[Compared]) -> String {
    let mut height = 0.0;
    let mut panels = String::new();
    for compared in all {
        panel(compared, height, &mut panels);
        height += PANEL;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{panels}</svg>\n"
    )
}

/// A scale of latencies in whole powers of ten.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of(measures: &[Measure]) -> Self {
        let with = || measures.iter().filter(|measure| measure.count() > 0);
        let low = with().map(|measure| measure.latency_ms(0.0)).fold(f64::INFINITY, f64::min);
        let high = with().map(|measure| measure.latency_ms(1.0)).fold(0.0, f64::max);
        if low > high {
            return Self { low: 0.0, high: 1.0 };
        }
        let low = low.max(1e-6).log10().floor();
        Self { low, high: high.max(1e-6).log10().ceil().max(low + 1.0) }
    }

    /// The height of a latency within a panel whose top is at zero.
    fn y(&self, latency_ms: f64) -> f64 {
        let part = (latency_ms.max(1e-6).log10() - self.low) / (self.high - self.low);
        PANEL - BOTTOM - part.clamp(0.0, 1.0) * (PANEL - TOP - BOTTOM)
    }
}

/// The position of a quantile on its axis.
fn x(quantile: f64) -> f64 {
    let nines = if quantile >= 1.0 { NINES } else { -(1.0 - quantile).log10() };
    LEFT + nines.min(NINES) / NINES * (WIDTH - LEFT - RIGHT)
}

fn panel(compared: &Compared, top: f64, out: &mut String) {
    let measures: Vec<_> = compared.sides.iter().map(super::Rounds::whole).collect();
    let scale = Scale::of(&measures);
    let name = escaped(compared.scenario.name);
    let _ = writeln!(out, "<g transform=\"translate(0 {top})\">");
    let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"20\" font-weight=\"bold\">{name}: latency in ms</text>");
    axes(&scale, out);
    for (index, (rounds, measure)) in compared.sides.iter().zip(&measures).enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let from_right = WIDTH - RIGHT - if index == 0 { LABEL } else { 0.0 };
        let label = escaped(&rounds.label);
        let _ = writeln!(
            out,
            "<text x=\"{from_right}\" y=\"20\" text-anchor=\"end\" fill=\"{colour}\">{label}, {:.0}/s</text>",
            rounds.median(Measure::rate)
        );
        if measure.count() > 0 {
            let _ = writeln!(
                out,
                "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\"{}\"/>",
                points(measure, &scale)
            );
        }
    }
    out.push_str("</g>\n");
}

fn axes(scale: &Scale, out: &mut String) {
    let (right, bottom) = (WIDTH - RIGHT, PANEL - BOTTOM);
    let grid = "stroke=\"#d0d7de\"";
    for (name, quantile) in NAMED {
        let x = x(quantile);
        let _ = writeln!(out, "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\" {grid}/>");
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>", bottom + 18.0);
    }
    let mut power = scale.low;
    while power <= scale.high {
        let latency = 10_f64.powf(power);
        let y = scale.y(latency);
        let _ = writeln!(out, "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\" {grid}/>");
        let _ =
            writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{latency}</text>", LEFT - 8.0, y + 4.0);
        power += 1.0;
    }
}

/// The line of a server. It ends at the quantile that one operation exceeds.
fn points(measure: &Measure, scale: &Scale) -> String {
    let last = crate::measure::number(measure.count()).log10().min(NINES);
    let mut points = Vec::new();
    for step in 0..=STEPS {
        let quantile = 1.0 - 10_f64.powf(-last * f64::from(step) / f64::from(STEPS));
        points.push(format!("{:.1},{:.1}", x(quantile), scale.y(measure.latency_ms(quantile))));
    }
    points.dedup();
    points.join(" ")
}

/// Text for XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{report::tests::rounds, scenario::ALL};

    #[test]
    fn a_slower_server_has_the_higher_line() {
        let (fast, mut slow) = (rounds("<fast>", &[1_000]), rounds("slow", &[1_000]));
        (0..9_000).for_each(|_| slow.rounds[0].measure.succeeded(Duration::from_millis(80), 1));
        let chart = chart(&[Compared { scenario: &ALL[0], sides: vec![fast, slow] }]);
        let ends: Vec<f64> = chart
            .lines()
            .filter_map(|line| line.strip_prefix("<polyline")?.split("points=\"").nth(1)?.split('"').next())
            .map(|points| points.rsplit(',').next().unwrap().parse().unwrap())
            .collect();
        // Coordinates grow downwards.
        assert!(ends.len() == 2 && ends[1] < ends[0], "{ends:?} in {chart}");
        assert!(chart.contains("&lt;fast&gt;, 1000/s") && !chart.contains("<fast>"), "{chart}");
        assert_eq!(chart.matches("<g ").count(), chart.matches("</g>").count());
    }

    #[test]
    fn quantiles_have_room_by_their_nines_and_nothing_leaves_the_panel() {
        let gap = x(0.99) - x(0.9);
        assert!((x(0.999) - x(0.99) - gap).abs() < 1e-6);
        let scale = Scale::of(&[rounds("a", &[10]).whole()]);
        for latency in [0.0, 5.0, 1e9] {
            assert!((TOP..=PANEL - BOTTOM).contains(&scale.y(latency)), "{latency}");
        }
        assert!(chart(&[Compared { scenario: &ALL[0], sides: vec![rounds("none", &[0])] }]).ends_with("</svg>\n"));
    }
}
