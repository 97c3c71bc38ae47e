//! Rounds of scenarios against one server, or against two in turn: A B A B.
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::{
    Outcome,
    drive::{Load, Round},
    measure::{Measure, median, number},
    program,
    progress::Bar,
    scenario::{self, Scenario, Steps, fanout::Watchers, roles},
    target::Target,
};

/// The interval between two readings of a server's memory.
const SAMPLE: Duration = Duration::from_millis(20);

/// A server under load.
#[derive(Clone)]
pub(crate) struct Side {
    /// Its name in reports.
    pub(crate) label: String,
    pub(crate) target: Arc<Target>,
    /// Its process, if that is on this machine and known.
    pub(crate) pid: Option<u32>,
}

/// What one round measured.
pub(crate) struct Measured {
    pub(crate) measure: Measure,
    pub(crate) usage: Option<Usage>,
}

/// What a server's process used during a round.
#[derive(Clone, Copy)]
pub(crate) struct Usage {
    /// CPU time in microseconds.
    pub(crate) cpu_us: u64,
    /// The maximum of its resident memory, and its resident memory before, in KiB.
    pub(crate) most_kib: u64,
    pub(crate) before_kib: u64,
}

/// All rounds of a scenario against one server.
pub(crate) struct Rounds {
    pub(crate) label: String,
    pub(crate) rounds: Vec<Measured>,
}

impl Rounds {
    /// All rounds as one.
    pub(crate) fn whole(&self) -> Measure {
        self.rounds.iter().fold(Measure::new(), |mut whole, round| {
            whole.add(&round.measure);
            whole
        })
    }

    /// A figure of each round.
    pub(crate) fn each(&self, figure: impl Fn(&Measure) -> f64) -> Vec<f64> {
        self.rounds.iter().map(|round| figure(&round.measure)).collect()
    }

    /// The median of a figure.
    pub(crate) fn median(&self, figure: impl Fn(&Measure) -> f64) -> f64 {
        median(self.each(figure))
    }

    /// The median CPU time of the server for one success, in microseconds.
    pub(crate) fn cpu_us(&self) -> Option<f64> {
        let each = |round: &Measured| Some(number(round.usage?.cpu_us) / number(round.measure.count().max(1)));
        self.rounds.iter().map(each).collect::<Option<Vec<_>>>().map(median)
    }

    /// The highest resident memory of the server, and the lowest before a round, in KiB.
    pub(crate) fn resident_kib(&self) -> Option<(u64, u64)> {
        let usages = || self.rounds.iter().filter_map(|round| round.usage);
        Some((usages().map(|usage| usage.most_kib).max()?, usages().map(|usage| usage.before_kib).min()?))
    }
}

/// What a scenario measured, on each side.
pub(crate) struct Compared {
    pub(crate) scenario: &'static Scenario,
    pub(crate) sides: Vec<Rounds>,
}

/// Runs a scenario against the sides in turn, so that a change of the machine's speed meets both.
pub(crate) fn compare(sides: &[Side], scenario: &'static Scenario, load: Load, rounds: usize) -> Outcome<Compared> {
    let mut compared: Vec<_> =
        sides.iter().map(|side| Rounds { label: side.label.clone(), rounds: Vec::new() }).collect();
    for number in 1..=rounds {
        for (side, found) in sides.iter().zip(&mut compared) {
            let title = format!("{} {}, round {number} of {rounds}", scenario.name, side.label);
            found.rounds.push(round(side, scenario, load, title)?);
        }
    }
    Ok(Compared { scenario, sides: compared })
}

/// Creates roles and bindings, and prints what they add to the memory of the server. Before the other objects, whose creation leaves
/// memory behind that roles would fill.
pub(crate) fn grant(side: &Side) -> Outcome<()> {
    let resident = || side.pid.map(program::resident_kib).transpose();
    let before = resident()?;
    crate::runtime()?.block_on(roles::prepare(&side.target))?;
    if let (Some(before), Some(after)) = (before, resident()?) {
        let each = number(after.saturating_sub(before)) * 1024.0 / number((roles::ROLES + roles::BINDINGS) as u64);
        println!("{}: a role or binding takes {each:.0} bytes of memory, with the history of its creation", side.label);
    }
    Ok(())
}

/// Runs one round, with a progress bar of this title.
pub(crate) fn round(side: &Side, scenario: &'static Scenario, load: Load, title: String) -> Outcome<Measured> {
    let round = Round { target: side.target.clone(), scenario, load, run: unique().into(), progress: Arc::default() };
    let _bar = Bar::show(title, round.progress.clone(), load.duration);
    let sampler = side.pid.map(Sampler::start).transpose()?;
    let measure = match scenario.steps {
        Steps::Fanout if load.watchers > 0 => {
            let watchers = Watchers::open(&side.target, load.watchers, &round.run)?;
            let written = round.run()?;
            let mut events = watchers.finish(written.count());
            events.elapsed = written.elapsed;
            // Writes that failed are reported, the latencies of the others are not those of events.
            events.add(&Measure { latency: Measure::new().latency, bytes: 0, elapsed: Duration::ZERO, ..written });
            events
        }
        _ => round.run()?,
    };
    Ok(Measured { measure, usage: sampler.map(Sampler::stop).transpose()? })
}

/// The server's CPU time for an event in one round, in microseconds: of changes with watchers, without that of the same
/// changes without any.
pub(crate) fn event_cost_us(side: &Side, load: Load, title: &str) -> Outcome<f64> {
    let fanout = scenario::named(&["fanout".into()])?.first().copied().ok_or("there is no scenario of events")?;
    let titled = |what: &str| format!("changes {what} watchers, {title}");
    let alone = round(side, fanout, Load { watchers: 0, ..load }, titled("without"))?;
    let with = round(side, fanout, load, titled("with"))?;
    let (Some(usage_alone), Some(usage)) = (alone.usage, with.usage) else {
        return Err("the server's CPU time is unknown".into());
    };
    for measure in [&alone.measure, &with.measure] {
        if let (0, Some(first)) = (measure.count(), &measure.first) {
            return Err(first.clone().into());
        }
    }
    let changes = number(with.measure.count()) / number(load.watchers as u64);
    let writes = number(usage_alone.cpu_us) / number(alone.measure.count().max(1)) * changes;
    Ok((number(usage.cpu_us) - writes) / number(with.measure.count().max(1)))
}

/// A name that no earlier round had, of letters and digits.
fn unique() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("r{:x}", since.as_nanos())
}

/// Observes what a process uses.
struct Sampler {
    pid: u32,
    cpu_us: u64,
    before_kib: u64,
    done: Arc<AtomicBool>,
    thread: thread::JoinHandle<u64>,
}

impl Sampler {
    fn start(pid: u32) -> Outcome<Self> {
        let (cpu_us, before_kib) = (program::cpu_us(pid)?, program::resident_kib(pid)?);
        let done = Arc::new(AtomicBool::new(false));
        let ended = done.clone();
        let thread = thread::spawn(move || {
            let mut most = before_kib;
            while !ended.load(Ordering::Relaxed) {
                // It may have ended; then `stop` reports it.
                most = most.max(program::resident_kib(pid).unwrap_or(0));
                thread::sleep(SAMPLE);
            }
            most
        });
        Ok(Self { pid, cpu_us, before_kib, done, thread })
    }

    fn stop(self) -> Outcome<Usage> {
        self.done.store(true, Ordering::Relaxed);
        let most_kib = self.thread.join().map_err(|_| "the thread that reads /proc panicked")?;
        let cpu_us = program::cpu_us(self.pid)?.saturating_sub(self.cpu_us);
        Ok(Usage { cpu_us, most_kib, before_kib: self.before_kib })
    }
}
