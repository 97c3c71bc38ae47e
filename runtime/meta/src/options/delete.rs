//! Options of deletions, from the query or from a body.
use serde::Deserialize;
use serde_json::Value;

use super::{OptionsError, Query, refuse, unsupported, write};
use crate::{FieldError, FieldErrorKind, FieldPath, Preconditions};

/// The propagation policy of a deletion: what happens to dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// The dependents are kept.
    Orphan,
    /// The dependents are deleted after the object.
    Background,
    /// The dependents are deleted before the object.
    Foreground,
}

/// Options of delete and deletecollection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteOptions {
    /// Do not store anything.
    pub dry_run: bool,
    /// The number of seconds that the object has to terminate.
    pub grace_period_seconds: Option<i64>,
    /// Conditions that the object must meet.
    pub preconditions: Preconditions,
    /// What happens to dependents; `None` leaves the decision to the object's finalizers and the kind.
    pub propagation: Option<Propagation>,
    /// Delete an object that cannot be read (`ignoreStoreReadErrorWithClusterBreakingPotential`).
    pub ignore_read_errors: bool,
}

/// The option for what happens to dependents.
const POLICY: &str = "propagationPolicy";
/// The option that forces a deletion.
const FORCE: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

fn force_refused(why: String) -> FieldError {
    FieldError::new(&FieldPath::new(FORCE), FieldErrorKind::Invalid(true.into()), why)
}

/// The options in their wire format.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wire {
    grace_period_seconds: Option<i64>,
    preconditions: Option<Preconditions>,
    orphan_dependents: Option<bool>,
    propagation_policy: Option<String>,
    dry_run: Option<Vec<String>>,
    ignore_store_read_error_with_cluster_breaking_potential: Option<bool>,
}

impl DeleteOptions {
    /// Reads and checks the options. A body replaces the query completely.
    ///
    /// # Errors
    /// [`OptionsError`].
    pub fn parse(query: &Query, body: Option<&Value>) -> Result<Self, OptionsError> {
        match body {
            Some(body) => Wire::from_body(body)?.check(),
            None => Wire::from_query(query)?.check(),
        }
    }

    /// Reads and checks the options of deletecollection, which forbids a forced deletion.
    ///
    /// # Errors
    /// [`OptionsError`].
    pub fn for_collection(query: &Query, body: Option<&Value>) -> Result<Self, OptionsError> {
        let options = Self::parse(query, body)?;
        if options.ignore_read_errors {
            let why = "is not allowed with DELETECOLLECTION, try again after removing the option";
            refuse("DeleteOptions", vec![force_refused(why.into())])?;
        }
        Ok(options)
    }
}

impl Wire {
    fn from_query(query: &Query) -> Result<Self, OptionsError> {
        let dry_run = query.all("dryRun").map(str::to_owned).collect();
        Ok(Self {
            grace_period_seconds: query.number("gracePeriodSeconds")?,
            preconditions: None,
            orphan_dependents: query.switch("orphanDependents")?,
            propagation_policy: query.single(POLICY)?.map(str::to_owned),
            dry_run: Some(dry_run),
            ignore_store_read_error_with_cluster_breaking_potential: query.switch(FORCE)?,
        })
    }

    fn from_body(body: &Value) -> Result<Self, OptionsError> {
        let bad = |message: String| Err(OptionsError::BadRequest(message));
        if !body.is_object() {
            // Serde would also accept a list of the members in order.
            return bad("the body of a deletion must be an object".to_owned());
        }
        match body.get("kind").and_then(Value::as_str).unwrap_or("DeleteOptions") {
            "DeleteOptions" | "" => {}
            other => return bad(format!("the body of a deletion must be DeleteOptions, not {other}")),
        }
        Self::deserialize(body).or_else(|why| bad(format!("the body is not a valid DeleteOptions: {why}")))
    }

    fn check(self) -> Result<DeleteOptions, OptionsError> {
        let mut errors = Vec::new();
        if let Some(given) = self.propagation_policy.as_ref().filter(|_| self.orphan_dependents.is_some()) {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(FieldError::new(&FieldPath::new(POLICY), FieldErrorKind::Invalid(given.as_str().into()), why));
        }
        let propagation = match (self.propagation_policy.as_deref(), self.orphan_dependents) {
            (Some("Orphan"), _) | (None, Some(true)) => Some(Propagation::Orphan),
            (Some("Background"), _) | (None, Some(false)) => Some(Propagation::Background),
            (Some("Foreground"), _) => Some(Propagation::Foreground),
            (None, None) => None,
            (Some(given), _) => {
                let supported = ["Foreground", "Background", "Orphan", "nil"];
                errors.push(unsupported(POLICY, given.into(), &supported));
                None
            }
        };
        let dry_run = write::dry_run(self.dry_run.iter().flatten().map(String::as_str), &mut errors);
        errors.extend(self.force_alone());
        refuse("DeleteOptions", errors)?;
        Ok(DeleteOptions {
            dry_run,
            grace_period_seconds: self.grace_period_seconds,
            preconditions: self.preconditions.unwrap_or_default(),
            propagation,
            ignore_read_errors: self.ignore_store_read_error_with_cluster_breaking_potential == Some(true),
        })
    }

    /// A forced deletion runs no checks, so no other option may be set with it.
    fn force_alone(&self) -> Vec<FieldError> {
        if self.ignore_store_read_error_with_cluster_breaking_potential != Some(true) {
            return Vec::new();
        }
        let given = [
            ("dryRun", self.dry_run.as_ref().is_some_and(|values| !values.is_empty())),
            ("propagationPolicy", self.propagation_policy.is_some()),
            ("orphanDependents", self.orphan_dependents.is_some()),
            ("gracePeriodSeconds", self.grace_period_seconds.is_some()),
            ("preconditions", self.preconditions.is_some()),
        ];
        let invalid = |(name, _)| force_refused(format!("cannot be set together with .{name}"));
        given.into_iter().filter(|(_, given)| *given).map(invalid).collect()
    }
}
