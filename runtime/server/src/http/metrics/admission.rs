//! The families of admission, as kube-apiserver has them.

use std::sync::Arc;

use super::family::{Family, FamilyCollector, NANOSECONDS};
use crate::verbs::Verbs;

static FAMILIES: [Family; 2] = [
    Family::histogram(
        "apiserver_admission_step_admission_duration_seconds",
        &["type", "operation", "rejected"],
        "Time of all admission plugins together, in seconds, by step, operation, and whether the request was refused.",
    ),
    Family::histogram(
        "apiserver_admission_controller_admission_duration_seconds",
        &["name", "type", "operation", "rejected"],
        "Time of an admission plugin, in seconds, by name, step, operation, and whether the request was refused.",
    ),
];

/// What is shown of admission. Of plugins with the same name the first is shown.
pub(super) fn collector(api: &Arc<Verbs>) -> FamilyCollector {
    let api = Arc::downgrade(api);
    FamilyCollector::new(&FAMILIES, move |[steps, plugins]| {
        let Some(api) = api.upgrade() else { return };
        let mut shown = Vec::new();
        for (name, durations) in api.admission_durations() {
            if name.is_some_and(|name| shown.contains(&name)) {
                continue;
            }
            shown.extend(name);
            for (step, operation, rejected, totals) in durations.all() {
                let labels = [step.as_str(), operation.as_str(), if rejected { "true" } else { "false" }];
                match name {
                    None => steps.histogram(&labels, &totals, NANOSECONDS),
                    Some(name) => plugins.histogram(&[name, labels[0], labels[1], labels[2]], &totals, NANOSECONDS),
                }
            }
        }
    })
}
