//! The rows of the table of figures (runtime/docs/figures.md) that are about requests, starts and memory. One server program is
//! measured; where a row compares with plain axum, in turn with that.
use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    thread,
    time::{Duration, Instant},
};

use clap::Args;

use crate::{
    Outcome,
    against::{self, FEWEST_ROUNDS},
    client::{Connection, Request},
    drive::Load,
    measure::{Measure, median, number},
    program::{self, Program},
    report, runtime,
    scenario::{self, Scenario, objects},
    session::{self, Compared, Rounds, Side},
    target::{Http, Target},
};

/// The project.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// How often the start is measured.
const STARTS: usize = 10;
/// The time for work in the background after a start, whose memory counts, too.
const SETTLING: Duration = Duration::from_millis(500);

/// The rows that other commands print, with these.
const ELSEWHERE: [(&str, &str); 7] = [
    ("an apply that changes nothing, without HTTP", "cargo bench -p kindsmith --bench apply"),
    ("strict decoding of JSON, CBOR, Protobuf, YAML", "cargo bench -p kindsmith --bench codec"),
    ("1,000 definitions", "python3 tests/many/check.py"),
    (
        "10,000 objects that a controller reconciles",
        "KINDSMITH_SITES=10000 cargo test --release -p controller --test sites -- --nocapture",
    ),
    ("a clean dev build", "python3 tests/fifty/measure.py"),
    ("cost of a derived kind", "python3 tests/fifty/measure.py"),
    ("generating Rust from documents", "python3 tests/generated/measure.py"),
];

#[derive(Args)]
pub(crate) struct Table {
    /// Server program to measure; without it, the project's `conformance-server` is built and measured.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Server program of another release. The rows about requests and writes are measured with both programs in turn and
    /// compared by the server's CPU time for an operation. Rows that are more than 5% worse are listed at the end, and the
    /// exit status is then 1.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Rounds of each row. Figures are medians of the rounds.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Seconds of each round.
    #[arg(long, default_value = "4", value_parser = crate::cli::seconds)]
    seconds: Duration,
    /// ConfigMaps to read.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(500..))]
    objects: u32,
    /// Watchers of every change.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u16).range(1..))]
    watchers: u16,
}

impl Table {
    /// Prints the table row by row. With another program, fails with 1 if a row is more than 5% worse.
    pub(crate) fn print(&self) -> Outcome<ExitCode> {
        if self.against.is_some() && self.rounds < FEWEST_ROUNDS {
            return Err(format!("--against needs --rounds {FEWEST_ROUNDS} or more").into());
        }
        let path = match &self.program {
            Some(path) => path.clone(),
            None => built()?,
        };
        if let Some(theirs) = &self.against {
            let holds = against::compare(&path, theirs, self.load(), self.rounds)?;
            return Ok(ExitCode::from(u8::from(!holds)));
        }
        println!(
            "| {} rounds of {} s, medians | measured | compared with |\n|---|---|---|",
            self.rounds,
            self.seconds.as_secs_f64()
        );
        self.requests(&path)?;
        starts(&path)?;
        println!("\nOther commands print the other rows:\n");
        for (row, command) in ELSEWHERE {
            println!("- {row}: `{command}`");
        }
        Ok(ExitCode::SUCCESS)
    }

    fn load(&self) -> Load {
        Load {
            connections: 16,
            streams: 1,
            rate: None,
            duration: self.seconds,
            objects: usize::try_from(self.objects).unwrap_or(usize::MAX),
            watchers: self.watchers.into(),
            slow: false,
        }
    }

    /// The rows about requests, all against one server.
    fn requests(&self, path: &Path) -> Outcome<()> {
        let server = Program::start(path, program::FLAGS)?;
        let target = Target::new(&server.access, Http::One)?;
        let load = self.load();
        runtime()?.block_on(objects::prepare(&target, load.objects, load.connections))?;
        let side = Side { label: "server".into(), target, pid: Some(server.pid()) };

        let all = format!("list of all {}", grouped(load.objects as u64));
        for (name, row) in [("get", "get of a 2 KB ConfigMap"), ("list-500", "list of 500 of them"), ("list-all", &all)]
        {
            self.beside_axum(&side, find(name)?, row)?;
        }
        let created = session::compare(std::slice::from_ref(&side), find("create")?, load, self.rounds.into())?;
        let created = sole(&created)?;
        row("durable creates from 16 connections, each answered after its fsync", &rate(created), "");
        for writers in [1, 16] {
            let load = Load { connections: writers, ..load };
            let cost = |round| session::event_cost_us(&side, load, &format!("round {round} of {}", self.rounds));
            let cost = median((1..=self.rounds).map(cost).collect::<Outcome<Vec<_>>>()?);
            let title =
                format!("a watch event delivered to one of {} watchers, server CPU, {writers} writing", load.watchers);
            row(&title, &format!("{cost:.1} µs"), "");
        }
        Ok(())
    }

    /// A row about reads: in turn with plain axum that answers as many bytes.
    fn beside_axum(&self, side: &Side, scenario: &'static Scenario, title: &str) -> Outcome<()> {
        let path = match scenario.name {
            "get" => format!("{}/{}", objects::config_maps(objects::READ), objects::name(0)),
            "list-500" => objects::config_maps(objects::READ) + "?limit=500",
            _ => objects::config_maps(objects::READ),
        };
        let size = runtime()?.block_on(async {
            let mut connection = Connection::open(&side.target, false).await?;
            let answer = connection.send(&Request::get(path.clone())).await;
            Outcome::Ok(answer.map_err(|failed| format!("GET {path}: {failed}"))?.length)
        })?;
        let this = std::env::current_exe()?;
        let axum = Program::start(&this, &format!("fixed --listen 127.0.0.1:0 --size {size}"))?;
        let other = Side { label: "axum".into(), target: Target::new(&axum.access, Http::One)?, pid: Some(axum.pid()) };
        let compared = session::compare(&[side.clone(), other], scenario, self.load(), self.rounds.into())?;
        let [server, plain] = compared.sides.as_slice() else { return Err("two servers were measured".into()) };
        let ratio = report::ratio(server, plain, Measure::rate).ok_or("a server answered nothing")?;
        let of = format!("{:.2} of plain axum with static bytes of that size", ratio.of_medians);
        row(&format!("{title} ({size} bytes)"), &rate(server), &of);
        Ok(())
    }
}

/// Start to ready on an empty store, and memory then.
fn starts(path: &Path) -> Outcome<()> {
    let runtime = runtime()?;
    let (mut ready_ms, mut resident_kib) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let start = Instant::now();
        let server = Program::start(path, program::FLAGS)?;
        let target = Target::new(&server.access, Http::One)?;
        runtime.block_on(async {
            let mut connection = Connection::open(&target, false).await?;
            let ready = connection.send(&Request::get("/readyz".into())).await;
            Outcome::Ok(ready.map_err(|failed| format!("GET /readyz: {failed}"))?)
        })?;
        ready_ms.push(start.elapsed().as_secs_f64() * 1e3);
        thread::sleep(SETTLING);
        resident_kib.push(number(program::resident_kib(server.pid())?));
    }
    row("start to ready on an empty store", &format!("{:.0} ms", median(ready_ms)), "");
    row("resident memory after that", &format!("{:.0} MB", median(resident_kib) / 1024.0), "");
    Ok(())
}

/// Builds the project's server.
fn built() -> Outcome<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["build", "--release", "--quiet", "--package", "conformance-server"];
    let status = Command::new(cargo).args(arguments).current_dir(ROOT).status().map_err(|e| format!("cargo: {e}"))?;
    if !status.success() {
        return Err("conformance-server was not built; name another server with --program".into());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    Ok(Path::new(ROOT).join(target).join("release/conformance-server"))
}

fn find(name: &str) -> Outcome<&'static Scenario> {
    scenario::named(&[name.to_owned()])?.first().copied().ok_or_else(|| format!("no scenario {name}").into())
}

/// The only server of a comparison; an error if nothing succeeded there.
fn sole(compared: &Compared) -> Outcome<&Rounds> {
    let rounds = compared.sides.first().ok_or("no server was measured")?;
    let whole = rounds.whole();
    match whole.first {
        Some(first) if whole.latency.is_empty() => Err(format!("{}: {first}", compared.scenario.name).into()),
        _ => Ok(rounds),
    }
}

fn row(title: &str, measured: &str, compared: &str) {
    println!("| {title} | {measured} | {compared} |");
}

/// The median rate, to three digits.
fn rate(rounds: &Rounds) -> String {
    let rate = rounds.median(Measure::rate);
    let unit = 10_f64.powf((rate.max(1.0).log10().floor() - 2.0).max(0.0));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate is positive, and far below 2^53"
    )]
    let rounded = ((rate / unit).round() * unit) as u64;
    format!("{}/s", grouped(rounded))
}

/// A number with a comma between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::rounds;

    #[test]
    fn rates_are_read_as_in_the_table() {
        let of = |count| rate(&rounds("a", &[count]));
        assert_eq!([of(68_951), of(3_904), of(147), of(7)], ["69,000/s", "3,900/s", "147/s", "7/s"]);
        assert_eq!(grouped(1_000_000), "1,000,000");
    }

    #[test]
    fn every_row_is_of_a_scenario_that_exists_and_files_that_exist() {
        for name in ["get", "list-500", "list-all", "create", "fanout"] {
            assert_eq!(find(name).unwrap().name, name);
        }
        for file in
            ["tests/many/check.py", "tests/fifty/measure.py", "runtime/benches/apply.rs", "runtime/benches/codec"]
        {
            assert!(Path::new(ROOT).join(file).exists(), "{file}");
        }
    }
}
