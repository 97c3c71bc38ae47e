//! The substitutes of type parameters, and which types fit where: assignability, general types and joins, as cel-go has them.
//!
//! Types of an expression stay below a size, and comparing them below an amount of work: cel-go has no such limits, and takes exponential
//! time for hostile expressions.
use std::{collections::HashMap, sync::Arc};

use crate::Type;

/// The most parts of a type.
const MOST_PARTS: u32 = 512;

/// The most steps for the types of one expression.
const MOST_STEPS: u32 = 2_000_000;

/// What type parameters stand for.
#[derive(Debug, Default)]
pub(super) struct Substitutions {
    bound: HashMap<Arc<str>, Type>,
    /// What to restore if an attempt fails: parameters with what they stood for.
    trail: Vec<(Arc<str>, Option<Type>)>,
    steps: u32,
    depth: u32,
    /// A limit is exceeded: the results are not to be used.
    pub(super) exceeded: bool,
}

impl Substitutions {
    /// True if a value of a type can be used where another type is expected. What parameters have to stand for is kept then.
    pub(super) fn assign(&mut self, from: &Type, to: &Type) -> bool {
        self.attempt(|substitutions| substitutions.fits(from, to))
    }

    /// Keeps what an attempt bound if it succeeds.
    pub(super) fn attempt(&mut self, attempt: impl FnOnce(&mut Self) -> bool) -> bool {
        self.trail.clear();
        let fits = attempt(self);
        if !fits {
            while let Some((name, before)) = self.trail.pop() {
                match before {
                    Some(before) => self.bound.insert(name, before),
                    None => self.bound.remove(&name),
                };
            }
        }
        fits
    }

    /// The more general of two types if one fits the other, otherwise `dyn`.
    pub(super) fn join(&mut self, previous: &Type, current: &Type) -> Type {
        if self.assign(previous, current) { more_general(previous, current).clone() } else { Type::Dyn }
    }

    /// A type with parameters replaced by what they stand for.
    pub(super) fn substitute(&mut self, kind: Type) -> Type {
        self.replaced(&kind, false).unwrap_or(kind)
    }

    /// A type without parameters: free ones are `dyn`.
    pub(super) fn close(&mut self, kind: Type) -> Type {
        self.replaced(&kind, true).unwrap_or(kind)
    }

    /// A type that was made, unless it is too large. Others are measured when parameters are replaced.
    pub(super) fn measured(&mut self, kind: Type) -> Type {
        let mut parts = 0;
        self.count(&kind, &mut parts);
        self.spend(parts);
        if self.exceeded { Type::Error } else { kind }
    }

    /// The substitute of a parameter at the end of the chain, or the type itself.
    pub(super) fn resolve<'t>(&'t self, mut kind: &'t Type) -> &'t Type {
        // No parameter stands for itself, but the number of links is limited by that of parameters anyway.
        for _ in 0..=self.bound.len() {
            let Type::Parameter(name) = kind else { break };
            let Some(next) = self.bound.get(name) else { break };
            kind = next;
        }
        kind
    }

    fn count(&mut self, kind: &Type, parts: &mut u32) {
        *parts += 1;
        if *parts > MOST_PARTS {
            self.exceeded = true;
        } else {
            kind.parameters().for_each(|part| self.count(part, parts));
        }
    }

    fn replaced(&mut self, kind: &Type, close: bool) -> Option<Type> {
        let mut parts = 0;
        let replaced = self.replace(kind, close, &mut parts);
        self.spend(parts);
        self.exceeded |= parts > MOST_PARTS;
        replaced
    }

    fn spend(&mut self, steps: u32) {
        self.steps = self.steps.saturating_add(steps);
        self.exceeded |= self.steps > MOST_STEPS;
    }

    /// The type with its parameters replaced, if there are any.
    fn replace(&mut self, kind: &Type, close: bool, parts: &mut u32) -> Option<Type> {
        *parts += 1;
        if *parts > MOST_PARTS {
            return None;
        }
        let mut replace = |part: &Type| self.replace(part, close, parts);
        match kind {
            Type::Parameter(name) => match self.bound.get(name).cloned() {
                Some(bound) => Some(self.replace(&bound, close, parts).unwrap_or(bound)),
                None => close.then_some(Type::Dyn),
            },
            Type::List(element) => replace(element).map(Type::list),
            Type::Type(Some(value)) => replace(value).map(Type::of_type),
            Type::Map(key, value) => match (replace(key), replace(value)) {
                (None, None) => None,
                (new_key, new_value) => Some(Type::Map(
                    new_key.map_or_else(|| Arc::clone(key), Arc::new),
                    new_value.map_or_else(|| Arc::clone(value), Arc::new),
                )),
            },
            Type::Opaque(name, parameters) => {
                let new: Vec<_> = parameters.iter().map(replace).collect();
                new.iter().any(Option::is_some).then(|| {
                    let parts = new.into_iter().zip(&**parameters).map(|(new, old)| new.unwrap_or_else(|| old.clone()));
                    Type::Opaque(Arc::clone(name), parts.collect())
                })
            }
            _ => None,
        }
    }

    /// As [`Substitutions::assign`], within an attempt.
    pub(super) fn fits(&mut self, from: &Type, to: &Type) -> bool {
        self.spend(1);
        self.depth += 1;
        self.exceeded |= self.depth > MOST_PARTS;
        let fits = !self.exceeded && self.fits_here(from, to);
        self.depth -= 1;
        fits
    }

    fn fits_here(&mut self, from: &Type, to: &Type) -> bool {
        if let Type::Parameter(name) = to {
            let (fits, bound) = self.stands_for(from, to, name);
            if fits || bound {
                return fits;
            }
        }
        if let Type::Parameter(name) = from {
            return self.stands_for(to, from, name).0;
        }
        match (from, to) {
            (Type::Opaque(name, parts), Type::Opaque(other, others)) => {
                name == other
                    && parts.len() == others.len()
                    && parts.iter().zip(&**others).all(|(part, other)| self.fits(part, other))
            }
            (Type::List(element), Type::List(other)) => self.fits(element, other),
            (Type::Map(key, value), Type::Map(other_key, other)) => {
                self.fits(key, other_key) && self.fits(value, other)
            }
            _ => may_fit(from, to),
        }
    }

    /// If a type parameter may stand for a type, and if it stood for a type before.
    fn stands_for(&mut self, kind: &Type, parameter: &Type, name: &Arc<str>) -> (bool, bool) {
        if kind == parameter {
            return (true, true);
        }
        if let Some(bound) = self.bound.get(name).cloned() {
            if *kind == bound {
                return (true, true);
            }
            let fits = self.fits(kind, &bound);
            let general = more_general(kind, &bound);
            if fits && !self.occurs(parameter, general) {
                self.bind(name, general.clone());
            }
            return (fits, true);
        }
        let fits = !self.occurs(parameter, kind);
        if fits {
            self.bind(name, kind.clone());
        }
        (fits, false)
    }

    fn bind(&mut self, name: &Arc<str>, kind: Type) {
        let before = self.bound.insert(Arc::clone(name), kind);
        self.trail.push((Arc::clone(name), before));
    }

    /// True if a type parameter occurs in a type, which it can then not stand for.
    fn occurs(&mut self, parameter: &Type, kind: &Type) -> bool {
        self.spend(1);
        self.depth += 1;
        self.exceeded |= self.depth > MOST_PARTS;
        let occurs = self.exceeded
            || parameter == kind
            || match kind {
                Type::Parameter(name) => match self.bound.get(name).cloned() {
                    Some(bound) => self.occurs(parameter, &bound),
                    None => false,
                },
                _ => kind.parameters().any(|part| self.occurs(parameter, part)),
            };
        self.depth -= 1;
        occurs
    }
}

/// False if a type cannot be used where another one is expected, whatever parameters inside stand for. For simple types, it is the answer.
pub(super) fn may_fit(from: &Type, to: &Type) -> bool {
    match (from, to) {
        (Type::Parameter(_) | Type::Dyn | Type::Any | Type::Error, _)
        | (_, Type::Parameter(_) | Type::Dyn | Type::Any | Type::Error)
        | (Type::Type(_), Type::Type(_))
        | (Type::List(_), Type::List(_))
        | (Type::Map(..), Type::Map(..)) => true,
        (Type::Null, other) | (other, Type::Null) => is_nullable(other),
        (Type::Opaque(name, _), Type::Opaque(other, _)) => name == other,
        _ => from == to,
    }
}

/// True for types that `null` fits.
const fn is_nullable(kind: &Type) -> bool {
    matches!(kind, Type::Null | Type::Opaque(..) | Type::Struct(_) | Type::Any | Type::Duration | Type::Timestamp)
}

/// The more general of two types of which one fits the other.
fn more_general<'t>(left: &'t Type, right: &'t Type) -> &'t Type {
    if is_as_general(left, right) { left } else { right }
}

fn is_as_general(left: &Type, right: &Type) -> bool {
    match (left, right) {
        (Type::Dyn | Type::Any | Type::Parameter(_), _) | (Type::Type(_), Type::Type(_)) => true,
        (_, Type::Dyn | Type::Any | Type::Parameter(_)) => false,
        (Type::Opaque(name, parts), Type::Opaque(other, others)) => {
            name == other
                && parts.len() == others.len()
                && parts.iter().zip(&**others).all(|(part, other)| is_as_general(part, other))
        }
        (Type::List(element), Type::List(other)) => is_as_general(element, other),
        (Type::Map(key, value), Type::Map(other_key, other)) => {
            is_as_general(key, other_key) && is_as_general(value, other)
        }
        _ => left == right,
    }
}
