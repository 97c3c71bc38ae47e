//! Constants, which kube-apiserver evaluates when an expression is compiled: they cost nothing, and their errors come before all others.
use kindsmith_cel::{
    Error, Reference, Unmetered, Value,
    syntax::ast::{Expr, ExprKind, operators},
};

use super::{Evaluated, INDEXES, Scope, Slow, names::check_key};

/// The functions whose calls with a constant are constants.
const CONVERSIONS: [&str; 10] =
    ["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"];

impl<'a> Slow<'a, '_> {
    /// True if an expression is a constant: a literal, the name of a type, and, where constants are folded, lists, maps and conversions
    /// of constants.
    pub(super) fn is_constant(&self, expr: &'a Expr) -> bool {
        let fold = self.settings.fold_constants;
        match &expr.kind {
            ExprKind::Literal(_) => true,
            ExprKind::Ident(_) | ExprKind::Select { .. } => self.constant_name(expr).is_some(),
            ExprKind::List(elements) => fold && elements.iter().all(|element| self.is_constant(&element.value)),
            ExprKind::Map(entries) => {
                fold && entries.iter().all(|entry| self.is_constant(&entry.key) && self.is_constant(&entry.value))
            }
            ExprKind::Call { .. } => fold && (self.is_conversion(expr) || self.is_search_of_nothing(expr)),
            _ => false,
        }
    }

    /// True for a conversion of a constant.
    pub(super) fn is_conversion(&self, expr: &'a Expr) -> bool {
        let ExprKind::Call { target, function, args } = &expr.kind else { return false };
        let (callee, target) = self.callee(expr, target.as_deref(), function);
        let arguments: Vec<_> = target.into_iter().chain(args).collect();
        self.settings.fold_constants
            && CONVERSIONS.contains(&&*callee.name)
            && matches!(&arguments[..], [argument] if self.is_constant(argument))
    }

    /// True for `x in []`, which is false whatever `x` is.
    pub(super) fn is_search_of_nothing(&self, expr: &'a Expr) -> bool {
        self.constant_list(expr).is_some_and(|list| list.is_empty())
    }

    /// The values of a constant list that is searched.
    pub(super) fn constant_list(&self, expr: &'a Expr) -> Option<Vec<Value<'a>>> {
        let ExprKind::Call { target: None, function, args } = &expr.kind else { return None };
        let [_, list] = &args[..] else { return None };
        let known = matches!(self.reference(expr), Some(Reference::Overloads(ids)) if matches!(&ids[..], [id] if **id == *"in_list"));
        if **function != *operators::IN || !known || !self.settings.fold_constants || !self.is_constant(list) {
            return None;
        }
        match self.free(|| self.value(list, &Scope::default())).ok()? {
            Value::List(list) => list.iter().map(Result::ok).collect(),
            _ => None,
        }
    }

    /// What makes it impossible to compile an expression: constants that fail.
    ///
    /// # Errors
    /// The first of them.
    pub(crate) fn compile(&self, expr: &'a Expr) -> Result<(), Error> {
        let (all, own): (Vec<&Expr>, _) = match &expr.kind {
            ExprKind::Struct { name, .. } => return Err(Error::new(format!("unknown type: {name}"))),
            ExprKind::Unspecified => return Err(Error::new("unsupported expr")),
            ExprKind::Literal(_) | ExprKind::Ident(_) => (Vec::new(), None),
            ExprKind::Select { operand, .. } => (vec![operand], None),
            ExprKind::List(elements) => (elements.iter().map(|element| &element.value).collect(), None),
            ExprKind::Map(entries) => (entries.iter().flat_map(|entry| [&entry.key, &entry.value]).collect(), None),
            ExprKind::Comprehension(own) => (vec![&own.init, &own.range, &own.condition, &own.step, &own.result], None),
            ExprKind::Call { target, function, args } => {
                let (_, target) = self.callee(expr, target.as_deref(), function);
                (target.into_iter().chain(args).collect(), Some((function, args)))
            }
        };
        for part in &all {
            self.compile(part)?;
        }
        if let Some(Reference::Name(name)) = self.reference(expr)
            && self.is_type(expr)
            && !self.names.types.contains(&**name)
        {
            return Err(Error::new(format!("reference to undefined type: {name}")));
        }
        let Some((function, args)) = own else { return Ok(()) };
        if INDEXES.contains(&&**function) && args.len() == 2 {
            return if self.is_constant(&args[1]) {
                self.free(|| self.value(&args[1], &Scope::default())).and_then(|key| check_key(&key))
            } else {
                Ok(())
            };
        }
        self.compile_call(expr, &all)
    }

    fn compile_call(&self, expr: &'a Expr, arguments: &[&'a Expr]) -> Result<(), Error> {
        if self.is_conversion(expr) {
            return self.free(|| self.value(expr, &Scope::default())).map(drop);
        }
        let ExprKind::Call { target, function, .. } = &expr.kind else { return Ok(()) };
        let (callee, _) = self.callee(expr, target.as_deref(), function);
        if Self::is_special(&callee.name, arguments.len()) {
            return Ok(());
        }
        callee.exists(arguments.len())?;
        self.pattern(&callee, arguments).map_or(Ok(()), |pattern| pattern.map(drop))
    }

    /// Calls with a constant pattern have a function of their own, which is made ahead.
    pub(super) fn pattern(
        &self,
        callee: &super::call::Callee<'_>,
        arguments: &[&'a Expr],
    ) -> Option<Result<kindsmith_cel::Implementation, Error>> {
        let specialize = callee.overload().or_else(|| callee.all.first())?.specialize?;
        let pattern = *arguments.get(1)?;
        if !self.settings.fold_constants || !self.is_constant(pattern) {
            return None;
        }
        let pattern: Evaluated<'a> = self.free(|| self.value(pattern, &Scope::default()));
        match pattern.ok()?.into_owned() {
            Ok(pattern @ Value::String(_)) => Some(specialize(&pattern)),
            _ => None,
        }
    }
}

/// True if a value is one of a set of constants: numbers of other types count if they are the same.
pub(super) fn is_member(value: &Value<'_>, item: &Value<'_>) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "cel-go loses precision here, too")]
    let forms = match *item {
        Value::Int(int) => vec![Some(Value::Double(int as f64)), u64::try_from(int).ok().map(Value::Uint)],
        Value::Uint(uint) => vec![Some(Value::Double(uint as f64)), i64::try_from(uint).ok().map(Value::Int)],
        Value::Double(double) => vec![whole(double).map(Value::Int), whole(double).map(Value::Uint)],
        _ => Vec::new(),
    };
    let same = |form: &Value<'_>| form.type_name() == value.type_name() && form.equals(value, &Unmetered) == Ok(true);
    same(item) || forms.iter().flatten().any(same)
}

/// A double as a whole number, if it is one.
#[expect(clippy::cast_possible_truncation, reason = "only whole numbers of that size pass")]
fn whole<T: TryFrom<i128>>(double: f64) -> Option<T> {
    if double.fract() != 0.0 || double.abs() > 2e19 {
        return None;
    }
    T::try_from(double as i128).ok()
}
