//! Plans calls: operators that the evaluator knows, and functions by their overloads.
use std::{cmp::Ordering, sync::Arc};

use super::{
    Call, Charge, Comparison, Node, Target,
    planner::{Planned, Planner},
};
use crate::{
    Cost, Error, Function, Overload, Value,
    syntax::ast::{Expr, ExprKind, NodeId, operators},
};

/// What a call refers to.
struct Callee<'e> {
    name: Arc<str>,
    function: Option<&'e Function>,
    /// The overloads that the checker found.
    overloads: Vec<&'e Overload>,
}

impl<'e> Callee<'e> {
    /// The overload, if it is known.
    fn overload(&self) -> Option<&'e Overload> {
        match *self.overloads {
            [overload] => Some(overload),
            _ => None,
        }
    }

    /// Calls of unknown overloads cost 1, except for functions whose costs are known by their names.
    fn charge(&self) -> Charge {
        let named = || self.overloads.first().filter(|overload| overload.by_name).copied();
        self.overload().or_else(named).map_or(Cost::ONE.charge, |overload| overload.cost.charge)
    }

    /// What equality costs does not depend on types.
    fn equality(&self) -> Charge {
        let overload = self.function.and_then(|function| function.overloads.first());
        overload.map_or(Cost::ONE.charge, |overload| overload.cost.charge)
    }
}

impl<'e> Planner<'e> {
    pub(super) fn call(&mut self, id: NodeId, target: Option<&Expr>, function: &Arc<str>, args: &[Expr]) -> Planned {
        let (callee, target) = self.callee(id, target, function);
        if &*callee.name == "cel.@block" {
            let [values, body] = args else {
                return Err(Error::new(format!("cel.@block expects two arguments, but got {}", args.len())));
            };
            return self.block(values, body);
        }
        if let (operators::INDEX | operators::OPTIONAL_INDEX | operators::OPTIONAL_SELECT, [operand, index]) =
            (&*callee.name, args)
        {
            return self.index(operand, index, &*callee.name != operators::INDEX);
        }
        let arguments = self.arguments(target, args)?;
        self.applied(id, &callee, arguments)
    }

    /// The plans of the arguments, the receiver first. (Without iterators, whose frames would be many in deep expressions.)
    fn arguments(&mut self, target: Option<&Expr>, args: &[Expr]) -> Planned<Vec<Node>> {
        let mut arguments = Vec::with_capacity(args.len() + 1);
        if let Some(target) = target {
            arguments.push(self.plan(target)?);
        }
        for arg in args {
            arguments.push(self.plan(arg)?);
        }
        Ok(arguments)
    }

    fn applied(&self, id: NodeId, callee: &Callee<'e>, arguments: Vec<Node>) -> Planned {
        match self.operator(callee, arguments) {
            Ok(node) => Ok(node),
            Err(arguments) => {
                let node = self.function(id, callee, arguments)?;
                self.converted(&callee.name, node)
            }
        }
    }

    /// An operator that the evaluator knows; the arguments for another function.
    fn operator(&self, callee: &Callee<'e>, arguments: Vec<Node>) -> Result<Node, Vec<Node>> {
        if matches!(&*callee.name, operators::AND | operators::OR) {
            let terms = arguments.into();
            return Ok(if *callee.name == *operators::AND { Node::And(terms) } else { Node::Or(terms) });
        }
        if matches!(&*callee.name, operators::NOT_STRICTLY_FALSE | "__not_strictly_false__") && arguments.len() == 1 {
            return Ok(Node::NotStrictlyFalse(Box::new(arguments.into_iter().next().ok_or_else(Vec::new)?)));
        }
        if &*callee.name == operators::CONDITIONAL {
            let [condition, left, right] = <[Node; 3]>::try_from(arguments)?;
            return Ok(Self::conditional(condition, left, right));
        }
        let operands = <[Node; 2]>::try_from(arguments)?;
        let comparison = |operands, negated, charge| Comparison { operands, negated, charge };
        let id = callee.overload().map(|overload| &overload.id);
        Ok(match &*callee.name {
            operators::EQUALS => Node::Equals(Box::new(comparison(operands, false, callee.equality()))),
            operators::NOT_EQUALS => Node::Equals(Box::new(comparison(operands, true, callee.equality()))),
            operators::IN | "in" | "_in_" => self.membership(id, comparison(operands, false, callee.charge())),
            "or" if callee.function.is_some_and(|own| own.with_id("optional_or_optional").is_some()) => {
                Node::OptionalOr(Box::new(operands), false)
            }
            "orValue" if callee.function.is_some_and(|own| own.with_id("optional_orValue_value").is_some()) => {
                Node::OptionalOr(Box::new(operands), true)
            }
            _ => return Err(operands.into()),
        })
    }

    fn function(&self, id: NodeId, callee: &Callee<'e>, arguments: Vec<Node>) -> Planned {
        let mut target = target(callee, arguments.len())?;
        let mut stops = arguments.len() > 2;
        if self.env.base.settings.fold_constants
            && let Some(specialize) = specialize(callee)
            && let Some(Node::Constant(pattern)) = arguments.get(1)
            && matches!(**pattern, Value::String(_))
        {
            target = Target::One(specialize(pattern)?, None);
            stops = true;
        }
        let (function, charge) = (Arc::clone(&callee.name), callee.charge());
        let order = if matches!(target, Target::None) { None } else { orders(&function) };
        Ok(Node::Call(Box::new(Call { function, id, arguments: arguments.into(), target, charge, stops, order })))
    }

    /// The function that a call refers to, and the receiver, if the name is not one in a namespace.
    fn callee<'t>(&self, id: NodeId, target: Option<&'t Expr>, name: &Arc<str>) -> (Callee<'e>, Option<&'t Expr>) {
        if let Some(checked) = self.checked {
            let overloads = checked.overloads(id, name).collect();
            return (Callee { name: Arc::clone(name), function: self.env.function(name), overloads }, target);
        }
        let unchecked = |name: &Arc<str>, function| Callee { name: Arc::clone(name), function, overloads: Vec::new() };
        let qualified = match target {
            None => Some((**name).to_owned()),
            Some(target) => qualified_name(target).map(|target| format!("{target}.{name}")),
        };
        if let Some(function) = qualified.and_then(|qualified| self.env.find_function(&qualified)) {
            return (unchecked(&function.name, Some(function)), None);
        }
        let plain = name.strip_prefix('.').map_or_else(|| Arc::clone(name), Arc::from);
        (unchecked(&plain, self.env.function(&plain)), target)
    }
}

/// What a call does.
fn target(callee: &Callee<'_>, count: usize) -> Planned<Target> {
    let all = callee.function.map_or(&[][..], |function| &function.overloads);
    if let Some(overload) = callee.overload()
        && let Some(implementation) = &overload.implementation
    {
        let types = overload.guarded.then(|| overload.parameters.clone().into());
        return Ok(Target::One(Arc::clone(implementation), types));
    }
    let mut overloads = all.iter().filter_map(|own| Some((own, own.implementation.as_ref()?)));
    Ok(match (overloads.next(), overloads.next()) {
        (None, _) if count == 0 => return Err(Error::new(format!("no such overload: {}()", callee.name))),
        (None, _) => Target::None,
        (Some((first, implementation)), _) if !first.guarded => Target::One(Arc::clone(implementation), None),
        (Some((only, _)), None) if only.parameters.len() != count => {
            let arguments = ["", "arg", "lhs, rhs"].get(count).unwrap_or(&"...");
            return Err(Error::new(format!("no such overload: {}({arguments})", callee.name)));
        }
        _ => {
            let overload = |own: &Overload| {
                Some((Arc::clone(own.implementation.as_ref()?), own.parameters.clone().into_boxed_slice()))
            };
            Target::First(all.iter().filter_map(overload).collect())
        }
    })
}

/// How the function of a call makes its implementation for a constant second argument.
fn specialize(callee: &Callee<'_>) -> Option<crate::env::Specialize> {
    let first = || callee.function.and_then(|function| function.overloads.first());
    callee.overload().or_else(first)?.specialize
}

/// `a.b.c` as a name.
fn qualified_name(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Ident(name) => Some((**name).to_owned()),
        ExprKind::Select { operand, field, test_only: false } => Some(format!("{}.{field}", qualified_name(operand)?)),
        _ => None,
    }
}

/// The orders in which a comparison is true.
fn orders(function: &str) -> Option<[Ordering; 2]> {
    use Ordering::{Equal, Greater, Less};
    match function {
        operators::LESS => Some([Less, Less]),
        operators::LESS_EQUALS => Some([Less, Equal]),
        operators::GREATER => Some([Greater, Greater]),
        operators::GREATER_EQUALS => Some([Greater, Equal]),
        _ => None,
    }
}
