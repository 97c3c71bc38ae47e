//! Functions, their overloads, and libraries of functions and macros.
use std::{fmt, sync::Arc};

use crate::{Checked, Cost, Error, Issue, Meter, Type, Value, syntax::Macro};

/// A function with its overloads.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name, with dots for a function in a namespace: `ip.isCanonical`.
    pub name: Arc<str>,
    /// Its overloads, in the order in which they are tried.
    pub overloads: Vec<Overload>,
}

/// One signature of a function.
#[derive(Clone)]
pub struct Overload {
    /// Identifies it: `size_string`.
    pub id: Arc<str>,
    /// It is called on a receiver, which is the first parameter.
    pub member: bool,
    /// The types of its parameters.
    pub parameters: Vec<Type>,
    /// The type of its result.
    pub result: Type,
    /// What it does; `None` if the evaluator itself knows it (`&&`, `?:`, indexes).
    pub implementation: Option<Implementation>,
    /// Arguments are checked against the parameters before a call. Otherwise the implementation gets any arguments, whatever their
    /// types are, and gives the errors itself.
    pub guarded: bool,
    /// What a call costs.
    pub cost: Cost,
    /// Calls cost as much where the overload is not known until they run. Others cost 1 then.
    pub by_name: bool,
    /// Makes the implementation for calls whose second argument is a constant string.
    pub specialize: Option<Specialize>,
}

/// What a function does: arguments, the receiver first, to a result. Work that grows with the arguments is reported to the meter.
pub type Implementation = Arc<dyn for<'a> Fn(&[Value<'a>], &dyn Meter) -> Result<Value<'a>, Error> + Send + Sync>;

/// Makes an implementation for a constant second argument: a pattern that is compiled once. A program whose pattern is none cannot be made.
pub type Specialize = fn(&Value<'static>) -> Result<Implementation, Error>;

impl Function {
    /// A function without overloads.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), overloads: Vec::new() }
    }

    /// The overload with an id.
    pub fn with_id(&self, id: &str) -> Option<&Overload> {
        self.overloads.iter().find(|overload| *overload.id == *id)
    }

    /// With an overload that is called as a function.
    #[must_use]
    pub fn global(self, id: &str, parameters: &[Type], result: Type) -> Self {
        self.overload(id, false, parameters, result)
    }

    /// With an overload that is called on its first parameter.
    #[must_use]
    pub fn member(self, id: &str, parameters: &[Type], result: Type) -> Self {
        self.overload(id, true, parameters, result)
    }

    /// Adds the overloads that another library has of this function. One with the id of an overload that is there replaces it.
    pub(crate) fn merge(&mut self, other: Self) {
        for overload in other.overloads {
            match self.overloads.iter_mut().find(|own| own.id == overload.id) {
                Some(own) => *own = overload,
                None => self.overloads.push(overload),
            }
        }
    }

    fn overload(mut self, id: &str, member: bool, parameters: &[Type], result: Type) -> Self {
        let parameters = parameters.to_vec();
        self.overloads.push(Overload {
            id: id.into(),
            member,
            parameters,
            result,
            implementation: None,
            guarded: true,
            cost: Cost::ONE,
            by_name: false,
            specialize: None,
        });
        self
    }

    /// What the last overload does.
    #[must_use]
    pub fn does(
        mut self,
        implementation: impl for<'a> Fn(&[Value<'a>], &dyn Meter) -> Result<Value<'a>, Error> + Send + Sync + 'static,
    ) -> Self {
        if let Some(last) = self.overloads.last_mut() {
            last.implementation = Some(Arc::new(implementation));
        }
        self
    }

    /// The implementation of all overloads, for arguments of any types: cel-go's singleton functions.
    #[must_use]
    pub fn singleton(
        mut self,
        implementation: impl for<'a> Fn(&[Value<'a>], &dyn Meter) -> Result<Value<'a>, Error> + Send + Sync + 'static,
    ) -> Self {
        let implementation: Implementation = Arc::new(implementation);
        for overload in &mut self.overloads {
            overload.implementation = Some(Arc::clone(&implementation));
            overload.guarded = false;
        }
        self
    }

    /// All overloads so far make their implementations for constant second arguments.
    #[must_use]
    pub fn specialized(mut self, specialize: Specialize) -> Self {
        for overload in &mut self.overloads {
            overload.specialize = Some(specialize);
        }
        self
    }

    /// Calls of all overloads so far cost as much where the overload is not known until they run.
    #[must_use]
    pub fn costs_by_name(mut self) -> Self {
        for overload in &mut self.overloads {
            overload.by_name = true;
        }
        self
    }

    /// What calls of the last overload cost, if not 1.
    #[must_use]
    pub fn costs(mut self, cost: Cost) -> Self {
        if let Some(last) = self.overloads.last_mut() {
            last.cost = cost;
        }
        self
    }
}

impl fmt::Debug for Overload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overload").field("id", &self.id).field("parameters", &self.parameters).finish_non_exhaustive()
    }
}

/// Finds errors in a checked expression that are not errors of types: literals that no function accepts.
pub type Validator = fn(&Checked, &mut Vec<Issue>);

/// A library: functions, macros, names of types and validators that an environment has together.
#[derive(Debug)]
pub struct Library {
    /// Its name.
    pub name: &'static str,
    /// Its functions. Overloads of a function that another library has, too, are added to that one's.
    pub functions: fn() -> Vec<Function>,
    /// Its macros.
    pub macros: &'static [Macro],
    /// The names of its types, which are values of expressions (`net.IP`), with the types.
    pub types: fn() -> Vec<(&'static str, Type)>,
    /// Its validators.
    pub validators: &'static [Validator],
}
