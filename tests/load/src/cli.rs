//! The command line.
use std::{fs, path::PathBuf, process::ExitCode, time::Duration};

use clap::{Args, Parser, Subcommand};

use crate::{
    Outcome, against,
    drive::Load,
    fixed::Fixed,
    kubeconfig,
    program::{self, Program},
    report,
    scenario::{self, Steps, objects},
    session::{self, Compared, Side},
    table::Table,
    target::{self, Access, Http, Target},
};

#[derive(Parser)]
#[command(about = "Measures servers of the Kubernetes API under load")]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs scenarios against one server, or in turn against two.
    Run(Box<Run>),
    /// Lists the scenarios.
    Scenarios,
    /// Removes the namespaces that runs leave on a server, and what is in them.
    Clean(Box<Clean>),
    /// Prints the rows of the table of figures about requests, starts and memory, or compares two programs.
    #[command(after_long_help = against::HELP)]
    Table(Table),
    /// Serves the same bytes for every request with plain axum, to compare with.
    Fixed(Fixed),
}

#[derive(Args)]
pub(crate) struct Run {
    /// Names of scenarios, or `all`.
    #[arg(required = true)]
    pub(crate) scenarios: Vec<String>,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Base URL of another server, which is measured in turn with the first one. Its certificate authority and token are
    /// those of the first one unless given.
    #[arg(long, conflicts_with_all = ["vs_program", "vs_kubeconfig"])]
    pub(crate) vs: Option<String>,
    /// PEM file of the certificate authorities of the other server.
    #[arg(long, requires = "vs")]
    pub(crate) vs_ca: Option<PathBuf>,
    /// Bearer token for the other server, or a file with it.
    #[arg(long, requires = "vs")]
    pub(crate) vs_token: Option<String>,
    /// Kubeconfig whose current context is the other server.
    #[arg(long, conflicts_with = "vs_program")]
    pub(crate) vs_kubeconfig: Option<PathBuf>,
    /// Server program to start as the other server.
    #[arg(long)]
    pub(crate) vs_program: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    /// Rounds of each scenario. Figures are medians of the rounds.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) rounds: u16,
    /// Writes all figures as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Writes a chart of the latencies.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// How to reach a server.
#[derive(Args)]
pub(crate) struct Server {
    #[command(flatten)]
    pub(crate) address: Address,
    /// Flags of server programs, which run in an empty directory with the file `tokens.csv`. The example `library` takes
    /// `--listen 127.0.0.1:0`.
    #[arg(long, default_value = program::FLAGS, allow_hyphen_values = true)]
    pub(crate) program_flags: String,
    /// PEM file of the certificate authorities to trust; without it, those of the system.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Bearer token, or a file with it.
    #[arg(long, value_name = "FILE|TOKEN")]
    pub(crate) token: Option<String>,
    /// Version of HTTP.
    #[arg(long, value_enum, default_value = "1")]
    pub(crate) http: Http,
    /// Process id of a server on this machine, to read its CPU time and memory.
    #[arg(long, conflicts_with = "program")]
    pub(crate) pid: Option<u32>,
}

/// Which server; one of these.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Address {
    /// Base URL of the server, such as `https://127.0.0.1:8080`.
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Kubeconfig whose current context is the server.
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Server program to start, on an empty data directory; it prints `listening on URL`.
    #[arg(long, value_name = "PATH")]
    pub(crate) program: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct LoadArgs {
    /// Connections.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) connections: u16,
    /// Concurrent operations on each connection of HTTP/2.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) streams: u16,
    /// Operations a second, begun at fixed times (open loop); latencies count from these times. Without it, each
    /// connection begins an operation when the one before is answered (closed loop).
    #[arg(long, value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// Seconds of each round.
    #[arg(long, default_value = "4", value_parser = seconds)]
    pub(crate) seconds: Duration,
    /// ConfigMaps to read, which are created unless they exist.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) objects: u32,
    /// Watchers of every change, in `fanout`.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) watchers: u16,
    /// Reads answers slowly (64 KB in 200 ms), to observe a server's memory.
    #[arg(long)]
    pub(crate) slow: bool,
}

#[derive(Args)]
struct Clean {
    #[command(flatten)]
    server: Server,
}

fn rate(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches("/s").parse::<f64>().ok();
    let valid = number.filter(|rate| (0.01..=1e6).contains(rate));
    valid.ok_or_else(|| "a rate is a number of operations a second from 0.01 to 1000000, such as 500 or 500/s".into())
}

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().filter(|seconds| (0.05..=86_400.0).contains(seconds));
    number.map(Duration::from_secs_f64).ok_or_else(|| "a round takes from 0.05 to 86400 seconds".into())
}

impl LoadArgs {
    pub(crate) fn load(&self) -> Load {
        Load {
            connections: self.connections.into(),
            streams: self.streams.into(),
            rate: self.rate,
            duration: self.seconds,
            objects: usize::try_from(self.objects).unwrap_or(usize::MAX),
            watchers: self.watchers.into(),
            slow: self.slow,
        }
    }
}

impl Server {
    /// The server's address and credentials; the program, if one was started.
    fn access(&self) -> Outcome<(Access, Option<Program>)> {
        let Address { server, kubeconfig, program } = &self.address;
        let (mut access, program) = match (server, kubeconfig, program) {
            (_, _, Some(path)) => {
                let program = Program::start(path, &self.program_flags)?;
                (program.access.clone(), Some(program))
            }
            (_, Some(path), _) => (kubeconfig::read(path)?, None),
            (url, ..) => (Access { url: url.clone().unwrap_or_default(), ..Access::default() }, None),
        };
        if let Some(path) = &self.ca {
            access.authorities = Some(target::read(path)?);
        }
        if let Some(token) = &self.token {
            access.token = Some(target::token(token)?);
        }
        Ok((access, program))
    }
}

impl Cli {
    /// Runs the command. Fails with 1 if a scenario had no success.
    pub(crate) fn run(self) -> Outcome<ExitCode> {
        match self.command {
            Command::Run(run) => run.run(),
            Command::Scenarios => {
                for scenario in &scenario::ALL {
                    println!("{:18}{}", scenario.name, scenario.about);
                }
                Ok(ExitCode::SUCCESS)
            }
            Command::Clean(clean) => {
                let target = Target::new(&clean.server.access()?.0, clean.server.http)?;
                crate::runtime()?.block_on(objects::clean(&target))?;
                Ok(ExitCode::SUCCESS)
            }
            Command::Table(table) => table.print(),
            Command::Fixed(fixed) => match crate::runtime()?.block_on(fixed.serve())? {},
        }
    }
}

impl Run {
    fn run(&self) -> Outcome<ExitCode> {
        let all = self.measure()?;
        let load = self.load.load();
        if let Some(path) = &self.json {
            let text = serde_json::to_string_pretty(&report::json::document(load, &all))? + "\n";
            fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        if let Some(path) = &self.svg {
            fs::write(path, report::svg::chart(&all)).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        let succeeded = all.iter().flat_map(|compared| &compared.sides).all(|side| side.whole().count() > 0);
        Ok(ExitCode::from(u8::from(!succeeded)))
    }

    /// Runs the scenarios; prints the figures of each when it is done.
    pub(crate) fn measure(&self) -> Outcome<Vec<Compared>> {
        let scenarios = scenario::named(&self.scenarios)?;
        let load = self.load.load();
        if load.streams > 1 && self.server.http == Http::One {
            return Err("--streams needs --http 2: a connection of HTTP/1.1 has one request at a time".into());
        }
        let (access, program) = self.server.access()?;
        let (other, other_program) = self.other(&access)?;
        let mut sides = vec![self.side("A", &access, program.as_ref().map(Program::pid).or(self.server.pid))?];
        if let Some(other) = other {
            sides.push(self.side("B", &other, other_program.as_ref().map(Program::pid))?);
        }
        for side in &sides {
            if scenarios.iter().any(|scenario| matches!(scenario.steps, Steps::ByRole(_))) {
                session::grant(side)?;
            }
            let clients = load.connections * load.streams;
            crate::runtime()?.block_on(objects::prepare(&side.target, load.objects, clients))?;
        }
        println!("{}\n", report::describe(load, self.rounds.into()));
        let mut all = Vec::new();
        for scenario in scenarios {
            let compared = session::compare(&sides, scenario, load, self.rounds.into())?;
            println!("{}", report::text(&compared));
            all.push(compared);
        }
        Ok(all)
    }

    fn side(&self, name: &str, access: &Access, pid: Option<u32>) -> Outcome<Side> {
        let label = format!("{name} {}", access.url.split("://").nth(1).unwrap_or(&access.url));
        Ok(Side { label, target: Target::new(access, self.server.http)?, pid })
    }

    /// The other server, if there is one.
    fn other(&self, first: &Access) -> Outcome<(Option<Access>, Option<Program>)> {
        if let Some(path) = &self.vs_program {
            let program = Program::start(path, &self.server.program_flags)?;
            return Ok((Some(program.access.clone()), Some(program)));
        }
        if let Some(path) = &self.vs_kubeconfig {
            return Ok((Some(kubeconfig::read(path)?), None));
        }
        let Some(url) = &self.vs else { return Ok((None, None)) };
        let mut access = Access { url: url.clone(), ..first.clone() };
        if let Some(path) = &self.vs_ca {
            access.authorities = Some(target::read(path)?);
        }
        if let Some(token) = &self.vs_token {
            access.token = Some(target::token(token)?);
        }
        Ok((Some(access), None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Cli, String> {
        Cli::try_parse_from(line.split(' ')).map_err(|error| error.to_string())
    }

    fn refused(line: &str) -> String {
        parse(line).err().unwrap_or_else(|| panic!("{line} is accepted"))
    }

    #[test]
    fn a_run_has_one_server_and_at_most_one_other() {
        let line =
            "load run get create --server https://host --token t --ca f --vs http://b --rate 500/s --seconds 0.5";
        let Command::Run(run) = parse(line).unwrap().command else { panic!("it is a run") };
        let load = run.load.load();
        assert_eq!((run.scenarios.len(), load.rate, load.duration), (2, Some(500.0), Duration::from_millis(500)));
        assert!(parse("load run all --program p --vs-program q --http 2 --streams 4").is_ok());
        assert!(refused("load run get").contains("--server"));
        assert!(refused("load run get --server a --kubeconfig b").contains("cannot be used with"));
        assert!(refused("load run get --server a --vs b --vs-program c").contains("cannot be used with"));
        assert!(refused("load run get --server a --rate 0").contains("operations a second"));
        assert!(refused("load run get --server a --seconds 0").contains("0.05"));
        assert!(refused("load run --server a").contains("SCENARIOS"));
    }

    #[test]
    fn streams_need_http_2_before_anything_is_measured() {
        let Command::Run(run) = parse("load run get --server http://127.0.0.1:1 --streams 2").unwrap().command else {
            panic!("it is a run")
        };
        assert!(run.measure().err().unwrap().to_string().contains("--http 2"));
    }
}
