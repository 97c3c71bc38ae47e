//! Selections: the objects of a list, a watch or a deletecollection, compiled from the path and the selectors, so that
//! objects are matched without parsing them.
use std::{ops::Range, sync::Arc};

use super::{Error, Request};
use crate::{
    cache::{Condition, Filter, Object, Snapshot, Subscription, Term},
    kind::{
        Kind,
        model::{Path, Scope, Version},
    },
    meta::{
        options::ListOptions,
        selector::{FieldTerm, Labels, Operator},
    },
};

/// A compiled selection.
pub(super) struct Selection {
    /// The prefix of the keys: `namespace/`, or empty.
    pub prefix: String,
    /// The only key that can match, if there is one.
    pub key: Option<String>,
    /// A selectable field, by position, that must have this value.
    field: Option<(usize, Box<str>)>,
    /// The conditions that an index can answer, those of fields first.
    pub conditions: Vec<Condition>,
    /// Matches an object; `None` if the prefix is the only condition.
    pub filter: Option<Filter>,
}

/// A field of a selector, by where an object has its value.
#[derive(Clone, Copy)]
enum SelectorField {
    Name,
    Namespace,
    Selectable(usize),
}

/// A term of a field selector with its field found.
struct FieldRequirement {
    field: SelectorField,
    equal: bool,
    value: Box<str>,
}

impl Selection {
    /// Compiles the path and the selectors. Fails with [`Error::BadRequest`] for a field that is not selectable.
    pub(super) fn new(request: &Request, options: &ListOptions) -> Result<Self, Error> {
        let kind = &*request.resource.kind;
        let first = request.resource.records.first_field(&kind.group_version.version);
        let terms = resolve(kind, first, options.fields.terms())?;
        let pinned =
            |field: fn(&SelectorField) -> bool| terms.iter().find(|t| t.equal && field(&t.field)).map(|t| &*t.value);

        let namespaced = kind.shared.scope == Scope::Namespaced;
        let namespace = match request.namespace.as_str() {
            "" if namespaced => pinned(|field| matches!(field, SelectorField::Namespace)).unwrap_or_default(),
            namespace => namespace,
        };
        let prefix = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
        let name = match request.name.as_str() {
            "" => pinned(|field| matches!(field, SelectorField::Name)),
            name => Some(name),
        };
        // Without a namespace, a name does not determine the key of a namespaced object.
        let key = name.filter(|_| !namespaced || !prefix.is_empty()).map(|name| format!("{prefix}{name}"));
        let field = terms.iter().find_map(|term| match term.field {
            SelectorField::Selectable(position) if term.equal => Some((position, term.value.clone())),
            _ => None,
        });
        let conditions = conditions(&options.labels, field.as_ref());
        let filter = filter(options.labels.clone(), terms);
        Ok(Self { prefix, key, field, conditions, filter })
    }

    /// The subscription of a watch, by which wake-ups are indexed.
    pub(super) fn subscription(&self) -> Subscription {
        match (&self.key, &self.field) {
            (Some(key), _) => Subscription::Key(key.as_str().into()),
            (None, _) if !self.prefix.is_empty() => Subscription::Namespace(self.prefix.trim_end_matches('/').into()),
            (None, Some((position, value))) => Subscription::Field(*position, value.clone()),
            (None, None) => Subscription::All,
        }
    }

    /// Where selected objects may be in a snapshot, after a key.
    pub(super) fn positions(&self, snapshot: &Snapshot, after: Option<&str>) -> Range<usize> {
        match &self.key {
            Some(key) if after.is_some_and(|after| key.as_str() <= after) => 0..0,
            Some(key) => snapshot.position(key),
            None => snapshot.positions(&self.prefix, after),
        }
    }

    /// True if an object under the prefix is selected.
    pub(super) fn selects(&self, object: &Object) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter(object))
    }
}

/// Finds each term's field among those of the kind, whose values start at the position `first` in an object.
fn resolve(kind: &Kind, first: usize, terms: &[FieldTerm]) -> Result<Vec<FieldRequirement>, Error> {
    terms
        .iter()
        .map(|term| {
            let field = match &*term.field {
                "metadata.name" => SelectorField::Name,
                "metadata.namespace" if kind.policy().selects_by_namespace(kind.shared.scope) => {
                    SelectorField::Namespace
                }
                other => SelectorField::Selectable(first + selectable(kind, other)?),
            };
            Ok(FieldRequirement { field, equal: term.equal, value: term.value.clone() })
        })
        .collect()
}

/// What indexes can answer. Objects without a value are in no index.
fn conditions(labels: &Labels, field: Option<&(usize, Box<str>)>) -> Vec<Condition> {
    let field = field.filter(|(_, value)| !value.is_empty());
    let field = field.map(|(at, value)| Condition { term: Term::Field(*at), values: Some(vec![value.clone()]) });
    let labels = labels.requirements().iter().filter_map(|requirement| {
        let values = match requirement.operator {
            Operator::In => Some(requirement.values.clone()),
            // All of them need the label.
            Operator::Exists | Operator::GreaterThan | Operator::LessThan => None,
            Operator::NotIn | Operator::DoesNotExist => return None,
        };
        Some(Condition { term: Term::Label(requirement.key.clone()), values })
    });
    field.into_iter().chain(labels).collect()
}

fn selectable(kind: &Kind, field: &str) -> Result<usize, Error> {
    let is_named = |path: &Path| {
        let mut names = field.split('.');
        path.0.iter().all(|name| names.next() == Some(name)) && names.next().is_none()
    };
    let Version { selectable, selector_aliases, .. } = &*kind.version;
    let alias = selector_aliases.iter().find(|(name, _)| name == field).map(|(_, path)| path);
    let found = selectable.iter().position(|path| alias.map_or_else(|| is_named(path), |alias| alias == path));
    found.ok_or_else(|| Error::BadRequest(kind.policy().unknown_field(field, !kind.version.selectable.is_empty())))
}

fn filter(labels: Labels, terms: Vec<FieldRequirement>) -> Option<Filter> {
    if labels.is_empty() && terms.is_empty() {
        return None;
    }
    Some(Arc::new(move |object: &Object| {
        let holds = |term: &FieldRequirement| {
            let value = match term.field {
                SelectorField::Name => object.name(),
                SelectorField::Namespace => object.namespace(),
                SelectorField::Selectable(position) => object.field(position),
            };
            (value == &*term.value) == term.equal
        };
        terms.iter().all(holds) && (labels.is_empty() || labels.matches_by(|key| object.label(key)))
    }))
}
