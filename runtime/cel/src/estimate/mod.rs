//! The estimated cost of a checked expression: a walk over it. `nodes` has what is known of its nodes.
use crate::{
    Checked, Cost, Type,
    cost::{
        Argument, Call, CallCost, LIST, MAP, Range, STRUCT, Sizes,
        path::{INDICES, ITEMS, KEYS, Path, VALUES},
    },
    syntax::ast::{Comprehension, Expr, ExprKind, Literal, operators},
};

mod nodes;
#[cfg(test)]
mod tests;

use self::nodes::{Entries, Local, Nodes};

impl Checked {
    /// The estimated cost of the expression.
    pub fn estimate(&self, sizes: &dyn Sizes) -> Range {
        Estimator { checked: self, nodes: Nodes::new(self, sizes) }.cost(&self.ast.root)
    }
}

struct Estimator<'e> {
    checked: &'e Checked,
    nodes: Nodes<'e>,
}

impl<'e> Estimator<'e> {
    fn cost(&mut self, expr: &'e Expr) -> Range {
        match &expr.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) => Range::ZERO,
            ExprKind::Ident(name) => {
                let path = self.nodes.local(name).map(|local| local.path);
                let path = path.unwrap_or_else(|| self.nodes.paths.append(Path::default(), name));
                self.nodes.set_path(expr, path);
                Range::ONE
            }
            ExprKind::Select { operand, field, test_only } => self.select(expr, operand, field, *test_only),
            ExprKind::Call { target, function, args } => self.call(expr, target.as_deref(), function, args),
            ExprKind::List(elements) => self.list(expr, elements.iter().map(|element| &element.value)),
            ExprKind::Map(entries) => self.map(expr, entries.iter().map(|entry| (&entry.key, &entry.value))),
            ExprKind::Struct { fields, .. } => {
                fields.iter().fold(Range::exactly(STRUCT), |sum, field| sum.plus(self.cost(&field.value)))
            }
            ExprKind::Comprehension(comprehension) if is_bind(comprehension) => self.bind(expr, comprehension),
            ExprKind::Comprehension(comprehension) => self.comprehension(expr, comprehension),
        }
    }

    fn select(&mut self, expr: &'e Expr, operand: &'e Expr, field: &'e str, test_only: bool) -> Range {
        let cost = self.cost(operand);
        if test_only {
            let itself = u64::from(self.checked.env.base.settings.presence_tests_cost);
            return cost.plus(Range::exactly(itself));
        }
        self.nodes.continue_path(expr, operand, field);
        match self.nodes.kind(operand) {
            Type::Map(..) | Type::Struct(_) | Type::Parameter(_) => cost.plus(Range::ONE),
            _ => cost,
        }
    }

    fn list(&mut self, expr: &'e Expr, elements: impl ExactSizeIterator<Item = &'e Expr>) -> Range {
        let mut value = if elements.len() == 0 { Range::ZERO } else { Range::EMPTY };
        let mut cost = Range::exactly(LIST);
        for element in elements {
            cost = cost.plus(self.cost(element));
            value = value.union(self.nodes.size(element));
        }
        self.nodes.set_entries(expr, Some(Entries { map: false, key: Range::ONE, value }));
        cost
    }

    fn map(&mut self, expr: &'e Expr, entries: impl ExactSizeIterator<Item = (&'e Expr, &'e Expr)>) -> Range {
        let empty = if entries.len() == 0 { Range::ZERO } else { Range::EMPTY };
        let (mut keys, mut values) = (empty, empty);
        let mut cost = Range::exactly(MAP);
        for (key, value) in entries {
            cost = cost.plus(self.cost(key)).plus(self.cost(value));
            keys = keys.union(self.nodes.size(key));
            values = values.union(self.nodes.size(value));
        }
        self.nodes.set_entries(expr, Some(Entries { map: true, key: keys, value: values }));
        cost
    }

    fn bind(&mut self, expr: &'e Expr, bind: &'e Comprehension) -> Range {
        let cost = self.cost(&bind.range).plus(self.cost(&bind.init));
        self.nodes.declare(&bind.accumulator, &bind.init);
        let cost = cost.plus(self.cost(&bind.result));
        self.nodes.locals.pop();
        let size = self.nodes.known_size(&bind.result);
        self.nodes.set_size(expr, size);
        self.nodes.set_entries(expr, self.nodes.entries(&bind.result));
        cost
    }

    fn comprehension(&mut self, expr: &'e Expr, of: &'e Comprehension) -> Range {
        let cost = self.cost(&of.range).plus(self.cost(&of.init));
        self.nodes.declare(&of.accumulator, &of.init);
        self.iterate(of);
        let each = self.cost(&of.condition).plus(self.cost(&of.step));
        let variables = 1 + usize::from(of.second.is_some());
        self.nodes.locals.truncate(self.nodes.locals.len() - variables);
        let cost = cost.plus(self.cost(&of.result));
        self.nodes.locals.pop();
        // Looked up after the loop, whose paths may have changed that of the range.
        let count = self.nodes.size(&of.range);
        match &of.init.kind {
            ExprKind::Literal(_) => {
                let size = self.nodes.known_size(&of.init);
                self.nodes.set_size(expr, size);
            }
            ExprKind::List(_) | ExprKind::Map(_) => {
                self.nodes.set_size(expr, Some(count));
                self.nodes.set_entries(expr, self.nodes.entries(&of.step));
            }
            _ => {}
        }
        cost.plus(count.times(each))
    }

    /// Declares the variables of a loop.
    fn iterate(&mut self, of: &'e Comprehension) {
        let entries = self.nodes.entries(&of.range);
        let list = entries.map_or_else(|| matches!(self.nodes.kind(&of.range), Type::List(_)), |entries| !entries.map);
        let key = entries.map(|entries| entries.key);
        let value = entries.map(|entries| entries.value);
        let (indices, elements) = if list { (INDICES, ITEMS) } else { (KEYS, VALUES) };
        let mut declare = |name: &'e str, step, size| {
            let path = self.nodes.path(&of.range);
            let path = self.nodes.paths.append(path, step);
            self.nodes.locals.push(Local { name, path, size, entries: None });
        };
        match &of.second {
            Some(second) => {
                declare(&of.variable, indices, key);
                declare(second, elements, value);
            }
            None if list => declare(&of.variable, elements, value),
            None => declare(&of.variable, indices, key),
        }
    }

    fn call(&mut self, expr: &'e Expr, target: Option<&'e Expr>, function: &'e str, args: &'e [Expr]) -> Range {
        if let ("dyn", [argument]) = (function, args) {
            let cost = self.cost(argument);
            let size = self.nodes.known_size(argument);
            self.nodes.set_size(expr, size);
            self.nodes.set_entries(expr, self.nodes.entries(argument));
            return cost.plus(Range::ONE);
        }
        let (arguments, costs) = self.arguments(target, args);
        let checked = self.checked;
        let ids = checked.overload_ids(expr.id);
        if ids.is_empty() {
            return Range::ZERO;
        }
        let receiver = usize::from(target.is_some());
        let function = checked.env.function(function);
        let (mut union, mut size) = (Range::EMPTY, None::<Range>);
        for id in ids {
            let known = function.and_then(|function| function.with_id(id));
            let cost = known.map_or(Cost::ONE, |overload| overload.cost);
            let call = Call { arguments: &arguments, sizes: self.nodes.sizes, paths: &self.nodes.paths };
            let of_call = (cost.estimate)(&call);
            let (cost, result) = self.overload(expr, id, of_call, (&arguments, &costs[receiver..]), args);
            union = union.union(cost);
            size = match (size, result) {
                (Some(size), Some(result)) => Some(size.union(result)),
                (size, result) => size.or(result),
            };
            if let (Some(step), Some(operand)) = (indexed(id), args.first()) {
                size = self.nodes.entries(operand).map(|entries| entries.value);
                self.nodes.continue_path(expr, operand, step);
            }
            size = size.or_else(|| self.nodes.known_size(expr));
        }
        self.nodes.set_size(expr, size);
        costs[..receiver].iter().fold(union, |sum, cost| sum.plus(*cost))
    }

    /// The arguments with their costs, the receiver first. It is looked at last.
    fn arguments(&mut self, target: Option<&'e Expr>, args: &'e [Expr]) -> (Vec<Argument<'e>>, Vec<Range>) {
        let mut arguments = Vec::with_capacity(args.len() + 1);
        let mut costs = Vec::with_capacity(args.len() + 1);
        for expr in args.iter().chain(target) {
            costs.push(self.cost(expr));
            arguments.push(self.nodes.argument(expr));
        }
        if target.is_some() {
            arguments.rotate_right(1);
            costs.rotate_right(1);
        }
        (arguments, costs)
    }

    /// The cost of a call with its arguments, and the size of its result.
    fn overload(
        &mut self,
        expr: &'e Expr,
        id: &str,
        call: CallCost,
        (arguments, costs): (&[Argument<'e>], &[Range]),
        args: &'e [Expr],
    ) -> (Range, Option<Range>) {
        match (id, costs, args) {
            ("logical_and" | "logical_or", [left, right, ..], _) => (Range::new(left.min, left.plus(*right).max), None),
            ("conditional", [condition, first, second], [_, then, otherwise]) => {
                let size = |argument: usize| arguments[argument].size.unwrap_or(Range::UNKNOWN);
                let size = size(1).union(size(2));
                self.join(expr, then, otherwise);
                (condition.plus(first.union(*second)), Some(size))
            }
            _ => {
                if let ("add_string" | "add_bytes" | "add_list", [left, right]) = (id, args) {
                    self.join(expr, left, right);
                }
                (costs.iter().fold(call.cost, |sum, cost| sum.plus(*cost)), call.size)
            }
        }
    }

    /// The entries of a node are those of two others.
    fn join(&mut self, expr: &Expr, left: &Expr, right: &Expr) {
        if let (Some(left), Some(right)) = (self.nodes.entries(left), self.nodes.entries(right)) {
            self.nodes.set_entries(expr, Some(left.union(right)));
        }
    }
}

/// How the path of an index continues that of its operand.
fn indexed(id: &str) -> Option<&'static str> {
    match id {
        "index_list" => Some(ITEMS),
        "index_map" => Some(VALUES),
        _ => None,
    }
}

/// True for a variable with a value (`cel.bind`): no loop at all.
fn is_bind(of: &Comprehension) -> bool {
    matches!(&of.range.kind, ExprKind::List(elements) if elements.is_empty())
        && of.condition.kind == ExprKind::Literal(Literal::Bool(false))
        && *of.accumulator != *operators::ACCUMULATOR
}
