//! Expressions at random, nearly all of them well-typed: of a wanted type, from variables, literals, macros, and every function that the
//! libraries declare.
use std::collections::HashMap;

use kindsmith_cel::{Overload, Type};

use crate::{
    literal,
    random::Random,
    schema::{FIELDS, OBJECT},
    setup::{Setup, typed},
};

mod macros;

/// Makes expressions.
pub(crate) struct Maker<'m> {
    pub(super) random: &'m mut Random,
    /// All functions that expressions call by themselves.
    functions: Vec<(&'m str, &'m Overload)>,
    pub(super) binds: bool,
    /// The variables in scope.
    pub(super) scope: Vec<(String, Type)>,
    pub(super) loops: usize,
}

impl<'m> Maker<'m> {
    pub(crate) fn new(setup: &'m Setup, random: &'m mut Random) -> Self {
        let all = setup.names.functions.iter();
        let mut functions: Vec<_> = all
            .flat_map(|(name, function)| function.overloads.iter().map(|overload| (&**name, overload)))
            .filter(|(name, _)| !name.contains(".@") && !name.starts_with("@not") && *name != "_?._")
            .collect();
        functions.sort_by_key(|(name, overload)| (*name, overload.id.clone()));
        Self { random, functions, binds: setup.binds, scope: typed(), loops: 0 }
    }

    /// An expression of any type.
    pub(crate) fn any(&mut self) -> String {
        let kind = if self.random.one_in(2) { Type::Bool } else { self.kind(2) };
        let depth = 1 + self.random.below(4);
        self.make(&kind, depth)
    }

    /// A type.
    pub(super) fn kind(&mut self, depth: usize) -> Type {
        let simple = [
            Type::Bool,
            Type::Int,
            Type::String,
            Type::Int,
            Type::String,
            Type::Uint,
            Type::Double,
            Type::Bytes,
            Type::Duration,
            Type::Timestamp,
            Type::Dyn,
            Type::Struct(OBJECT.into()),
        ];
        match self.random.below(if depth == 0 { 10 } else { 16 }) {
            10 | 11 => Type::list(self.kind(depth - 1)),
            12 => Type::map(self.random.pick(&[Type::String, Type::Int]).clone(), self.kind(depth - 1)),
            13 => Type::optional(self.kind(depth - 1)),
            14 => Type::list(Type::String),
            15 => {
                let results: Vec<Type> = self.functions.iter().map(|(_, overload)| overload.result.clone()).collect();
                match self.random.pick(&results) {
                    Type::Parameter(_) => Type::Int,
                    kind if kind.to_string().len() > 1 => kind.clone(),
                    _ => Type::Int,
                }
            }
            _ => self.random.pick(&simple).clone(),
        }
    }

    /// An expression of a type.
    pub(super) fn make(&mut self, kind: &Type, depth: usize) -> String {
        if depth == 0 || self.random.one_in(6) {
            return self.leaf(kind, depth);
        }
        let below = depth - 1;
        match self.random.below(12) {
            0..5 => self.call(kind, below),
            5..8 => self.by_macro(kind, below),
            8 => {
                format!("({} ? {} : {})", self.make(&Type::Bool, below), self.make(kind, below), self.make(kind, below))
            }
            9 => match self.random.below(3) {
                0 => format!("{}[{}]", self.make(&Type::list(kind.clone()), below), self.make(&Type::Int, below)),
                1 => {
                    let key = self.random.pick(&[Type::String, Type::Int]).clone();
                    format!("{}[{}]", self.make(&Type::map(key.clone(), kind.clone()), below), self.make(&key, below))
                }
                _ => format!("{}.a", self.make(&Type::map(Type::String, kind.clone()), below)),
            },
            _ => self.constructed(kind, below),
        }
    }

    /// A variable with fields, or a literal.
    fn leaf(&mut self, kind: &Type, depth: usize) -> String {
        if !self.random.one_in(3)
            && let Some(variable) = self.variable(kind)
        {
            return variable;
        }
        self.literal(kind, depth)
    }

    fn variable(&mut self, kind: &Type) -> Option<String> {
        let fits: Vec<String> = self
            .scope
            .iter()
            .filter(|(_, own)| own == kind || *kind == Type::Dyn)
            .map(|(name, _)| name.clone())
            .collect();
        let objects: Vec<String> =
            self.scope.iter().filter(|(_, own)| own.name() == OBJECT).map(|(name, _)| name.clone()).collect();
        let fields: Vec<&str> =
            FIELDS.iter().filter(|(_, own)| own.kind() == *kind || *kind == Type::Dyn).map(|(name, _)| *name).collect();
        if !fits.is_empty() && (fields.is_empty() || self.random.one_in(2)) {
            return Some(self.random.pick(&fits).clone());
        }
        if fields.is_empty() {
            return None;
        }
        let field = *self.random.pick(&fields);
        let way = *self.random.pick(&["", "", "", ".inner", ".items[0]", ".keyed[0]", ".inner.inner"]);
        Some(format!("{}{way}.{field}", self.random.pick(&objects)))
    }

    fn literal(&mut self, kind: &Type, depth: usize) -> String {
        match kind {
            Type::List(of) if depth > 0 => format!("[{}]", self.make(of, depth - 1)),
            Type::List(_) => "[]".to_owned(),
            Type::Map(key, of) if depth > 0 => {
                format!("{{{}: {}}}", self.make(key, depth - 1), self.make(of, depth - 1))
            }
            Type::Map(..) => "{}".to_owned(),
            kind if kind.unwrapped().is_some() => {
                let inner = kind.unwrapped().expect("it is one").clone();
                if self.random.one_in(3) {
                    "optional.none()".to_owned()
                } else {
                    format!("optional.of({})", self.leaf(&inner, depth))
                }
            }
            Type::Struct(name) if **name == *OBJECT => {
                (*self.random.pick(&["self", "self.inner", "self.items[0]"])).to_owned()
            }
            Type::Dyn => {
                let kind = self.random.pick(&[Type::Int, Type::String, Type::Double, Type::Null, Type::Uint]).clone();
                format!("dyn({})", literal::of(&kind, "", self.random))
            }
            kind => literal::of(kind, "", self.random),
        }
    }

    /// A list, map or optional value from parts; otherwise a leaf.
    fn constructed(&mut self, kind: &Type, depth: usize) -> String {
        let count = self.random.below(4);
        match kind {
            Type::List(of) => {
                let items: Vec<_> = (0..count).map(|_| self.element(of, depth)).collect();
                format!("[{}]", items.join(", "))
            }
            Type::Map(key, of) => {
                let entry = |maker: &mut Self| {
                    let key = maker.make(key, depth);
                    let value = maker.element(of, depth);
                    match value.strip_prefix('?') {
                        Some(value) => format!("?{key}: {value}"),
                        None => format!("{key}: {value}"),
                    }
                };
                let entries: Vec<_> = (0..count).map(|_| entry(self)).collect();
                format!("{{{}}}", entries.join(", "))
            }
            kind => match kind.unwrapped().cloned() {
                Some(of) if self.random.one_in(2) => {
                    format!("{}[?{}]", self.make(&Type::list(of), depth), self.make(&Type::Int, depth))
                }
                Some(of) => {
                    let field = *self.random.pick(&["a", "name", "inner"]);
                    format!("{}.?{field}", self.make(&Type::map(Type::String, of), depth))
                }
                None => self.leaf(kind, depth),
            },
        }
    }

    fn element(&mut self, kind: &Type, depth: usize) -> String {
        if self.random.one_in(6) {
            return format!("?{}", self.make(&Type::optional(kind.clone()), depth));
        }
        self.make(kind, depth)
    }

    /// A call of a function whose result fits.
    pub(super) fn call(&mut self, kind: &Type, depth: usize) -> String {
        let fits = |(name, overload): &&(&'m str, &'m Overload)| {
            let mut bound = HashMap::new();
            (*kind == Type::Dyn || unify(&overload.result, kind, &mut bound)).then_some((*name, *overload, bound))
        };
        let mut all: Vec<_> = self.functions.iter().filter_map(|function| fits(&function)).collect();
        if all.is_empty() {
            return self.leaf(kind, depth);
        }
        let index = self.random.below(all.len());
        let (name, overload, mut bound) = all.swap_remove(index);
        let mut arguments = Vec::new();
        for (position, parameter) in overload.parameters.iter().enumerate() {
            let kind = self.substituted(parameter, &mut bound);
            let special = literal::is_special(name, position) && !self.random.one_in(5);
            arguments.push(if special && matches!(kind, Type::String | Type::Int) {
                literal::of(&kind, name, self.random)
            } else {
                self.make(&kind, depth)
            });
        }
        printed(name, overload.member, &arguments)
    }

    /// A type with its parameters replaced.
    fn substituted(&mut self, kind: &Type, bound: &mut HashMap<String, Type>) -> Type {
        match kind {
            Type::Parameter(name) => bound.entry((**name).to_owned()).or_insert_with(|| self.kind(1)).clone(),
            Type::List(of) => Type::list(self.substituted(of, bound)),
            Type::Map(key, of) => Type::map(self.substituted(key, bound), self.substituted(of, bound)),
            Type::Opaque(name, of) => {
                Type::Opaque(name.clone(), of.iter().map(|of| self.substituted(of, bound)).collect())
            }
            other => other.clone(),
        }
    }
}

/// True if a type of a signature is a wanted type, with parameters replaced.
fn unify(pattern: &Type, kind: &Type, bound: &mut HashMap<String, Type>) -> bool {
    match (pattern, kind) {
        (Type::Parameter(name), kind) => bound.entry((**name).to_owned()).or_insert_with(|| kind.clone()) == kind,
        (Type::List(pattern), Type::List(kind)) => unify(pattern, kind, bound),
        (Type::Map(key, pattern), Type::Map(of, kind)) => unify(key, of, bound) && unify(pattern, kind, bound),
        (Type::Opaque(pattern, of), Type::Opaque(kind, with)) => {
            pattern == kind && of.len() == with.len() && of.iter().zip(with.iter()).all(|(a, b)| unify(a, b, bound))
        }
        (pattern, kind) => pattern == kind,
    }
}

/// A call as it is written.
fn printed(name: &str, member: bool, arguments: &[String]) -> String {
    match (name, arguments) {
        ("!_", [operand]) => format!("!({operand})"),
        ("-_", [operand]) => format!("-({operand})"),
        ("_[_]", [list, index]) => format!("({list})[{index}]"),
        ("_[?_]", [list, index]) => format!("({list})[?{index}]"),
        ("@in", [value, list]) => format!("({value} in {list})"),
        ("_?_:_", [condition, left, right]) => format!("({condition} ? {left} : {right})"),
        (operator, [left, right]) if operator.starts_with('_') => {
            format!("({left} {} {right})", operator.trim_matches('_'))
        }
        (name, [receiver, arguments @ ..]) if member => format!("({receiver}).{name}({})", arguments.join(", ")),
        (name, arguments) => format!("{name}({})", arguments.join(", ")),
    }
}
