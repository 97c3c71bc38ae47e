//! What the server shows of its controllers.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use super::Controller;
use crate::{
    http::{Health, Metrics},
    metrics::ControllerState,
};

/// How long `/readyz?verbose` shows an error that is over.
const SHOWN: Duration = Duration::from_hours(1);

/// Shows controllers at `/metrics` and in `/readyz?verbose`. Those with the same name are shown as one.
pub(in crate::server) fn show(controllers: &mut [Controller], metrics: &Metrics, mut health: Health) -> Health {
    let mut states = BTreeMap::<String, Arc<ControllerState>>::new();
    for controller in controllers {
        let state = states.entry(controller.state.name().to_owned()).or_insert_with(|| controller.state.clone());
        controller.state = state.clone();
    }
    for state in states.values() {
        let state = state.clone();
        health = health.with_detailed_note(move |details| note(&state, details, Instant::now()));
    }
    metrics.show_controllers(states.into_values().collect());
    health
}

/// The line of a controller with a recent error. Without permission for details, it has neither the error nor objects.
fn note(state: &ControllerState, details: bool, now: Instant) -> Option<String> {
    let (error, failing) = (state.last_error()?, state.failing(now));
    if failing == 0 && now.saturating_duration_since(error.at) > SHOWN {
        return None;
    }
    let (restarts, failures) = (state.restarts(), state.failures());
    let mut line = format!("controller/{}: {restarts} restarts, {failures} failures of objects, ", state.name());
    let text = if details { error.text.as_str() } else { "reason withheld" };
    let _ = write!(line, "{failing} failing objects; last error at {}: {text}", error.time);
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_with_a_recent_error_has_a_line() {
        let state = ControllerState::new("orders".to_owned());
        let now = Instant::now();
        assert_eq!(note(&state, true, now), None);
        state.failed("Order/a".to_owned(), "no carrier", now);
        let line = note(&state, true, now).unwrap();
        assert!(
            line.starts_with("controller/orders: 0 restarts, 1 failures of objects, 1 failing objects; "),
            "{line}"
        );
        assert!(line.ends_with(": Order/a: no carrier"), "{line}");
        let line = note(&state, false, now).unwrap();
        assert!(line.ends_with(": reason withheld") && !line.contains("Order/a"), "{line}");
        state.succeeded("Order/a");
        assert!(note(&state, true, now).is_some());
        assert_eq!(note(&state, true, now + SHOWN * 2), None, "it is long over");
    }
}
