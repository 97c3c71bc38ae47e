//! The rules of a node, compiled: for evaluation, and for the errors of a definition.
use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use kindsmith_cel::{Checked, Env, Program, Source, Type, syntax};

use super::{field_path, rule::Rule, sizes::KnownSizes, types::Declared};
use crate::schema::At;

/// The most that a rule may cost for one object, as estimated, and a message for one error.
pub const MOST_COST: u64 = 10_000_000;

/// The most that all expressions of a schema may cost together.
pub const MOST_TOTAL: u64 = 100_000_000;

/// A compiled rule.
#[derive(Debug, Default)]
pub struct CompiledRule {
    /// The program. None for a rule without an expression, and an error as definitions report it: `compilation failed: ERROR: …`.
    pub program: Option<Result<Program, String>>,
    /// The program refers to `oldSelf`.
    pub uses_old_self: bool,
    /// The program that makes the error's detail, or the reason why it is missing.
    pub message: Option<Result<Program, String>>,
    /// The most that an evaluation of the rule costs, as estimated; 0 for a rule that does not compile.
    pub cost: u64,
    /// The most that an evaluation of the message costs, as estimated.
    pub message_cost: u64,
    /// The path of the field that the error is about, as errors print it; empty for the node itself.
    pub field_path: String,
}

/// The compiled rules of a node, which are made when they are first used. Nodes that are shared share them. A clone of a node has none,
/// since it may be changed.
#[derive(Default)]
pub struct Programs(OnceLock<Option<Arc<[CompiledRule]>>>);

impl Programs {
    /// True if the rules are compiled.
    pub(super) fn are_ready(&self) -> bool {
        self.0.get().is_some()
    }
}

impl Clone for Programs {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Programs {
    /// They follow from the rules and the schema.
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Programs")
    }
}

/// The compiled rules of a node, in their order; `is_object` says that it is a whole object, with its type meta and metadata. `None` if
/// values of the node have no type in CEL, so that it can have no rules.
pub fn programs(at: At<'_>, is_object: bool) -> Option<&[CompiledRule]> {
    let node = at.node();
    node.programs.0.get_or_init(|| compile(at, is_object, &node.rules).map(Into::into)).as_deref()
}

/// Compiles the rules of a node; `is_object` says that it is a whole object, with its type meta and metadata. `None` if values of the node
/// have no type in CEL, so that it can have no rules.
fn compile(at: At<'_>, is_object: bool, rules: &[Rule]) -> Option<Vec<CompiledRule>> {
    let declared = Declared::new(at, is_object);
    let [env, optional] = environments(declared)?;
    let sizes = KnownSizes::of(declared);
    let compiled = rules.iter().map(|rule| {
        let env = if rule.optional_old_self == Some(true) { &optional } else { &env };
        compiled(env, &sizes, rule)
    });
    Some(compiled.collect())
}

/// The environments of expressions about the values of a place: in the second `oldSelf` is optional. `None` if rules do not see the values.
pub(super) fn environments(declared: Declared<'_>) -> Option<[Env; 2]> {
    let (kind, types) = declared.types()?;
    let env = Env::kubernetes_latest().types(types).variable("self", kind.clone());
    let optional = env.clone().variable("oldSelf", Type::optional(kind.clone()));
    Some([env.variable("oldSelf", kind), optional])
}

/// The environment of expressions about documents without a schema.
pub(super) fn dynamic_environment() -> Env {
    Env::kubernetes_latest().variable("self", Type::Dyn).variable("oldSelf", Type::Dyn)
}

/// The numbers of values of a node in one object at most, if nothing around the node bounds them. `None` if values of the node have no
/// type in CEL.
pub fn most_values(at: At<'_>, is_object: bool) -> Option<u64> {
    let declared = Declared::new(at, is_object);
    declared.is_seen().then(|| declared.most_values())
}

/// The number of nodes of an expression, after macros are expanded; none if it is no expression.
pub fn nodes(expression: &str) -> usize {
    syntax::parse_rule(&Source::new(expression)).map_or(0, |ast| ast.ids as usize)
}

fn compiled(env: &Env, sizes: &KnownSizes<'_>, rule: &Rule) -> CompiledRule {
    if rule.rule.trim().is_empty() {
        return CompiledRule::default();
    }
    let checked = match env.compile(&rule.rule) {
        Ok(checked) if *checked.result_type() == Type::Bool => checked,
        Ok(_) => return refused("cel expression must evaluate to a bool".to_owned(), false),
        Err(issues) => return refused(format!("compilation failed: {issues}"), false),
    };
    let uses_old_self = checked.refers_to("oldSelf");
    let program = match planned(&checked) {
        Ok(program) => program,
        Err(error) => return refused(error, uses_old_self),
    };
    let cost = checked.estimate(sizes).max;
    let message = (!rule.message_expression.is_empty()).then(|| message(env, sizes, rule));
    let (message, message_cost) = match message {
        Some(Ok((program, cost))) => (Some(Ok(program)), cost),
        Some(Err(error)) => (Some(Err(error)), 0),
        None => (None, 0),
    };
    let is_sound = message.as_ref().is_none_or(Result::is_ok);
    // kube-apiserver does not get to the path if the message does not compile.
    let path =
        if is_sound { field_path::normalized(sizes.root.at, sizes.root.is_object, &rule.field_path) } else { None };
    let field_path = path.unwrap_or_default();
    CompiledRule { program: Some(Ok(program)), uses_old_self, message, cost, message_cost, field_path }
}

fn refused(error: String, uses_old_self: bool) -> CompiledRule {
    CompiledRule { program: Some(Err(error)), uses_old_self, ..CompiledRule::default() }
}

/// The program of a rule's message, with its cost.
fn message(env: &Env, sizes: &KnownSizes<'_>, rule: &Rule) -> Result<(Program, u64), String> {
    match env.compile(&rule.message_expression) {
        Ok(checked) if *checked.result_type() == Type::String => {
            let program = Program::new(&checked);
            let program = program.map_err(|error| format!("messageExpression instantiation failed: {error}"))?;
            Ok((program, checked.estimate(sizes).max))
        }
        Ok(_) => Err("messageExpression must evaluate to a string".to_owned()),
        Err(issues) => Err(format!("messageExpression compilation failed: {issues}")),
    }
}

fn planned(checked: &Checked) -> Result<Program, String> {
    Program::new(checked).map_err(|error| format!("program instantiation failed: {error}"))
}

#[cfg(test)]
mod tests;
