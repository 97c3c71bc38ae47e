//! A configuration file that is read again when it changes.
use std::{env, path::PathBuf};

use super::{arguments::Arguments, values::Values};
use crate::{
    http::Service,
    server::{
        Limits,
        files::{FileWatcher, Stamp},
        logging::LogControl,
    },
};

/// The configuration file of a server that runs.
pub(super) struct Reload {
    pub arguments: Arguments,
    pub file: PathBuf,
    /// The file as of before it was read.
    pub stamps: Vec<Stamp>,
    /// The limits of the program, for what is not set.
    pub limits: Limits,
    /// The values with which the server started.
    pub started: Values,
    /// The values of the last reading.
    pub values: Values,
    pub log: LogControl,
}

impl Reload {
    /// Follows the file, with changes to a service.
    pub(super) fn follow(mut self, service: &Service) -> FileWatcher {
        let (file, service) = (self.file.clone(), service.clone());
        let stamps = std::mem::take(&mut self.stamps);
        let read = move || {
            let environment = |name: &str| env::var_os(name);
            let values = Values::read(&self.arguments.given, &environment, Some(&self.file))?;
            let is_filtered = values.rust_log(&environment).is_some();
            self.take(values, is_filtered, &service);
            Ok(())
        };
        FileWatcher::again("settings", stamps, move || vec![file.clone()], read, || 0)
    }

    /// Takes new values, without their filter of the log if `RUST_LOG` has one.
    fn take(&mut self, values: Values, is_filtered: bool, service: &Service) {
        let plan = values.plan(self.limits.clone());
        service.set_limits(plan.limits.requests);
        if !is_filtered {
            self.log.set_filter(&plan.log.filter);
        }
        for setting in values.changes(&self.values) {
            if setting.is_live {
                tracing::info!(setting = setting.key, "changed");
            }
        }
        for setting in values.changes(&self.started).into_iter().filter(|setting| !setting.is_live) {
            tracing::warn!(setting = setting.key, "changed in the file; restart the server for it to take effect");
        }
        self.values = values;
    }
}
