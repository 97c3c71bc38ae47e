//! The form of a setting's value, and what the value changes.
use std::{fmt::Display, path::PathBuf, time::Duration};

use tracing_subscriber::EnvFilter;

use super::plan::Plan;
use crate::{
    meta::{duration, quantity::Quantity},
    schema::Document,
};

/// What a value looks like, and where it goes.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// True or false.
    Flag(fn(&mut Plan, bool)),
    /// A whole number.
    Count(fn(&mut Plan, usize)),
    /// A number of bytes, also with a unit: `3Mi`.
    Size(fn(&mut Plan, usize)),
    /// A duration as Go writes it: `1m30s`.
    Time(fn(&mut Plan, Duration)),
    /// A filter of the log: a level, or directives such as `kindsmith=debug`.
    Filter(fn(&mut Plan, String)),
    /// A text.
    Text(fn(&mut Plan, String)),
    /// Texts.
    Texts(fn(&mut Plan, Vec<String>)),
    /// One of these texts.
    Choice(&'static [&'static str], fn(&mut Plan, &str)),
    /// A file or folder.
    Path(fn(&mut Plan, PathBuf)),
    /// Files and folders.
    Paths(fn(&mut Plan, Vec<PathBuf>)),
}

impl Effect {
    /// True if it has any number of values.
    pub(super) fn is_list(self) -> bool {
        matches!(self, Self::Texts(_) | Self::Paths(_))
    }

    /// True for files and folders.
    pub(super) fn is_path(self) -> bool {
        matches!(self, Self::Path(_) | Self::Paths(_))
    }

    /// Changes the plan to these values: one, if it is no list.
    ///
    /// # Errors
    /// What was expected, and what was found.
    pub(super) fn apply(self, plan: &mut Plan, values: &[String]) -> Result<(), String> {
        let one = || values.last().map_or("", String::as_str);
        match self {
            Self::Flag(set) => set(plan, one().parse().map_err(|_| expected_text("true or false", one()))?),
            Self::Count(set) => {
                let count = one().parse().ok().filter(|count| *count > 0);
                set(plan, count.ok_or_else(|| expected_text(COUNT, one()))?);
            }
            Self::Size(set) => set(plan, size(one())?),
            Self::Time(set) => set(plan, time(one())?),
            Self::Filter(set) => set(plan, filter(one())?),
            Self::Text(set) => set(plan, one().to_owned()),
            Self::Texts(set) => set(plan, values.to_vec()),
            Self::Choice(known, set) => {
                let found = known.iter().find(|known| **known == one());
                set(plan, found.ok_or_else(|| expected_text(&known.join(" or "), one()))?);
            }
            Self::Path(set) => set(plan, path(one())?),
            Self::Paths(set) => set(plan, values.iter().map(|value| path(value)).collect::<Result<_, _>>()?),
        }
        Ok(())
    }

    /// The values in a document.
    ///
    /// # Errors
    /// What was expected, and what was found.
    pub(super) fn values(self, document: &Document) -> Result<Vec<String>, String> {
        let text = |document: &Document| document.as_str().map(str::to_owned);
        if self.is_list() {
            let items = document.as_array().and_then(|items| items.iter().map(text).collect());
            return items.ok_or_else(|| expected("a list of strings", document));
        }
        let (value, form) = match self {
            Self::Flag(_) => (document.as_bool().map(|value| value.to_string()), "true or false"),
            Self::Count(_) => (document.as_u64().map(|value| value.to_string()), COUNT),
            Self::Size(_) => {
                let number = || document.as_u64().map(|value| value.to_string());
                (text(document).or_else(number), SIZE)
            }
            Self::Time(_) => (text(document), TIME),
            _ => (text(document), "a string"),
        };
        value.map(|value| vec![value]).ok_or_else(|| expected(form, document))
    }

    /// A value as a file has it.
    pub(super) fn document(self, value: &str) -> Document {
        match self {
            Self::Flag(_) => value.parse().map_or(Document::Null, Document::Bool),
            Self::Count(_) => value.parse::<u64>().map_or(Document::Null, Document::from),
            _ => value.into(),
        }
    }
}

/// The forms of values that have an example.
const COUNT: &str = "a whole number above zero";
const SIZE: &str = "a number of bytes, such as 3Mi";
const TIME: &str = "a duration, such as 1m30s";

fn expected(form: &str, found: impl Display) -> String {
    format!("expected {form}, found {found}")
}

fn expected_text(form: &str, found: &str) -> String {
    expected(form, format_args!("{found:?}"))
}

fn size(text: &str) -> Result<usize, String> {
    let bytes = text.parse::<Quantity>().ok().map(|size| size.whole()).filter(|_| !text.starts_with('-'));
    bytes.and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(|| expected_text(SIZE, text))
}

fn time(text: &str) -> Result<Duration, String> {
    let time = Some(text).filter(|text| !text.starts_with('-')).and_then(|text| duration::parse(text).ok());
    time.ok_or_else(|| expected_text(TIME, text))
}

fn filter(text: &str) -> Result<String, String> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    // One word that is no level would be the name of a module, and silence all others.
    let is_word = |directive: &str| directive.chars().all(|c| c.is_ascii_alphanumeric());
    let is_level = |word: &str| LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level));
    let mut directives = text.split(',').map(str::trim);
    let is_filter = directives.all(|one| !is_word(one) || is_level(one)) && EnvFilter::builder().parse(text).is_ok();
    let form = "error, warn, info, debug, trace, or a filter such as kindsmith=debug";
    if is_filter { Ok(text.to_owned()) } else { Err(expected_text(form, text)) }
}

fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("expected a file or folder, found an empty text".to_owned()) } else { Ok(text.into()) }
}
