//! Rules in CEL, as kube-apiserver judges them when a definition is written: their expressions compile, and cost no more than what a
//! request may take.
use std::cmp::Reverse;

use super::super::{Fields, Findings, Location, keywords, print};
use crate::{
    meta::{FieldErrorKind, FieldPath},
    schema::{
        At, Schema,
        model::Type,
        rules::{CompiledRule, MOST_COST, MOST_TOTAL, most_values, programs},
    },
};

/// How many of the most expensive expressions are named if the total is too high.
const NAMED: usize = 4;

/// A node of a schema, for its rules.
#[derive(Clone, Copy)]
pub(super) struct Place<'s> {
    at: At<'s>,
    /// It is a whole object, with type meta and metadata.
    is_object: bool,
    /// How many values of it an object has at most. `None` if a list or map around it has no bound.
    values: Option<u64>,
    /// A node around it has rules.
    is_within_rules: bool,
    /// Its values have no type in CEL, though rules are about them, or those of a node around it have none.
    is_unseen: bool,
}

impl<'s> Place<'s> {
    /// The root of a kind's schema.
    pub(super) fn root(schema: &'s Schema) -> Self {
        let at = At::of(schema);
        let is_unseen = most_values(at, true).is_none();
        Self { at, is_object: true, values: Some(1), is_within_rules: false, is_unseen }
    }

    /// A property.
    pub(super) fn property(self, name: &str) -> Option<Self> {
        self.at.property(name).map(|at| self.below(at))
    }

    /// The items of a list.
    pub(super) fn items(self) -> Option<Self> {
        self.at.items().map(|at| self.below(at))
    }

    /// The values of a map.
    pub(super) fn entries(self) -> Option<Self> {
        self.at.entry().map(|at| self.below(at))
    }

    /// A node directly below this one.
    pub(super) fn below(self, at: At<'_>) -> Place<'_> {
        let each = match self.at.kind {
            Type::Array => self.at.max_items,
            Type::Object if self.at.entry().is_some() => self.at.max_properties,
            _ => Some(1),
        };
        let values = self.values.zip(each).map(|(values, each)| values.saturating_mul(each));
        let (is_object, is_within_rules) = (at.embedded, self.is_within_rules || !self.at.rules.is_empty());
        let has_rules = is_within_rules || !at.rules.is_empty();
        let is_unseen = has_rules && (is_within_rules && self.is_unseen || most_values(at, is_object).is_none());
        Place { at, is_object, values, is_within_rules, is_unseen }
    }

    /// How often a rule of this node runs at most.
    fn runs(self) -> u64 {
        self.values.or_else(|| most_values(self.at, self.is_object)).unwrap_or(u64::MAX)
    }
}

/// The properties of whole objects, which the model's schema does not have.
pub(super) fn unmodelled(property: Fields<'_>, location: &Location<'_>) -> Schema {
    keywords::schema(property, location).0
}

/// Judges the rules of one schema.
#[derive(Default)]
pub(super) struct Judge {
    /// Expressions may cost what they cost.
    is_exempt: bool,
    errors: Findings,
    total: u64,
    /// The most expensive expressions, the most expensive first, with their paths and pointers.
    expensive: Vec<(u64, FieldPath, String)>,
}

impl Judge {
    /// A schema that an update leaves unchanged is exempt from the limit of each expression.
    pub(super) fn new(is_exempt: bool) -> Self {
        Self { is_exempt, ..Self::default() }
    }

    /// Judges the rules of a node, whose schema has no other errors.
    pub(super) fn node(
        &mut self,
        schema: Fields<'_>,
        place: Place<'_>,
        within: Option<&Location<'_>>,
        at: &Location<'_>,
    ) {
        let list = at.field("x-kubernetes-validations");
        // Without rules around it, the node is judged by its own schema.
        let whole = (place.at.names_only && !place.is_within_rules)
            .then(|| Schema { names_only: false, ..place.at.node().clone() });
        let at = whole.as_ref().map_or(place.at, At::of);
        let compiled = if place.is_unseen { None } else { programs(at, place.is_object) };
        let Some(compiled) = compiled else {
            let detail = "internal error: failed to construct type information for x-kubernetes-validations rules: unable to \
                          convert structural schema to CEL declarations";
            return self.errors.error(&list, FieldErrorKind::Internal, detail);
        };
        let runs = place.runs();
        for (index, (rule, compiled)) in schema.objects("x-kubernetes-validations").zip(compiled).enumerate() {
            self.rule(rule, compiled, runs, within, &list.index(index));
        }
    }

    fn rule(
        &mut self,
        rule: Fields<'_>,
        compiled: &CompiledRule,
        runs: u64,
        within: Option<&Location<'_>>,
        at: &Location<'_>,
    ) {
        let (rule_at, message_at) = (at.field("rule"), at.field("messageExpression"));
        self.costs("estimated rule cost", compiled.cost.saturating_mul(runs), &rule_at);
        let shown = || FieldErrorKind::InvalidText(print::rule(rule));
        if let Some(Err(error)) = &compiled.program {
            self.errors.error(&rule_at, shown(), error);
        }
        match &compiled.message {
            Some(Err(error)) => self.errors.error(&message_at, shown(), error),
            Some(Ok(_)) => self.costs("estimated messageExpression cost", compiled.message_cost, &message_at),
            None => {}
        }
        match (compiled.uses_old_self, within, rule.get("optionalOldSelf")) {
            (true, Some(list), _) => {
                let path = list.path();
                let detail =
                    format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {path}");
                self.errors.invalid(&rule_at, rule.text("rule"), detail);
            }
            (false, _, Some(given)) => {
                let at = at.field("optionalOldSelf");
                self.errors.invalid(&at, given.clone(), "may not be set if oldSelf is not used in rule");
            }
            _ => {}
        }
    }

    /// Adds what an expression costs.
    fn costs(&mut self, what: &str, cost: u64, at: &Location<'_>) {
        if cost > MOST_COST && !self.is_exempt {
            self.errors.forbidden(at, excess(what, cost, MOST_COST));
        }
        self.total = self.total.saturating_add(cost);
        if cost >= MOST_TOTAL / 100 {
            self.expensive.push((cost, at.path(), at.pointer()));
            self.expensive.sort_by_key(|(cost, ..)| Reverse(*cost));
            self.expensive.truncate(NAMED);
        }
    }

    /// Adds what was found to the errors of the schema.
    pub(super) fn report(self, at: &Location<'_>, findings: &mut Findings) {
        self.errors.errors.into_iter().for_each(|fault| findings.add(fault));
        if self.total > MOST_TOTAL {
            for (_, path, pointer) in &self.expensive {
                let detail =
                    "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
                findings.forbidden(&Location::known(path.as_str(), pointer), detail);
            }
            let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
            findings.forbidden(at, excess(what, self.total, MOST_TOTAL));
        }
    }
}

/// By what factor a cost is over its limit.
#[expect(clippy::cast_precision_loss, reason = "kube-apiserver calculates in doubles")]
fn excess(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = match factor {
        factor if factor > 100.0 => "more than 100x".to_owned(),
        factor if factor < 1.5 => format!("{factor:.6}x"),
        factor => format!("{factor:.1}x"),
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where \
         arrays, maps, and strings are declared)"
    )
}
