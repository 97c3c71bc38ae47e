//! Expressions of the file in CEL: over the variable `claims`, a map of the claims of a token, and over `user`, the user that was made of
//! them.
use std::sync::Arc;

use kindsmith_cel::{
    Env, Error, Program, Type, TypeProvider, Unmetered, Value,
    syntax::ast::{Expr, ExprKind, Literal, operators},
    value::{Items, Json, List, ListKind, Map, Object, Shape},
};

use crate::schema::rules::unescaped;

/// The most that an evaluation costs, as in kube-apiserver.
const MOST_COST: u64 = 1_000_000;
/// The type of `user`.
const USER: &str = "kubernetes.UserInfo";

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Expression {
    pub text: String,
    variable: &'static str,
    program: Program,
    /// It reads `claims.email`.
    pub uses_email: bool,
    /// It reads `claims.email_verified`.
    pub uses_email_verified: bool,
}

/// The environments of expressions.
pub(super) struct Environments {
    claims: Env,
    user: Env,
}

impl Default for Environments {
    fn default() -> Self {
        let base = Env::kubernetes_latest();
        let claims = base.clone().variable("claims", Type::map(Type::String, Type::Any));
        let user = base.types(Arc::new(UserType)).variable("user", Type::Struct(USER.into()));
        Self { claims, user }
    }
}

impl Environments {
    /// Compiles an expression over `claims` that gives a value of any type. Fails with kube-apiserver's detail.
    pub(super) fn mapping(&self, text: &str) -> Result<Expression, String> {
        compile(&self.claims, "claims", text, false)
    }

    /// Compiles a condition over `claims`.
    pub(super) fn claims_condition(&self, text: &str) -> Result<Expression, String> {
        compile(&self.claims, "claims", text, true)
    }

    /// Compiles a condition over `user`.
    pub(super) fn user_condition(&self, text: &str) -> Result<Expression, String> {
        compile(&self.user, "user", text, true)
    }
}

fn compile(env: &Env, variable: &'static str, text: &str, is_condition: bool) -> Result<Expression, String> {
    let checked = env.compile(text).map_err(|issues| format!("compilation failed: {issues}"))?;
    if is_condition && *checked.result_type() != Type::Bool {
        return Err("must evaluate to bool".to_owned());
    }
    let program = Program::new(&checked).map_err(|error| format!("program instantiation failed: {error}"))?;
    let uses = |claim: &str| variable == "claims" && selects(&checked.ast().root, claim);
    let (uses_email, uses_email_verified) = (uses("email"), uses("email_verified"));
    Ok(Expression { text: text.to_owned(), variable, program, uses_email, uses_email_verified })
}

impl Expression {
    /// Evaluates the expression over its variable.
    ///
    /// # Errors
    /// kube-apiserver's text of what failed.
    pub(super) fn evaluate<'a>(&'a self, variable: &'a Json) -> Result<Value<'a>, String> {
        let failed = |error: Error| format!("expression '{}' resulted in error: {error}", self.text);
        let variables = [(self.variable, Document.read(variable).map_err(failed)?)];
        self.program.evaluate(&variables, Some(MOST_COST), &Unmetered).value.map_err(failed)
    }

    /// Evaluates a condition.
    ///
    /// # Errors
    /// What failed, or that the value is no boolean.
    pub(super) fn holds(&self, variable: &Json) -> Result<bool, String> {
        match self.evaluate(variable)? {
            Value::Bool(holds) => Ok(holds),
            _ => Err("validation expression must return a boolean".to_owned()),
        }
    }
}

/// True if an expression selects a claim by name: `claims.email`, `claims.?email`, `has(claims.email)`.
fn selects(expr: &Expr, claim: &str) -> bool {
    let is_claims = |expr: &Expr| matches!(&expr.kind, ExprKind::Ident(name) if **name == *"claims");
    let within = |expr: &Expr| selects(expr, claim);
    match &expr.kind {
        ExprKind::Unspecified | ExprKind::Literal(_) | ExprKind::Ident(_) => false,
        ExprKind::Select { operand, field, .. } => (is_claims(operand) && **field == *claim) || within(operand),
        ExprKind::Call { target, function, args } => {
            let is_claim =
                |expr: &Expr| matches!(&expr.kind, ExprKind::Literal(Literal::String(text)) if **text == *claim);
            let is_optional = target.is_none() && **function == *operators::OPTIONAL_SELECT;
            (is_optional && matches!(&args[..], [operand, field] if is_claims(operand) && is_claim(field)))
                || args.iter().any(within)
                || target.as_deref().is_some_and(within)
        }
        ExprKind::List(elements) => elements.iter().any(|element| within(&element.value)),
        ExprKind::Map(entries) => entries.iter().any(|entry| within(&entry.key) || within(&entry.value)),
        ExprKind::Struct { fields, .. } => fields.iter().any(|field| within(&field.value)),
        ExprKind::Comprehension(of) => {
            [&of.range, &of.init, &of.condition, &of.step, &of.result].into_iter().any(within)
        }
    }
}

/// The fields of `user`.
#[derive(Debug)]
struct UserType;

impl TypeProvider for UserType {
    fn has(&self, structure: &str) -> bool {
        structure == USER
    }

    fn field(&self, structure: &str, field: &str) -> Option<Type> {
        let texts = || Type::list(Type::String);
        match field {
            _ if structure != USER => None,
            "username" | "uid" => Some(Type::String),
            "groups" => Some(texts()),
            "extra" => Some(Type::map(Type::String, texts())),
            _ => None,
        }
    }
}

/// How claims and users are read: all numbers are `double`, as Go reads JSON, and `__dot__` and the like in names stand for characters that
/// names in expressions do not have.
#[derive(Debug)]
struct Document;

impl Shape for Document {
    fn read<'a>(&'a self, json: &'a Json) -> Result<Value<'a>, Error> {
        Ok(match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => Value::from(text.as_str()),
            Json::Array(items) => Value::List(List { items: Items::Document(items, self), kind: ListKind::Atomic }),
            Json::Object(object) => Value::Map(Map::Document(object, self)),
        })
    }

    fn field<'a>(&'a self, object: &'a Object, name: &str) -> Option<Result<Value<'a>, Error>> {
        let named = unescaped(name).and_then(|name| object.get(&*name));
        named.or_else(|| object.get(name)).map(|json| self.read(json))
    }

    fn typed(&self) -> bool {
        false
    }
}
