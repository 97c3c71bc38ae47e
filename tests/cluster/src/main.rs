//! Checks servers of the Kubernetes API while they and the etcd below them fail: `cluster --rounds 10 --seed 1`. Three
//! members and three servers run in network namespaces of their own; `--embedded` runs one server over its own store.
//! `cluster --check FILE` judges a recorded history again.
mod availability;
mod check;
mod client;
mod cluster;
mod etcd;
mod history;
mod network;
mod plan;
mod program;
mod record;
mod report;
mod round;
mod sandbox;
mod watcher;
mod work;

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use clap::Parser;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Checks servers of the Kubernetes API while they and the etcd below them fail.
#[derive(Clone, Debug, Parser)]
struct Command {
    /// How many rounds.
    #[arg(long, default_value_t = 10)]
    rounds: u64,
    /// Seed of the first round; each next round has the next one.
    #[arg(long)]
    seed: Option<u64>,
    /// One server over its embedded store, without etcd.
    #[arg(long)]
    embedded: bool,
    /// The server; without it the `conformance-server` beside this program.
    #[arg(long)]
    server: Option<PathBuf>,
    /// Its arguments, in which {listen}, {tokens}, {data} and {etcd} are replaced.
    #[arg(long, allow_hyphen_values = true)]
    arguments: Option<String>,
    /// The etcd to run.
    #[arg(long, env = "ETCD", default_value = "etcd")]
    etcd: String,
    /// Ask for reads that may be stale and record them as consistent ones. The run succeeds if that is found.
    #[arg(long)]
    stale_reads: bool,
    /// Print the plans only.
    #[arg(long)]
    plan: bool,
    /// Judge this recorded history and run nothing.
    #[arg(long)]
    check: Option<PathBuf>,
    /// Set by this program for itself: the folder of the run.
    #[arg(long, hide = true)]
    inside: Option<PathBuf>,
    /// The same: the first seed, whether it was given or chosen.
    #[arg(long, hide = true)]
    inside_seed: Option<u64>,
}

impl Command {
    fn shape(&self, folder: &Path) -> Outcome<cluster::Shape> {
        let (members, servers) = if self.embedded { (0, 1) } else { (3, 3) };
        let beside = env::current_exe()?.with_file_name("conformance-server");
        let server = self.server.clone().unwrap_or(beside);
        let server = fs::canonicalize(&server)
            .map_err(|error| format!("{}: {error}; `cargo build -p conformance-server` makes it", server.display()))?;
        let kept = if self.embedded { "--data-dir {data}/store" } else { "--etcd {etcd}" };
        let default = format!("--listen {{listen}} --token-file {{tokens}} {kept}");
        let arguments = self.arguments.clone().unwrap_or(default);
        let (etcd, folder) = (self.etcd.clone(), folder.to_owned());
        Ok(cluster::Shape { members, servers, etcd, server, arguments, folder })
    }

    fn seeds(&self) -> std::ops::Range<u64> {
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |now| now.as_secs() % 1_000_000 * 1000);
        let first = self.inside_seed.or(self.seed).unwrap_or_else(now);
        first..first + self.rounds
    }
}

/// Judges a recorded history; true if nothing is wrong with it.
fn judge(path: &Path) -> Outcome<bool> {
    let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let history = serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let found = check::check(&history);
    for violation in &found {
        println!("{violation}");
    }
    println!("{} violations", found.len());
    Ok(found.is_empty())
}

/// The rounds, in the namespaces of this process.
async fn inside(command: &Command, folder: &Path) -> Outcome<bool> {
    sandbox::end_with_outside()?;
    let shape = command.shape(folder)?;
    let mut cluster = cluster::Cluster::start(&shape)?;
    let targets = cluster.targets()?;
    let mut report = report::Report::new(folder, command.stale_reads);
    for seed in command.seeds() {
        let steps = plan::plan(seed, shape.members.into(), shape.servers.into());
        let name = format!("round-{seed}");
        let finding = round::run(&mut cluster, &targets, &name, seed, &steps, command.stale_reads).await?;
        report.round(seed, &steps, finding, &mut cluster)?;
    }
    Ok(report.end(&shape))
}

async fn outside(command: &Command) -> Outcome<ExitCode> {
    command.shape(Path::new(""))?;
    let folder = sandbox::new_folder()?;
    let seed = command.seeds().start;
    println!("seeds {seed} to {}", seed + command.rounds.saturating_sub(1));
    let code = sandbox::run_inside(&folder, seed).await;
    if matches!(code, Ok(0)) {
        fs::remove_dir_all(&folder)?;
    } else {
        eprintln!("logs and histories are kept in {}", folder.display());
    }
    code.map(ExitCode::from)
}

fn run(command: &Command) -> Outcome<ExitCode> {
    let code = |good: bool| if good { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if let Some(path) = &command.check {
        return judge(path).map(code);
    }
    if command.plan {
        let servers = if command.embedded { (0, 1) } else { (3, 3) };
        for seed in command.seeds() {
            let steps = plan::plan(seed, servers.0, servers.1);
            println!("seed {seed}: {}", report::texts(&steps));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match &command.inside {
        Some(folder) => runtime.block_on(inside(command, folder)).map(code),
        None => runtime.block_on(outside(command)),
    }
}

fn main() -> ExitCode {
    run(&Command::parse()).unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    })
}
