//! Authorization: `authorizer.group("apps").resource("deployments").check("create").allowed()`.
//!
//! The authorizer is a variable that policies have. What decides is behind [`Authorizer`].
use std::{fmt, sync::Arc};

use kindsmith_meta::{User, validate as names};

use crate::{
    Cost, Error, Function, Library, Range, Type, Value,
    cost::{CallCost, TRAVERSAL},
    library::arguments::{accessor, opaque, text},
    value::Opaque,
};

/// The library of authorization.
pub static AUTHZ: Library =
    Library { name: "kubernetes.authz", functions, macros: &[], types: Vec::new, validators: &[] };

/// Selectors of the objects that a check is about.
pub static AUTHZ_SELECTORS: Library =
    Library { name: "kubernetes.authzSelectors", functions: selectors, macros: &[], types: Vec::new, validators: &[] };

/// Decides what users may do.
pub trait Authorizer: fmt::Debug + Send + Sync {
    /// Decides if a user may do something.
    fn authorize(&self, user: &User, verb: &str, target: Target<'_>) -> Decision;
}

/// The subject of an action.
#[derive(Clone, Copy, Debug)]
pub enum Target<'t> {
    /// A path that is not one of resources.
    Path(&'t str),
    /// Objects.
    Resource(&'t ResourceCheck),
}

/// The answer of an [`Authorizer`]: `kubernetes.authorization.Decision`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// The user may do it.
    pub allowed: bool,
    /// Why, or why not.
    pub reason: String,
    /// What failed.
    pub error: Option<String>,
}

/// A user whose actions are decided about: `kubernetes.authorization.Authorizer`.
#[derive(Clone, Debug)]
pub struct Subject {
    user: Arc<User>,
    authorizer: Arc<dyn Authorizer>,
}

/// A path: `kubernetes.authorization.PathCheck`.
#[derive(Clone, Debug, PartialEq)]
pub struct PathCheck {
    subject: Subject,
    path: String,
}

/// An API group: `kubernetes.authorization.GroupCheck`.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupCheck {
    subject: Subject,
    group: String,
}

/// Objects: `kubernetes.authorization.ResourceCheck`.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceCheck {
    subject: Subject,
    /// Their API group.
    pub group: String,
    /// Their resource.
    pub resource: String,
    /// The subresource; may be empty.
    pub subresource: String,
    /// The namespace; may be empty.
    pub namespace: String,
    /// The name; may be empty.
    pub name: String,
    /// The field selector as given; may be empty. One that cannot be parsed is ignored.
    pub field_selector: String,
    /// The label selector as given; may be empty. One that cannot be parsed is ignored.
    pub label_selector: String,
}

impl Subject {
    /// The value of the variable `authorizer`.
    pub fn new(user: Arc<User>, authorizer: Arc<dyn Authorizer>) -> Self {
        Self { user, authorizer }
    }

    /// A check of objects, the value of the variable `authorizer.requestResource`.
    pub fn resource(&self, group: &str, resource: &str) -> ResourceCheck {
        ResourceCheck {
            subject: self.clone(),
            group: group.to_owned(),
            resource: resource.to_owned(),
            subresource: String::new(),
            namespace: String::new(),
            name: String::new(),
            field_selector: String::new(),
            label_selector: String::new(),
        }
    }

    fn service_account(&self, namespace: &str, name: &str) -> Result<Self, Error> {
        if !names::subdomain(name, false).is_empty() {
            return Err(Error::new("Invalid service account name"));
        }
        if !names::label(namespace, false).is_empty() {
            return Err(Error::new("Invalid service account namespace"));
        }
        let groups = vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
        let user = User { name: format!("system:serviceaccount:{namespace}:{name}"), groups, ..User::default() };
        Ok(Self { user: user.into(), authorizer: Arc::clone(&self.authorizer) })
    }

    fn decide(&self, verb: &str, target: Target<'_>) -> Decision {
        self.authorizer.authorize(&self.user, verb, target)
    }
}

impl PartialEq for Subject {
    fn eq(&self, other: &Self) -> bool {
        self.user == other.user && Arc::ptr_eq(&self.authorizer, &other.authorizer)
    }
}

macro_rules! types {
    ($($name:ident $kind:literal)*) => { $(
        impl Opaque for $name {
            fn type_name(&self) -> &'static str {
                concat!("kubernetes.authorization.", $kind)
            }

            fn equals(&self, other: &dyn Opaque) -> bool {
                other.downcast() == Some(self)
            }
        }
    )* };
}

types! { Subject "Authorizer" PathCheck "PathCheck" GroupCheck "GroupCheck" ResourceCheck "ResourceCheck" Decision "Decision" }

fn named(kind: &str) -> Type {
    Type::Struct(format!("kubernetes.authorization.{kind}").into())
}

/// An authorization costs so much that an expression may have two.
const CHECK: Cost = Cost { estimate: |_| CallCost::of(Range::exactly(350_000)), charge: |_, _| 350_000 };

/// A selector is parsed; each two characters may be a requirement, which is a struct with a list.
const SELECTOR: Cost = Cost {
    estimate: |call| CallCost::of(selector(call.size(1))),
    charge: |args, _| selector(Range::exactly(args.get(1).map_or(0, Value::size))).max,
};

fn selector(size: Range) -> Range {
    Range::exactly(10).plus(size.scaled(TRAVERSAL)).plus(size.scaled(0.5).scaled(50.0))
}

/// The text of an argument that may not be blank.
fn named_text<'v>(args: &'v [Value<'_>], name: &str) -> Result<&'v str, Error> {
    let text = text(args, 1)?;
    if text.trim().is_empty() { Err(Error::new(format!("{name} must not be empty"))) } else { Ok(text) }
}

/// A function that sets a property of a check of objects.
fn property(name: &str, id: &str, set: fn(&mut ResourceCheck) -> &mut String) -> Function {
    Function::new(name).member(id, &[named("ResourceCheck"), Type::String], named("ResourceCheck")).does(
        move |args, _| {
            let mut check = opaque::<ResourceCheck>(args, 0)?.clone();
            text(args, 1)?.clone_into(set(&mut check));
            Ok(Value::opaque(check))
        },
    )
}

fn functions() -> Vec<Function> {
    vec![
        Function::new("path").member("authorizer_path", &[named("Authorizer"), Type::String], named("PathCheck")).does(
            |args, _| {
                let path = named_text(args, "path")?.to_owned();
                Ok(Value::opaque(PathCheck { subject: opaque::<Subject>(args, 0)?.clone(), path }))
            },
        ),
        Function::new("group")
            .member("authorizer_group", &[named("Authorizer"), Type::String], named("GroupCheck"))
            .does(|args, _| {
                let group = text(args, 1)?.to_owned();
                Ok(Value::opaque(GroupCheck { subject: opaque::<Subject>(args, 0)?.clone(), group }))
            }),
        Function::new("serviceAccount")
            .member(
                "authorizer_serviceaccount",
                &[named("Authorizer"), Type::String, Type::String],
                named("Authorizer"),
            )
            .does(|args, _| {
                opaque::<Subject>(args, 0)?.service_account(text(args, 1)?, text(args, 2)?).map(Value::opaque)
            }),
        Function::new("resource")
            .member("groupcheck_resource", &[named("GroupCheck"), Type::String], named("ResourceCheck"))
            .does(|args, _| {
                let check = opaque::<GroupCheck>(args, 0)?;
                Ok(Value::opaque(check.subject.resource(&check.group, named_text(args, "resource")?)))
            }),
        property("subresource", "resourcecheck_subresource", |check| &mut check.subresource),
        property("namespace", "resourcecheck_namespace", |check| &mut check.namespace),
        property("name", "resourcecheck_name", |check| &mut check.name),
        Function::new("check")
            .member("pathcheck_check", &[named("PathCheck"), Type::String], named("Decision"))
            .does(|args, _| {
                let check = opaque::<PathCheck>(args, 0)?;
                Ok(Value::opaque(check.subject.decide(text(args, 1)?, Target::Path(&check.path))))
            })
            .costs(CHECK)
            .member("resourcecheck_check", &[named("ResourceCheck"), Type::String], named("Decision"))
            .does(|args, _| {
                let check = opaque::<ResourceCheck>(args, 0)?;
                Ok(Value::opaque(check.subject.decide(text(args, 1)?, Target::Resource(check))))
            })
            .costs(CHECK)
            .costs_by_name(),
        accessor("errored", "decision_errored", named("Decision"), Type::Bool, |decision: &Decision| {
            Value::Bool(decision.error.is_some())
        }),
        accessor("error", "decision_error", named("Decision"), Type::String, |decision: &Decision| {
            decision.error.clone().unwrap_or_default().into()
        }),
        accessor("allowed", "decision_allowed", named("Decision"), Type::Bool, |decision: &Decision| {
            Value::Bool(decision.allowed)
        }),
        accessor("reason", "decision_reason", named("Decision"), Type::String, |decision: &Decision| {
            decision.reason.clone().into()
        }),
    ]
}

fn selectors() -> Vec<Function> {
    vec![
        property("fieldSelector", "authorizer_fieldselector", |check| &mut check.field_selector).costs(SELECTOR),
        property("labelSelector", "authorizer_labelselector", |check| &mut check.label_selector).costs(SELECTOR),
    ]
}
