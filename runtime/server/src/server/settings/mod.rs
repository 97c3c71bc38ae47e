//! The settings of a deployment: from arguments, environment variables and a configuration file, in this order of what
//! counts more. One table has them all; the command `kindsmith serve` and programs that take [`Settings`] have the same.

mod arguments;
mod effect;
mod file;
mod plan;
mod print;
mod reload;
mod suggest;
mod table;
#[cfg(test)]
mod tests;
mod values;

use std::{
    env,
    ffi::OsString,
    fs::{self, OpenOptions},
    future,
    io::{self, Write as _},
    mem,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process, thread,
};

use clap::{Args as _, FromArgMatches as _};
use tokio::sync::oneshot;

pub use arguments::Arguments;

use self::{plan::Plan, reload::Reload, values::Values};
use super::{
    Builder, Limits, Ready, Result,
    files::{self, Stamp},
    logging::{self, LogControl},
};

/// The settings of a server in a deployment: addresses, certificates, stores, users, limits, the log.
///
#[doc = include_str!("../docs/settings.md")]
pub struct Settings {
    arguments: Arguments,
    file: Option<PathBuf>,
    /// The file as of before it was read.
    stamps: Vec<Stamp>,
    values: Values,
    plan: Plan,
    log: LogControl,
}

impl Settings {
    /// Reads the settings of this process: its arguments, its environment, and the file that `--config` or
    /// `KINDSMITH_CONFIG` names. With `--help`, `--print-config` or something invalid it prints that, and ends the process.
    pub fn of_process() -> Self {
        let name = env::args_os().next().map(PathBuf::from);
        let name = name.as_ref().and_then(|path| path.file_name()?.to_str()).unwrap_or("server").to_owned();
        let command = Arguments::augment_args(clap::Command::new(name));
        let matches = command.get_matches();
        let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        match Self::new(arguments) {
            Ok(settings) => match settings.printed() {
                None => settings,
                Some(text) => {
                    let written = io::stdout().write_all(text.as_bytes());
                    process::exit(i32::from(written.is_err()));
                }
            },
            Err(error) => {
                // If standard error is closed, the exit code says it.
                let _ = writeln!(io::stderr(), "error: {error}");
                process::exit(2);
            }
        }
    }

    /// Reads the settings with these arguments.
    ///
    /// # Errors
    /// [`Error::Setting`](super::Error::Setting) with everything that is invalid, each with its line of the file, its variable
    /// or its argument.
    pub fn new(arguments: Arguments) -> Result<Self> {
        Self::of(arguments, &|name| env::var_os(name))
    }

    /// The same without the environment, as for tests.
    ///
    /// # Errors
    /// [`Error::Setting`](super::Error::Setting) with everything that is invalid.
    pub fn of_arguments(arguments: Arguments) -> Result<Self> {
        Self::of(arguments, &|_| None)
    }

    fn of(arguments: Arguments, environment: &dyn Fn(&str) -> Option<OsString>) -> Result<Self> {
        let variable = || environment(arguments::CONFIG_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        let file = arguments.config.clone().or_else(variable);
        let stamps = files::stamps(file.as_slice());
        let values = Values::read(&arguments.given, environment, file.as_deref())?;
        let mut plan = values.plan(Limits::default());
        if let Some(filter) = values.rust_log(environment) {
            // Other programs read the variable, too: an invalid one is reported, and the setting counts.
            plan.log.otherwise = mem::replace(&mut plan.log.filter, filter);
        }
        Ok(Self { arguments, file, stamps, values, plan, log: LogControl::default() })
    }

    /// With `--print-config`: the settings as a configuration file, with their descriptions and origins.
    pub fn printed(&self) -> Option<String> {
        self.arguments.print.then(|| print::print(&self.values))
    }

    /// Sets up the log, like [`logging::init`]: in the format of `log.format`, and with the filter of `log.level`. Keep the result until
    /// the program ends.
    ///
    /// # Panics
    /// If the system cannot start a thread.
    pub fn start_log(&self) -> logging::Flush {
        logging::start(&self.plan.log, &self.log)
    }

    /// The address to listen on.
    pub fn listen(&self) -> &str {
        &self.plan.listen
    }

    /// The builder with these settings. What it says already counts less. Of `stopWithStdin` and `listen` nothing is in it.
    ///
    /// # Errors
    /// Settings that need a feature which this program was built without, and files that cannot be read.
    pub fn builder(self, builder: Builder) -> Result<Builder> {
        let Self { arguments, file, stamps, values, log, .. } = self;
        let limits = builder.limits.clone();
        let plan = values.plan(limits.clone());
        let (kubeconfig, ready) = (plan.write_kubeconfig.clone(), plan.ready_file.clone());
        // That of an earlier run says nothing of this one.
        if let Some(file) = &ready {
            drop(fs::remove_file(file));
        }
        let written = log.clone();
        let builder = plan.build(builder)?.on_ready(move |listening| {
            // Who sees the files may end the server, and finds everything in its log.
            written.wait();
            write_files(listening, kubeconfig, ready);
        });
        Ok(match file {
            Some(file) => {
                let reload = Reload { arguments, file, stamps, limits, started: values.clone(), values, log };
                builder.follow(move |service| reload.follow(service))
            }
            None => builder,
        })
    }

    /// Serves with these settings until a signal, like [`Builder::serve`].
    ///
    /// # Errors
    /// [`Error`](super::Error) if the server cannot start.
    pub async fn serve(self, builder: Builder) -> Result<()> {
        let (address, stops) = (self.plan.listen.clone(), self.plan.stop_with_stdin);
        self.builder(builder)?.serve_until(&address, end_of_stdin(stops)).await
    }
}

/// Waits for the end of standard input, if that is requested. The thread that reads does not keep the process from its end.
async fn end_of_stdin(is_awaited: bool) {
    if !is_awaited {
        return future::pending().await;
    }
    let (ends, ended) = oneshot::channel();
    thread::spawn(move || {
        // An input that cannot be read has ended, too.
        drop(io::copy(&mut io::stdin().lock(), &mut io::sink()));
        tracing::info!("standard input has ended, and with it the server");
        // The receiver is gone if the server has stopped.
        let _ = ends.send(());
    });
    drop(ended.await);
}

/// Writes the files that say that a server listens. The kubeconfig first: programs read it as soon as the other file appears.
fn write_files(listening: &Ready, kubeconfig: Option<PathBuf>, ready: Option<PathBuf>) {
    let write = |file: &Path, text: io::Result<String>| {
        let written = text.and_then(|text| write_whole(file, &text));
        if let Err(error) = &written {
            tracing::error!(file = %file.display(), %error, "the file cannot be written");
        }
        written.is_ok()
    };
    match (kubeconfig, &listening.kubeconfig) {
        (Some(to), Some(from)) if !write(&to, fs::read_to_string(from)) => return,
        (Some(to), None) => {
            tracing::warn!(file = %to.display(), "this server has no kubeconfig of an administrator to copy");
        }
        _ => {}
    }
    if let Some(to) = ready {
        write(&to, Ok(format!("{}\n", listening.url)));
    }
}

/// Writes a file that only its owner can read, so that it is there as a whole or not at all.
fn write_whole(file: &Path, text: &str) -> io::Result<()> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", process::id()));
    let draft = file.with_file_name(name);
    // One that an earlier process of this number left.
    drop(fs::remove_file(&draft));
    let mut written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    written.write_all(text.as_bytes())?;
    fs::rename(draft, file)
}
