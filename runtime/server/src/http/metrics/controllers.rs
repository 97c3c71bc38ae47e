//! The families of controllers: what the server runs beside requests.

use std::{sync::Arc, time::Instant};

use super::family::{Family, FamilyCollector, real};
use crate::metrics::ControllerState;

static FAMILIES: [Family; 5] = [
    Family::gauge("kindsmith_controller_running", &["controller"], "Whether a controller runs on this server."),
    Family::counter(
        "kindsmith_controller_restarts_total",
        &["controller"],
        "How often a controller was started again after an error or a panic.",
    ),
    Family::counter(
        "kindsmith_controller_failures_total",
        &["controller"],
        "Failures of a controller to reconcile an object.",
    ),
    Family::gauge(
        "kindsmith_controller_failing_objects",
        &["controller"],
        "Objects that a controller failed to reconcile and will try again.",
    ),
    Family::gauge(
        "kindsmith_controller_last_error_timestamp_seconds",
        &["controller"],
        "When a controller failed for the last time, or failed to reconcile an object, in seconds since 1970.",
    ),
];

/// What is shown of controllers.
pub(super) fn collector(controllers: Vec<Arc<ControllerState>>) -> FamilyCollector {
    FamilyCollector::new(&FAMILIES, move |[running, restarts, failures, failing, last_error]| {
        let now = Instant::now();
        for state in &controllers {
            let labels = [state.name()];
            running.number(&labels, real(state.running() as u64));
            restarts.number(&labels, real(state.restarts()));
            failures.number(&labels, real(state.failures()));
            failing.number(&labels, real(state.failing(now) as u64));
            if let Some(error) = state.last_error() {
                let (seconds, _) = error.time.parts();
                last_error.number(&labels, real(u64::try_from(seconds).unwrap_or_default()));
            }
        }
    })
}
