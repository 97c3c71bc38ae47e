//! The family of conversion webhooks, as kube-apiserver has it.

use std::sync::Arc;

use super::family::{Family, FamilyCollector, NANOSECONDS};
use crate::verbs::Verbs;

static FAMILIES: [Family; 1] = [Family::histogram(
    "apiserver_crd_conversion_webhook_duration_seconds",
    &["crd_name", "from_version", "to_version", "succeeded"],
    "Time of a call of a conversion webhook, in seconds, by definition, versions, and whether it succeeded.",
)];

/// What is shown of conversion webhooks.
pub(super) fn collector(api: &Arc<Verbs>) -> FamilyCollector {
    let webhooks = api.registry.webhooks().clone();
    FamilyCollector::new(&FAMILIES, move |[calls]| {
        for ((definition, from, to, succeeded), totals) in webhooks.durations() {
            let labels = [&*definition, &*from, &*to, if succeeded { "true" } else { "false" }];
            calls.histogram(&labels, &totals, NANOSECONDS);
        }
    })
}
