//! Health: `/healthz`, `/livez` and `/readyz`, completely, as single checks, or in detail (`?verbose`).

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::meta::options::Query;

/// A check.
#[derive(Clone)]
struct Check {
    /// Its name in paths.
    name: String,
    /// True if it only affects readiness, not liveness.
    of_readiness: bool,
    /// Runs the check.
    well: Arc<dyn Fn() -> bool + Send + Sync>,
}

/// Additional information, which does not affect the result. The argument is whether the user may see details.
type Note = Arc<dyn Fn(bool) -> Option<String> + Send + Sync>;

/// The health endpoints. Clones share the state.
#[derive(Clone)]
pub struct Health {
    stopping: Arc<AtomicBool>,
    checks: Arc<Vec<Check>>,
    notes: Arc<Vec<Note>>,
}

impl Default for Health {
    fn default() -> Self {
        Self { stopping: Arc::default(), checks: Arc::default(), notes: Arc::default() }.with("ping", || true)
    }
}

impl Health {
    /// Adds a check to all endpoints.
    #[must_use]
    pub fn with(self, name: &str, check: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.and(Check { name: name.to_owned(), of_readiness: false, well: Arc::new(check) })
    }

    /// Adds a check to `/readyz`, for failures that a restart would not fix: the server stays alive.
    #[must_use]
    pub fn with_readiness(self, name: &str, check: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.and(Check { name: name.to_owned(), of_readiness: true, well: Arc::new(check) })
    }

    fn and(mut self, check: Check) -> Self {
        Arc::make_mut(&mut self.checks).push(check);
        self
    }

    /// True if a check can have this name: it is unused, and valid in a path.
    pub fn takes(&self, name: &str) -> bool {
        let form = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !name.is_empty() && name.chars().all(form) && name != "shutdown" && self.checks.iter().all(|c| c.name != name)
    }

    /// Adds an optional line to `/readyz?verbose`, which does not affect the result. Everyone may see it.
    #[must_use]
    pub fn with_note(self, note: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        self.with_detailed_note(move |_| note())
    }

    /// The same with details for some users. The argument is whether this is one of them.
    #[must_use]
    pub fn with_detailed_note(mut self, note: impl Fn(bool) -> Option<String> + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.notes).push(Arc::new(note));
        self
    }

    /// Makes `/readyz` fail, so that load balancers send no more requests.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Answers a health path, such as `/readyz` or `/livez/ping`: the result and the text. `None` if the path is not a
    /// health path or names no check. `details` is whether the user may see more than that something is wrong.
    pub fn answer(&self, path: &str, query: &Query, details: bool) -> Option<(bool, String)> {
        let mut segments = path.trim_start_matches('/').splitn(2, '/');
        let name = segments.next()?;
        if !is_health(path) {
            return None;
        }
        let is_readiness = name == "readyz";
        let only = segments.next();
        let excluded = |check: &str| query.all("exclude").any(|name| name == check);
        let checks = self.checks.iter().filter(|check| is_readiness || !check.of_readiness);
        let mut results: Vec<(&str, bool)> = checks.map(|check| (check.name.as_str(), (check.well)())).collect();
        if is_readiness {
            results.push(("shutdown", !self.stopping.load(Ordering::Relaxed)));
        }
        results.retain(|(n, _)| only.is_none_or(|only| only == *n) && !excluded(n));
        if only.is_some() && results.is_empty() {
            return None;
        }
        let well = results.iter().all(|(_, well)| *well);
        let verbose = query.has("verbose") && only.is_none();
        let mut notes = String::new();
        if verbose && is_readiness {
            notes.extend(self.notes.iter().filter_map(|note| note(details)).map(|note| format!("[!]{note}\n")));
        }
        Some((well, text(name, &results, well, verbose, &notes)))
    }
}

/// True for a request that may see details: a health path with `?verbose`.
pub(super) fn is_verbose(path: &str, query: &Query) -> bool {
    is_health(path) && query.has("verbose")
}

/// True for health paths.
pub(super) fn is_health(path: &str) -> bool {
    let name = path.trim_start_matches('/').split('/').next();
    matches!(name, Some("healthz" | "livez" | "readyz"))
}

fn text(name: &str, results: &[(&str, bool)], well: bool, verbose: bool, notes: &str) -> String {
    if well && !verbose {
        return "ok".to_owned();
    }
    let lines: String = results
        .iter()
        .map(|(check, well)| match well {
            true => format!("[+]{check} ok\n"),
            false => format!("[-]{check} failed: reason withheld\n"),
        })
        .collect();
    let result = if well { "passed" } else { "failed" };
    lines + notes + &format!("{name} check {result}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(health: &Health, path: &str, query: &str) -> Option<(bool, String)> {
        health.answer(path, &Query::parse(query).unwrap(), false)
    }

    #[test]
    fn healthy() {
        let health = Health::default();
        for path in ["/healthz", "/livez", "/readyz", "/readyz/ping", "/readyz/shutdown"] {
            assert_eq!(ask(&health, path, ""), Some((true, "ok".to_owned())), "{path}");
        }
        assert_eq!(ask(&health, "/readyz/other", ""), None);
        assert_eq!(ask(&health, "/healthz/shutdown", ""), None);
        assert_eq!(ask(&health, "/metrics", ""), None);
        let want = "[+]ping ok\n[+]shutdown ok\nreadyz check passed\n";
        assert_eq!(ask(&health, "/readyz", "verbose"), Some((true, want.to_owned())));
    }

    #[test]
    fn a_note_is_a_separate_line_and_does_not_affect_the_result() {
        let health = Health::default().with_note(|| Some("store: 3 values are damaged".to_owned())).with_note(|| None);
        let want = "[+]ping ok\n[+]shutdown ok\n[!]store: 3 values are damaged\nreadyz check passed\n";
        assert_eq!(ask(&health, "/readyz", "verbose"), Some((true, want.to_owned())));
        assert_eq!(ask(&health, "/readyz", ""), Some((true, "ok".to_owned())));
        assert_eq!(ask(&health, "/livez", "verbose").unwrap().1, "[+]ping ok\nlivez check passed\n");
    }

    #[test]
    fn unwell() {
        let health = Health::default().with("store", || false);
        let want = "[+]ping ok\n[-]store failed: reason withheld\nlivez check failed\n";
        assert_eq!(ask(&health, "/livez", ""), Some((false, want.to_owned())));
        assert_eq!(ask(&health, "/livez", "exclude=store"), Some((true, "ok".to_owned())));
        assert_eq!(ask(&health, "/livez/ping", ""), Some((true, "ok".to_owned())));
    }

    #[test]
    fn readiness_checks_do_not_affect_liveness() {
        let health = Health::default().with_readiness("store", || false);
        let want = "[+]ping ok\n[-]store failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n";
        assert_eq!(ask(&health, "/readyz", ""), Some((false, want.to_owned())));
        for path in ["/livez", "/healthz"] {
            assert_eq!(ask(&health, path, ""), Some((true, "ok".to_owned())), "{path}");
        }
        assert_eq!(ask(&health, "/livez/store", ""), None);
    }

    #[test]
    fn a_stopping_server_is_alive_but_not_ready() {
        let health = Health::default();
        health.clone().stop();
        assert!(ask(&health, "/readyz", "").is_some_and(|(well, _)| !well));
        assert!(ask(&health, "/livez", "").is_some_and(|(well, _)| well));
    }
}
