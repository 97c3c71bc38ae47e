//! A configuration file that is read again when it changes.
use std::{env, path::PathBuf};

use super::{arguments::Arguments, values::Values};
use crate::{
    http::Service,
    server::{
        files::{self, FileWatcher},
        logging::LogControl,
    },
};

/// The configuration file of a server that runs.
pub(super) struct Reload {
    pub arguments: Arguments,
    pub file: PathBuf,
    /// The values that count now.
    pub values: Values,
    pub log: LogControl,
}

impl Reload {
    /// Follows the file, with changes to a service.
    pub(super) fn follow(mut self, service: &Service) -> FileWatcher {
        let (file, service) = (self.file.clone(), service.clone());
        let stamps = files::stamps(std::slice::from_ref(&file));
        let read = move || {
            let values = Values::read(&self.arguments.given, &|name| env::var_os(name), Some(&self.file))?;
            self.take(values, &service);
            Ok(())
        };
        FileWatcher::again("settings", stamps, move || vec![file.clone()], read, || 0)
    }

    fn take(&mut self, values: Values, service: &Service) {
        let (live, fixed): (Vec<_>, Vec<_>) =
            values.changes(&self.values).into_iter().partition(|setting| setting.is_live);
        let plan = values.plan();
        service.set_limits(plan.limits.requests);
        self.log.set_filter(&plan.log.filter);
        for setting in live {
            tracing::info!(setting = setting.key, "changed");
        }
        for setting in fixed {
            tracing::warn!(setting = setting.key, "changed in the file; restart the server for it to take effect");
        }
        self.values = values;
    }
}
