//! Hooks and computed columns: functions get the type, while the server works on documents.
use std::sync::Arc;

use kindsmith::{
    ApiType, Context, FieldError, FieldErrorKind, FieldPath, ObjectMeta, Resource,
    auth::User,
    kind::{
        HookContext, HookError,
        model::{Cell, Grace, Path},
    },
    meta::{Operation, Warnings},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A loan.
#[derive(Resource, Clone, Debug)]
#[resource(group = "library.example.com", version = "v1beta1")]
#[resource(default = Loan::fill_in, validate = check, generate_name = Loan::name)]
#[resource(on_delete = Loan::give_back, holds_deletion = Loan::is_out, grace_seconds = spec.days)]
#[resource(column("Overdue", with = Loan::overdue), column("Borrower", with = borrower, priority = 1))]
pub(crate) struct Loan {
    pub metadata: ObjectMeta,
    pub spec: LoanSpec,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoanSpec {
    pub borrower: String,
    pub days: Option<i32>,
    #[serde(default)]
    pub books: Vec<Book>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Book {
    pub title: String,
}

impl Loan {
    fn fill_in(&mut self, context: &Context<'_, Self>) {
        self.spec.days.get_or_insert(if context.user.name == "librarian" { 28 } else { 14 });
    }

    fn name(&self, base: &str) -> String {
        format!("{base}{}", self.spec.borrower.to_lowercase())
    }

    fn overdue(&self) -> Option<i32> {
        self.spec.days.filter(|days| *days > 20)
    }

    fn give_back(&mut self) {
        self.spec.books.clear();
    }

    fn is_out(&self) -> bool {
        !self.spec.books.is_empty()
    }
}

fn borrower(loan: &Loan) -> String {
    loan.spec.borrower.clone()
}

fn check(loan: &Loan, context: &Context<'_, Loan>) -> Vec<FieldError> {
    let path = FieldPath::new("spec.borrower");
    match context.old() {
        Some(old) if old.spec.borrower != loan.spec.borrower => {
            vec![FieldError::new(&path, FieldErrorKind::Forbidden, "a loan stays with its borrower")]
        }
        _ => Vec::new(),
    }
}

fn document() -> Value {
    json!({
        "apiVersion": "library.example.com/v1beta1", "kind": "Loan", "metadata": {"name": "l"},
        "spec": {"borrower": "Ada", "books": [{"title": "Notes", "shelf": 3}], "unknown": {"kept": true}},
    })
}

#[tokio::test]
async fn only_the_changes_of_a_default_hook_are_applied() {
    let kind = Loan::kind();
    let (hooks, schema) = (&kind.binding.hooks, &kind.version.schema);
    let user = Arc::new(User::new("librarian", &[]));
    let warnings = Warnings::default();
    let mut found = document();
    hooks.set_defaults(&mut found, HookContext::new(schema, &user, &warnings)).await.expect("it decodes");
    let mut expected = document();
    expected["spec"]["days"] = json!(28);
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_validate_hook_sees_the_old_object() {
    let kind = Loan::kind();
    let (hooks, schema) = (&kind.binding.hooks, &kind.version.schema);
    let (user, warnings) = (Arc::default(), Warnings::default());
    let (old, mut new) = (document(), document());
    new["spec"]["borrower"] = json!("Grace");
    let mut context = HookContext::new(schema, &user, &warnings);
    (context.old, context.operation) = (Some(&old), Operation::Update);
    assert_eq!(hooks.validate(&new, context).await.expect("it decodes").len(), 1);
    assert!(hooks.validate(&old, context).await.expect("it decodes").is_empty());
    new["spec"] = json!({});
    let undecodable = hooks.validate(&new, context).await;
    assert!(matches!(undecodable, Err(HookError::Undecodable(_))), "the type cannot decode a loan without a borrower");
}

#[tokio::test]
async fn names_and_deletion_are_hooks_too() {
    let kind = Loan::kind();
    let hooks = &kind.binding.hooks;
    assert_eq!(hooks.generate_name(&document(), "loan-").await.expect("it decodes"), Some("loan-ada".to_owned()));
    let mut found = document();
    assert!(hooks.holds_deletion(&found).await.expect("it decodes"));
    hooks.on_delete(&mut found, &kind.version.schema).await.expect("it decodes");
    assert!(!hooks.holds_deletion(&found).await.expect("it decodes"));
    assert_eq!(found["spec"]["unknown"], json!({"kept": true}));
    let undecodable = hooks.holds_deletion(&json!({"spec": {}})).await;
    assert!(matches!(undecodable, Err(HookError::Undecodable(_))), "{undecodable:?}");
}

#[test]
fn a_computed_column_has_the_type_that_its_function_returns() {
    let kind = Loan::kind();
    let columns = &kind.version.columns;
    let types: Vec<_> = columns.iter().map(|c| (c.name.as_str(), c.kind.as_str())).collect();
    assert_eq!(types, [("Overdue", "integer"), ("Borrower", "string"), ("Age", "date")]);
    assert_eq!(columns[0].cell, Cell::Computed, "a function is declared");
    let overdue = |loan| kind.compute(&columns[0], loan);
    let mut late = document();
    late["spec"]["days"] = json!(30);
    assert_eq!((overdue(&late), overdue(&document())), (json!(30), Value::Null));
}

#[test]
fn the_grace_period_is_a_field_or_a_number() {
    assert_eq!(Loan::kind().shared.grace, Some(Grace::Path(Path(vec!["spec".to_owned(), "days".to_owned()]))));
    assert_eq!(Reminder::kind().shared.grace, Some(Grace::Seconds(30)));
}

/// A reminder.
#[derive(Resource, Clone, Debug)]
#[resource(group = "library.example.com", version = "v1beta1", grace_seconds = 30)]
pub(crate) struct Reminder {
    pub metadata: ObjectMeta,
}
