//! A member or server as a process that can be killed, stopped and started again. Its output goes to a log.
use std::{
    fs::{File, OpenOptions},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::Outcome;

/// Makes the command; a `Command` cannot be started twice.
type Make = Box<dyn Fn() -> Command + Send>;

/// A program and its process.
pub(crate) struct Program {
    pub(crate) name: String,
    make: Make,
    log: PathBuf,
    child: Option<Child>,
}

impl Program {
    pub(crate) fn new(name: String, log: PathBuf, make: Make) -> Self {
        Self { name, make, log, child: None }
    }

    pub(crate) fn start(&mut self) -> Outcome<()> {
        let append = || OpenOptions::new().create(true).append(true).open(&self.log);
        let open = || append().map_err(|error| format!("{}: {error}", self.log.display()));
        let (output, errors): (File, File) = (open()?, open()?);
        let mut command = (self.make)();
        let spawned = command.stdin(Stdio::null()).stdout(output).stderr(errors).spawn();
        self.child = Some(spawned.map_err(|error| format!("{}: {error}", command.get_program().display()))?);
        Ok(())
    }

    /// `kill -9`, which also ends a stopped process.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn signal(&self, signal: Signal) -> Outcome<()> {
        let child = self.child.as_ref().ok_or_else(|| format!("{} does not run", self.name))?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or("a process has an id")?;
        kill_process(pid, signal).map_err(|error| format!("{}: {error}", self.name).into())
    }

    /// SIGSTOP.
    pub(crate) fn stop(&self) -> Outcome<()> {
        self.signal(Signal::STOP)
    }

    /// SIGCONT.
    pub(crate) fn go_on(&self) -> Outcome<()> {
        self.signal(Signal::CONT)
    }

    /// How the process ended, if it did so by itself; then it does not run any more.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.child.as_mut()?.try_wait().ok().flatten();
        if status.is_some() {
            self.child = None;
        }
        status
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}
