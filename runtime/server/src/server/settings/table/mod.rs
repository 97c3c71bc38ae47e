//! The settings: their names, forms, defaults and descriptions. Arguments, environment variables, files, the output of
//! `--print-config` and the guide's table are made from them.
mod kinds;
mod limits;
mod listener;
mod storage;
mod users;

use super::effect::Effect;

/// A setting.
pub(super) struct Setting {
    /// Where it is in a file, such as `limits.requests.bodyBytes`.
    pub key: &'static str,
    /// What its value is called in the help.
    pub placeholder: &'static str,
    pub effect: Effect,
    /// The value that it has unless it is set; none if then it changes nothing.
    pub default: Option<&'static str>,
    /// True if a change in the file takes effect without a restart.
    pub is_live: bool,
    /// A sentence about it.
    pub about: &'static str,
}

impl Setting {
    const fn new(key: &'static str, placeholder: &'static str, effect: Effect, about: &'static str) -> Self {
        Self { key, placeholder, effect, default: None, is_live: false, about }
    }

    const fn or(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    const fn live(mut self) -> Self {
        self.is_live = true;
        self
    }

    /// Its argument without dashes: `limits-requests-body-bytes`. That of a list is repeated, and singular.
    pub(super) fn flag(&self) -> String {
        let flag = words(self.key, '-');
        match self.effect {
            Effect::Texts(_) => flag.trim_end_matches('s').to_owned(),
            _ => flag,
        }
    }

    /// Its environment variable: `KINDSMITH_LIMITS_REQUESTS_BODY_BYTES`.
    pub(super) fn variable(&self) -> String {
        format!("KINDSMITH_{}", words(self.key, '_').to_uppercase())
    }
}

/// The words of a key in lower case.
fn words(key: &str, separator: char) -> String {
    let mut words = String::new();
    for c in key.chars() {
        match c {
            '.' => words.push(separator),
            c if c.is_ascii_uppercase() => words.extend([separator, c.to_ascii_lowercase()]),
            c => words.push(c),
        }
    }
    words
}

/// All settings, in the order of a file.
pub(super) fn all() -> impl Iterator<Item = &'static Setting> + Clone {
    [listener::SETTINGS, kinds::SETTINGS, storage::SETTINGS, users::SETTINGS, limits::SETTINGS].into_iter().flatten()
}

/// The setting of a key.
pub(super) fn find(key: &str) -> Option<&'static Setting> {
    all().find(|setting| setting.key == key)
}
