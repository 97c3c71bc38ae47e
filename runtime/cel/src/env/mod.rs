//! What an expression may refer to: variables, functions with their overloads, types, macros; and the settings of the language.
//!
//! `declare` has functions and libraries, `checked` an expression whose names are resolved; `names` looks names up; this file has the environment.
use std::{
    collections::{HashMap, hash_map::Entry},
    fmt,
    sync::Arc,
};

mod checked;
mod declare;
mod names;

pub use self::{
    checked::{Checked, Reference},
    declare::{Function, Implementation, Library, Overload, Specialize, Validator},
};
use super::{
    Issues, Source, Type,
    syntax::{self, Limits, Macro, Options, ast::Ast},
};

/// The settings of the language.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent switches")]
pub struct Settings {
    /// Optional values and their syntax.
    pub optional_syntax: bool,
    /// Names in backticks.
    pub escaped_identifiers: bool,
    /// `<`, `<=`, `>` and `>=` between `int`, `uint` and `double`.
    pub cross_type_comparisons: bool,
    /// `has(a.b)` costs 1 itself. In Kubernetes it does not.
    pub presence_tests_cost: bool,
    /// `has(a.b)` of a scalar `a` is an error, not false.
    pub bad_presence_tests_fail: bool,
    /// Constant parts are evaluated when a program is made, and cost nothing later.
    pub fold_constants: bool,
    /// The limits of the parser.
    pub limits: Limits,
}

/// The types with fields. A type is found by its name, so that types may refer to each other.
pub trait TypeProvider: fmt::Debug + Send + Sync {
    /// True if there is such a type.
    fn has(&self, structure: &str) -> bool;

    /// The type of a field.
    fn field(&self, structure: &str, field: &str) -> Option<Type>;
}

/// An environment. Cloning it, and adding variables, is cheap.
#[derive(Clone, Debug)]
pub struct Env {
    pub(crate) base: Arc<Base>,
    pub(crate) container: Arc<str>,
    pub(crate) variables: HashMap<Arc<str>, Type>,
    pub(crate) provider: Option<Arc<dyn TypeProvider>>,
}

/// What many environments share.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) settings: Settings,
    pub(crate) functions: HashMap<Arc<str>, Function>,
    pub(crate) macros: Vec<&'static [Macro]>,
    /// The names of types which are values of expressions.
    pub(crate) types: HashMap<Arc<str>, Type>,
    pub(crate) validators: Vec<Validator>,
}

impl Env {
    /// The environment of libraries.
    pub fn new(settings: Settings, libraries: &[&Library]) -> Self {
        let mut functions = HashMap::new();
        for function in libraries.iter().flat_map(|library| (library.functions)()) {
            match functions.entry(Arc::clone(&function.name)) {
                Entry::Vacant(entry) => {
                    entry.insert(function);
                }
                Entry::Occupied(mut entry) => entry.get_mut().merge(function),
            }
        }
        let types = libraries.iter().flat_map(|library| (library.types)());
        let base = Base {
            settings,
            functions,
            macros: libraries.iter().map(|library| library.macros).collect(),
            types: types.map(|(name, kind)| (name.into(), kind)).collect(),
            validators: libraries.iter().flat_map(|library| library.validators).copied().collect(),
        };
        Self { base: Arc::new(base), container: "".into(), variables: HashMap::new(), provider: None }
    }

    /// With a further variable.
    #[must_use]
    pub fn variable(mut self, name: &str, kind: Type) -> Self {
        self.variables.insert(name.into(), kind);
        self
    }

    /// With types that have fields.
    #[must_use]
    pub fn types(mut self, provider: Arc<dyn TypeProvider>) -> Self {
        self.provider = Some(provider);
        self
    }

    /// With the name scope in which names are looked up first.
    #[must_use]
    pub fn container(mut self, name: &str) -> Self {
        self.container = name.into();
        self
    }

    /// A function, by its whole name.
    pub(crate) fn function(&self, name: &str) -> Option<&Function> {
        self.base.functions.get(name)
    }

    /// An overload of a function.
    pub(crate) fn overload(&self, function: &str, id: &str) -> Option<&Overload> {
        self.function(function)?.with_id(id)
    }

    /// Parses an expression.
    ///
    /// # Errors
    /// The errors of its syntax.
    pub fn parse(&self, text: &str) -> Result<Ast, Issues> {
        self.parse_source(&Source::new(text))
    }

    pub(crate) fn parse_source(&self, source: &Source) -> Result<Ast, Issues> {
        let Settings { optional_syntax: optional, escaped_identifiers, limits, .. } = self.base.settings;
        syntax::parse(source, Options { optional, escaped_identifiers, limits }, &self.base.macros)
    }
}
