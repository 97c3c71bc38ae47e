//! Two server programs in turn: the CPU time of an operation on both, and a list of what became worse.
//!
//! Only ratios are of use: both programs run on the same machine, in rounds that alternate. A round's figure is the CPU time
//! that the server's process used, divided by the operations that succeeded; a row's figure is the median of its rounds. Rates
//! and latencies are not compared, because the client shares the processors with the server.
use std::path::Path;

use crate::{
    Outcome,
    drive::Load,
    measure::{Ratio, median, number},
    program::{self, Program},
    runtime,
    scenario::{self, objects},
    session::{self, Rounds, Side},
    target::{Http, Target},
};

/// How a comparison is made, for the command's help.
pub(crate) const HELP: &str = "\
To compare with a release, build its server beside this one:

  git worktree add ../release TAG
  cargo build --release --package conformance-server --manifest-path ../release/Cargo.toml --target-dir ../release/target
  cargo run --release --package load -- table --against ../release/target/release/conformance-server

A ratio is the server's CPU time for an operation, ours divided by theirs, of the medians of all rounds. A row that is
close to 1.05 wants more --rounds.";

/// The highest ratio that is not reported as worse.
const LIMIT: f64 = 1.05;
/// The fewest rounds whose medians are compared.
pub(crate) const FEWEST_ROUNDS: u16 = 3;

/// The scenarios of the rows about requests. Those of the table, and the writes that have a way of their own.
const SCENARIOS: [&str; 9] =
    ["get", "list-500", "list-all", "list-table", "create", "update", "patch-merge", "apply", "apply-same"];
/// The connections that write, in the rows about events.
const WRITERS: [usize; 2] = [1, 16];

/// The CPU time of an operation in microseconds, in each round; or why a program cannot do it.
type Costs = Result<Vec<f64>, String>;

/// An operation on both programs.
struct Row {
    title: String,
    ours: Costs,
    theirs: Costs,
}

/// What a row says about our program.
#[derive(Debug, PartialEq)]
enum Verdict {
    /// At most 5% worse than the other program.
    Holds(Ratio),
    /// More than 5% worse.
    Worse(Ratio),
    /// Our program cannot do it, and the other can.
    Lost(String),
    /// The other program cannot do it, or used no CPU time that can be measured.
    NotCompared(String),
}

impl Row {
    fn verdict(&self) -> Verdict {
        let (ours, theirs) = match (&self.ours, &self.theirs) {
            (_, Err(reason)) => return Verdict::NotCompared(format!("the other cannot do it: {reason}")),
            (Err(reason), _) => return Verdict::Lost(reason.clone()),
            (Ok(ours), Ok(theirs)) => (ours, theirs),
        };
        // The cost of an event is a difference of two rounds, which noise can make negative.
        match Ratio::of(ours, theirs).filter(|ratio| ratio.of_medians > 0.0 && median(theirs.iter().copied()) > 0.0) {
            Some(ratio) if ratio.of_medians > LIMIT => Verdict::Worse(ratio),
            Some(ratio) => Verdict::Holds(ratio),
            None => Verdict::NotCompared("too little CPU time was measured; give more --seconds".into()),
        }
    }

    /// The row of the printed table.
    fn text(&self) -> String {
        let cost = |costs: &Costs| match costs {
            Ok(costs) => format!("{:.1} µs", median(costs.iter().copied())),
            Err(_) => "-".into(),
        };
        let verdict = match self.verdict() {
            Verdict::Holds(ratio) | Verdict::Worse(ratio) => {
                format!("{:.2} | {:.2} to {:.2}", ratio.of_medians, ratio.lowest, ratio.highest)
            }
            Verdict::Lost(reason) => format!("lost | {reason}"),
            Verdict::NotCompared(reason) => format!("not compared | {reason}"),
        };
        format!("| {} | {} | {} | {verdict} |", self.title, cost(&self.ours), cost(&self.theirs))
    }

    /// The line of the list of what became worse; none if nothing did.
    fn complaint(&self) -> Option<String> {
        match self.verdict() {
            Verdict::Worse(ratio) => Some(format!("{}: {:.1}% more", self.title, (ratio.of_medians - 1.0) * 100.0)),
            Verdict::Lost(reason) => Some(format!("{}: {reason}", self.title)),
            Verdict::Holds(_) | Verdict::NotCompared(_) => None,
        }
    }
}

/// Compares two programs row by row; returns whether nothing became worse.
pub(crate) fn compare(ours: &Path, theirs: &Path, load: Load, rounds: u16) -> Outcome<bool> {
    let (our_program, our_side) = start("ours", ours, load)?;
    let (their_program, their_side) = start("theirs", theirs, load)?;
    let sides = [our_side, their_side];
    println!("ours: {}\ntheirs: {}\n", ours.display(), theirs.display());
    println!(
        "| server CPU of an operation, {rounds} rounds of {} s in turn, medians | ours | theirs | ratio | single rounds |\n\
         |---|---|---|---|---|",
        load.duration.as_secs_f64()
    );
    let mut complaints = Vec::new();
    let mut report = |row: Row| {
        println!("{}", row.text());
        complaints.extend(row.complaint());
    };
    for scenario in scenario::named(&SCENARIOS.map(str::to_owned))? {
        let compared = session::compare(&sides, scenario, load, rounds.into())?;
        let [ours, theirs] = compared.sides.as_slice() else { return Err("two servers were measured".into()) };
        report(Row { title: scenario.name.to_owned(), ours: costs(ours)?, theirs: costs(theirs)? });
    }
    for writers in WRITERS {
        report(events(&sides, Load { connections: writers, ..load }, rounds));
    }
    drop((our_program, their_program));
    print!("{}", summary(&complaints));
    Ok(complaints.is_empty())
}

/// Starts a program and creates the objects that scenarios need.
fn start(label: &str, path: &Path, load: Load) -> Outcome<(Program, Side)> {
    let program = Program::start(path, program::FLAGS)?;
    let target = Target::new(&program.access, Http::One)?;
    runtime()?.block_on(objects::prepare(&target, load.objects, load.connections))?;
    let side = Side { label: label.into(), target, pid: Some(program.pid()) };
    Ok((program, side))
}

/// The CPU time of an operation in each round, or the first failure if a round had no success.
fn costs(rounds: &Rounds) -> Outcome<Costs> {
    let mut costs = Vec::new();
    for round in &rounds.rounds {
        if round.measure.count() == 0 {
            let failure = round.measure.first.clone();
            return Ok(Err(failure.unwrap_or_else(|| "nothing was answered in time".into())));
        }
        let usage = round.usage.ok_or("the server's CPU time is unknown")?;
        costs.push(number(usage.cpu_us) / number(round.measure.count()));
    }
    Ok(Ok(costs))
}

/// The row about events, in turn like the others. A program that cannot watch fails when the watches are opened.
fn events(sides: &[Side; 2], load: Load, rounds: u16) -> Row {
    let mut all = [Ok(Vec::new()), Ok(Vec::new())];
    for number in 1..=rounds {
        for (side, costs) in sides.iter().zip(&mut all) {
            let Ok(measured) = costs else { continue };
            match session::event_cost_us(side, load, &format!("{}, round {number} of {rounds}", side.label)) {
                Ok(cost) => measured.push(cost),
                Err(error) => *costs = Err(error.to_string()),
            }
        }
    }
    let [ours, theirs] = all;
    let title = format!("event to one of {} watchers, {} writing", load.watchers, load.connections);
    Row { title, ours, theirs }
}

/// The list of what became worse.
fn summary(complaints: &[String]) -> String {
    if complaints.is_empty() {
        return "\nNothing is more than 5% worse.\n".into();
    }
    format!("\nMore than 5% worse:\n\n- {}\n", complaints.join("\n- "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        client::Failed,
        measure::Measure,
        session::{Measured, Usage},
    };

    fn row(ours: &[f64], theirs: &[f64]) -> Row {
        Row { title: "get".into(), ours: Ok(ours.to_vec()), theirs: Ok(theirs.to_vec()) }
    }

    #[test]
    fn medians_decide_and_5_percent_are_allowed() {
        // One slow round of three is no verdict.
        let holds = row(&[10.4, 99.0, 10.0], &[10.0, 10.0, 10.0]);
        assert!(matches!(holds.verdict(), Verdict::Holds(ratio) if (ratio.of_medians - 1.04).abs() < 1e-9));
        assert_eq!(holds.complaint(), None);
        assert_eq!(holds.text(), "| get | 10.4 µs | 10.0 µs | 1.04 | 1.00 to 9.90 |");
        assert!(matches!(row(&[5.0, 5.0, 5.0], &[10.0, 10.0, 10.0]).verdict(), Verdict::Holds(_)), "faster");
        let worse = row(&[10.6, 10.0, 10.7], &[10.0, 10.0, 10.0]);
        assert!(matches!(worse.verdict(), Verdict::Worse(_)));
        assert_eq!(worse.complaint().as_deref(), Some("get: 6.0% more"));
        for (ours, theirs) in [(1.0, 0.0), (1.0, -2.0), (-1.0, 2.0), (-1.0, -2.0)] {
            let verdict = row(&[ours], &[theirs]).verdict();
            assert!(
                matches!(verdict, Verdict::NotCompared(reason) if reason.contains("--seconds")),
                "{ours}, {theirs}"
            );
        }
    }

    #[test]
    fn what_only_one_program_can_do_is_shown() {
        let refused = || Err("the server answered 404: no apply".to_owned());
        let new = Row { theirs: refused(), ..row(&[1.0], &[]) };
        assert_eq!(new.complaint(), None, "a new feature is no fault");
        assert!(new.text().contains("| 1.0 µs | - | not compared | the other cannot do it: the server answered 404"));
        let lost = Row { ours: refused(), ..row(&[], &[1.0]) };
        assert_eq!(lost.complaint().as_deref(), Some("get: the server answered 404: no apply"));
        let neither = Row { ours: refused(), theirs: refused(), ..row(&[], &[]) };
        assert_eq!(neither.complaint(), None);
    }

    #[test]
    fn a_cost_is_cpu_time_by_success() {
        let round = |successes: u32| {
            let mut measure = Measure::new();
            (0..successes).for_each(|_| measure.succeeded(Duration::from_millis(1), 1));
            measure.failed(Failed::Refused(429, "too many".into()));
            Measured { measure, usage: Some(Usage { cpu_us: 1_000, most_kib: 0, before_kib: 0 }) }
        };
        let rounds = |successes: &[u32]| Rounds {
            label: "ours".into(),
            rounds: successes.iter().map(|successes| round(*successes)).collect(),
        };
        assert_eq!(costs(&rounds(&[10, 100])).unwrap(), Ok(vec![100.0, 10.0]));
        assert_eq!(costs(&rounds(&[10, 0])).unwrap(), Err("the server answered 429: too many".into()));
    }

    #[test]
    fn the_list_names_what_became_worse() {
        assert_eq!(summary(&[]), "\nNothing is more than 5% worse.\n");
        assert_eq!(summary(&["get: 6.0% more".into()]), "\nMore than 5% worse:\n\n- get: 6.0% more\n");
        assert_eq!(scenario::named(&SCENARIOS.map(str::to_owned)).unwrap().len(), SCENARIOS.len());
    }
}
