//! The order of hooks, admission and validation in a write, as in kube-apiserver.
use kindsmith::{
    Context, FieldError, Hooks,
    admission::{Admission, Attributes, Document, Operation, ReinvocationPolicy},
    handlers::Result,
    server::Builder,
};
use serde_json::{Value, json};

use super::{
    admission::{FLEETS, Fleet, Journal, app, fleet, note, taken},
    request::send,
};

/// The hooks of fleets, and plugins, that note the order in which they are called.
struct Noting {
    name: &'static str,
    journal: Journal,
    change: fn(&mut Document),
    policy: ReinvocationPolicy,
}

impl Noting {
    fn new(name: &'static str, journal: &Journal, change: fn(&mut Document)) -> Self {
        Self { name, journal: journal.clone(), change, policy: ReinvocationPolicy::Never }
    }

    fn again(self) -> Self {
        Self { policy: ReinvocationPolicy::IfNeeded, ..self }
    }
}

impl Hooks<Fleet> for Noting {
    async fn set_defaults(&self, _: &mut Fleet, _: &Context<'_, Fleet>) -> Result<()> {
        note(&self.journal, "set defaults".to_owned());
        Ok(())
    }

    async fn validate(&self, fleet: &Fleet, _: &Context<'_, Fleet>) -> Result<Vec<FieldError>> {
        note(&self.journal, format!("validate port {:?}", fleet.spec.port.as_deref().unwrap_or_default()));
        Ok(Vec::new())
    }

    async fn admit(&self, _: &Fleet, _: &Context<'_, Fleet>) -> Result<()> {
        note(&self.journal, "hook admits".to_owned());
        Ok(())
    }
}

impl Admission for Noting {
    fn handles(&self, operation: Operation) -> bool {
        operation == Operation::Create
    }

    fn reinvocation_policy(&self) -> ReinvocationPolicy {
        self.policy
    }

    async fn admit(&self, _: &Attributes<'_>, object: &mut Document) -> Result<()> {
        note(&self.journal, format!("{} admits", self.name));
        (self.change)(object);
        Ok(())
    }

    async fn validate(&self, _: &Attributes<'_>, object: &Document) -> Result<()> {
        note(&self.journal, format!("{} validates {}", self.name, object["spec"]["port"]));
        Ok(())
    }
}

#[tokio::test]
async fn mutating_admission_comes_before_validation_and_that_before_validating_admission() {
    let journal = Journal::default();
    let first = Noting::new("first", &journal, |fleet| {
        fleet["spec"]["port"] = json!("Delft");
        fleet["spec"]["sails"] = json!("red");
        fleet["spec"]["ships"] = Value::Null;
        fleet["metadata"]["uid"] = json!("forged");
        fleet["metadata"]["labels"] = json!({"seen": "yes", "none": null});
        fleet["status"] = json!({"ships": 9});
    });
    let second = Noting::new("second", &journal, |_| ());
    let hooks = Noting::new("hooks", &journal, |_| ());
    let app = app(|builder| builder.kind_with::<Fleet>(hooks).admission(first).admission(second)).await;
    // The server has created its namespaces by now.
    taken(&journal);
    let made = send(app.service(), "POST", FLEETS, fleet("a", 3)).await;
    assert_eq!(made.code, 201, "{made:?}");
    let order = [
        "set defaults",
        "first admits",
        "second admits",
        "validate port \"Delft\"",
        "hook admits",
        "first validates \"Delft\"",
        "second validates \"Delft\"",
    ];
    assert_eq!(taken(&journal), order);
    assert_eq!(made.body["spec"], json!({"ships": 1, "port": "Delft"}), "unknown fields and nulls are dropped");
    assert_eq!(made.body.get("status"), None, "a new object has no status");
    assert_ne!(made.body["metadata"]["uid"], "forged");
    assert_eq!(made.body["metadata"]["labels"]["seen"], "yes");
    app.stop().await;
}

#[tokio::test]
async fn a_plugin_that_asks_for_it_runs_once_more_if_a_later_one_has_changed_the_object() {
    fn count(fleet: &mut Document) {
        let ships = fleet["spec"]["ships"].as_i64().unwrap_or_default();
        fleet["spec"]["ships"] = (ships + 1).into();
    }
    let journal = Journal::default();
    let plugin = |name, change| Noting::new(name, &journal, change);
    for (plugins, admits) in [
        (vec![plugin("a", |_| ()).again(), plugin("b", count)], vec!["a", "b", "a"]),
        (vec![plugin("a", |_| ()), plugin("b", count)], vec!["a", "b"]),
        (vec![plugin("a", count).again(), plugin("b", |_| ()).again()], vec!["a", "b"]),
        (vec![plugin("a", count).again(), plugin("b", count)], vec!["a", "b", "a"]),
        (
            vec![plugin("a", count).again(), plugin("b", count), plugin("c", |_| ()).again()],
            vec!["a", "b", "c", "a", "c"],
        ),
    ] {
        let app = app(|builder| plugins.into_iter().fold(builder.kind::<Fleet>(), Builder::admission)).await;
        taken(&journal);
        assert_eq!(send(app.service(), "POST", FLEETS, fleet("x", 0)).await.code, 201);
        let called = taken(&journal).into_iter().filter_map(|entry| Some(entry.strip_suffix(" admits")?.to_owned()));
        assert_eq!(called.collect::<Vec<_>>(), admits);
        app.stop().await;
    }
}
