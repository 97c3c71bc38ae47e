//! The arguments of a command line.
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, builder::ValueHint, parser::ValueSource};

use super::{
    effect::Effect,
    table::{self, Setting},
    values::ArgumentValues,
};
use crate::server::{Error, Result};

/// The environment variable that names the configuration file.
pub(super) const CONFIG_VARIABLE: &str = "KINDSMITH_CONFIG";
const CONFIG: &str = "config";
const PRINT: &str = "print-config";

/// The arguments of a server: one for each setting, `--config` and `--print-config`. A command of clap takes them with
/// `#[command(flatten)]`.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    pub(super) config: Option<PathBuf>,
    pub(super) print: bool,
    pub(super) given: ArgumentValues,
}

impl Arguments {
    /// Sets a setting as its argument does, such as `definitions`; further values are added to lists.
    ///
    /// # Errors
    /// [`Error::Setting`] if there is no such setting, or the value is invalid.
    pub fn set(&mut self, key: &str, value: impl Into<String>) -> Result<()> {
        let setting = table::find(key).ok_or_else(|| Error::Setting(format!("{key} is not a setting")))?;
        let values = self.given.entry(setting.key).or_default();
        if !setting.effect.is_list() {
            values.clear();
        }
        values.push(value.into());
        let applied = setting.effect.apply(&mut super::plan::Plan::new(), values);
        applied.map_err(|message| Error::Setting(format!("{key}: {message}")))
    }
}

impl FromArgMatches for Arguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut arguments = Self::default();
        arguments.update_from_arg_matches(matches)?;
        Ok(arguments)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.config = matches.get_one::<PathBuf>(CONFIG).cloned();
        self.print = matches.get_flag(PRINT);
        for setting in table::all() {
            let is_given = matches.value_source(setting.key) == Some(ValueSource::CommandLine);
            if let Some(values) = matches.get_many::<String>(setting.key).filter(|_| is_given) {
                self.given.insert(setting.key, values.cloned().collect());
            }
        }
        Ok(())
    }
}

impl Args for Arguments {
    fn augment_args(command: Command) -> Command {
        let config = Arg::new(CONFIG)
            .long(CONFIG)
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .value_hint(ValueHint::FilePath)
            .help("Configuration file in YAML, whose settings count less than arguments and environment variables.")
            .long_help(format!(
                "Configuration file in YAML, whose settings count less than arguments and environment variables. Paths in it \
                 are relative to its folder.\n\n[{CONFIG_VARIABLE}]"
            ));
        let print = Arg::new(PRINT)
            .long(PRINT)
            .action(ArgAction::SetTrue)
            .help("Print all settings as a configuration file, with their origins, and end.");
        table::all().fold(command.arg(config).arg(print), |command, setting| command.arg(argument(setting)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The argument of a setting. Those of sections are in the long help alone.
fn argument(setting: &'static Setting) -> Arg {
    let default = setting.default.filter(|_| !matches!(setting.effect, Effect::Flag(_)));
    let default = default.map_or(String::new(), |default| format!(" [default: {default}]"));
    let section = setting.key.split('.').next().filter(|section| *section != setting.key);
    let argument = Arg::new(setting.key)
        .long(setting.flag())
        .value_name(setting.placeholder)
        .help(format!("{}{default}", setting.about))
        .long_help(format!("{}{default}\n\n[{}]", setting.about, setting.variable()))
        .hide_short_help(section.is_some());
    let argument = match setting.effect {
        Effect::Flag(_) => argument.num_args(0..=1).require_equals(true).default_missing_value("true"),
        Effect::Choice(known, _) => argument.value_parser(known.to_vec()),
        Effect::Path(_) | Effect::Paths(_) => argument.value_hint(ValueHint::AnyPath),
        _ => argument,
    };
    if setting.effect.is_list() { argument.action(ArgAction::Append) } else { argument }
}
