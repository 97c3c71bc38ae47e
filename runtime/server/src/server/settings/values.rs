//! The values of all settings, each from the source that counts most.
use std::{collections::BTreeMap, ffi::OsString, fmt, path::Path};

use super::{
    file::{self, FileValues},
    plan::Plan,
    table::{self, Setting},
};
use crate::server::{Error, Limits, Result};

/// The variable with the filter of the log, as in other programs.
const RUST_LOG: &str = "RUST_LOG";

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Default,
    /// A line of the configuration file.
    File(usize),
    /// An environment variable.
    Variable(String),
    /// An argument, with its dashes.
    Argument(String),
}

impl Origin {
    /// How much it counts.
    fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File(_) => 1,
            Self::Variable(_) => 2,
            Self::Argument(_) => 3,
        }
    }
}

/// Settings that exclude each other.
const EXCLUSIONS: [(&str, &str); 17] = [
    ("memory", "dataDir"),
    ("memory", "etcd.endpoints"),
    ("http", "tls.certFile"),
    ("http", "clientCa"),
    ("http", "frontProxy.ca"),
    ("http", "delegate"),
    ("http", "delegateInCluster"),
    ("delegate", "delegateInCluster"),
    ("delegate", "authorizationConfig"),
    ("delegateInCluster", "authorizationConfig"),
    ("delegate", "tokenFile"),
    ("delegateInCluster", "tokenFile"),
    ("delegate", "serviceAccountKeys"),
    ("delegateInCluster", "serviceAccountKeys"),
    // The host calls this server without a prefix.
    ("delegate", "pathPrefix"),
    ("delegateInCluster", "pathPrefix"),
    ("http", "tls.privateKeyFile"),
];

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(line) => write!(f, "line {line}"),
            Self::Variable(name) | Self::Argument(name) => f.write_str(name),
        }
    }
}

/// The values of the settings that have any, by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Values(BTreeMap<&'static str, (Origin, Vec<String>)>);

/// The values of a command line, by key.
pub(super) type ArgumentValues = BTreeMap<&'static str, Vec<String>>;

/// Reads a variable of the environment.
pub(super) type Environment<'e> = &'e dyn Fn(&str) -> Option<OsString>;

impl Values {
    /// Reads all sources: what is given counts before the environment, that before the file, and that before defaults.
    ///
    /// # Errors
    /// All invalid values, a line each.
    pub(super) fn read(given: &ArgumentValues, environment: Environment<'_>, config: Option<&Path>) -> Result<Self> {
        let (mut values, mut errors) = (Self::default(), Vec::new());
        let file: FileValues = match config.map(file::read) {
            None => Vec::new(),
            Some(Ok(values)) => values,
            Some(Err(message)) => {
                errors.push(message);
                Vec::new()
            }
        };
        for setting in table::all() {
            if let Some(default) = setting.default {
                values.0.insert(setting.key, (Origin::Default, vec![default.to_owned()]));
            }
        }
        for (setting, origin, found) in file {
            values.0.insert(setting.key, (origin, found));
        }
        for setting in table::all() {
            let flag = || Origin::Argument(format!("--{}", setting.flag()));
            let argument = given.get(setting.key).map(|found| (flag(), found.clone()));
            let found = argument.map(Ok).or_else(|| of_environment(setting, environment).transpose());
            let (origin, found) = match found {
                None => continue,
                Some(Ok(found)) => found,
                Some(Err(message)) => {
                    errors.push(message);
                    continue;
                }
            };
            if let Err(message) = setting.effect.apply(&mut Plan::new(), &found) {
                errors.push(format!("{origin}: {message}"));
            }
            values.0.insert(setting.key, (origin, found));
        }
        values.resolve();
        if errors.is_empty() {
            errors = values.contradictions();
        }
        if errors.is_empty() { Ok(values) } else { Err(Error::Setting(errors.join("\n"))) }
    }

    /// The value of a setting, and where it comes from.
    pub(super) fn get(&self, key: &str) -> Option<&(Origin, Vec<String>)> {
        self.0.get(key)
    }

    /// The plan of these values, over the limits of a program.
    pub(super) fn plan(&self, limits: Limits) -> Plan {
        let mut plan = Plan::with_limits(limits);
        for setting in table::all() {
            // A default is what the program may say otherwise.
            if let Some((_, found)) = self.get(setting.key).filter(|(origin, _)| *origin != Origin::Default) {
                let applied = setting.effect.apply(&mut plan, found);
                applied.expect("values were checked when they were read, and defaults by a test");
            }
        }
        plan
    }

    /// The settings whose values differ.
    pub(super) fn changes(&self, other: &Self) -> Vec<&'static Setting> {
        let value = |values: &Self, key| values.get(key).map(|(_, found)| found.clone());
        table::all().filter(|setting| value(self, setting.key) != value(other, setting.key)).collect()
    }

    /// The filter of the log that `RUST_LOG` has, if it counts: before the file, and after arguments and the variable of the setting.
    pub(super) fn rust_log(&self, environment: Environment<'_>) -> Option<String> {
        let counts = self.get("log.level").is_none_or(|(origin, _)| origin.rank() <= Origin::File(0).rank());
        let filter = environment(RUST_LOG).filter(|filter| counts && !filter.is_empty())?;
        Some(filter.to_string_lossy().into_owned())
    }

    /// A setting that is not as by default. A flag that is false is not set, and no list without items.
    fn is_set(&self, key: &str) -> bool {
        self.get(key)
            .is_some_and(|(origin, found)| *origin != Origin::Default && !found.is_empty() && found != &["false"])
    }

    /// Unsets settings that others exclude which come from a source that counts more.
    fn resolve(&mut self) {
        for (one, other) in EXCLUSIONS {
            let rank = |key| self.get(key).map_or(0, |(origin, _)| origin.rank());
            if self.is_set(one) && self.is_set(other) && rank(one) != rank(other) {
                let less = if rank(one) < rank(other) { one } else { other };
                self.0.remove(less);
            }
        }
    }

    /// Settings that exclude or need each other.
    fn contradictions(&self) -> Vec<String> {
        let needs = [
            ("tls.certFile", "tls.privateKeyFile"),
            ("tls.privateKeyFile", "tls.certFile"),
            ("etcd.prefix", "etcd.endpoints"),
            ("etcd.user", "etcd.endpoints"),
            ("etcd.user", "etcd.passwordFile"),
            ("etcd.passwordFile", "etcd.user"),
            ("etcd.ca", "etcd.endpoints"),
            ("etcd.cert", "etcd.key"),
            ("etcd.key", "etcd.cert"),
            ("etcd.cert", "etcd.endpoints"),
            ("etcd.historyAge", "etcd.endpoints"),
            ("frontProxy.allowedNames", "frontProxy.ca"),
        ];
        let name = |key| self.get(key).map_or(String::new(), |(origin, _)| format!("{key} ({origin})"));
        let excluded = EXCLUSIONS.iter().filter(|(one, other)| self.is_set(one) && self.is_set(other));
        let excluded = excluded.map(|(one, other)| format!("{} and {} exclude each other", name(one), name(other)));
        let lacking = needs.iter().filter(|(one, other)| self.is_set(one) && !self.is_set(other));
        excluded.chain(lacking.map(|(one, other)| format!("{} needs {other}", name(one)))).collect()
    }
}

/// The value of a setting in the environment. Several are separated by commas. An empty variable is not set.
fn of_environment(setting: &Setting, environment: Environment<'_>) -> Result<Option<(Origin, Vec<String>)>, String> {
    let read = |name: String| {
        let value = environment(&name).filter(|value| !value.is_empty())?;
        Some(value.into_string().map(|value| (name.clone(), value)).map_err(|_| format!("{name}: it is not UTF-8")))
    };
    let Some(found) = read(setting.variable()) else { return Ok(None) };
    let (name, value) = found?;
    let values = if setting.effect.is_list() {
        value.split(',').map(|value| value.trim().to_owned()).collect()
    } else {
        vec![value]
    };
    Ok(Some((Origin::Variable(name), values)))
}
