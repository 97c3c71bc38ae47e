//! The walk over the tree: literals, names and selections are here, calls, collections and loops in files of their own.
use std::{fmt, mem, sync::Arc};

use super::substitution::Substitutions;
use crate::{Checked, Reference};
use crate::{
    Env, Issue, Issues, Source, Type,
    syntax::ast::{Ast, Expr, ExprKind, Literal, NodeId},
};

/// The deepest tree. Trees that people write have some tens of levels; the parser limits nesting, but not all sorts of nodes.
const DEEPEST: u32 = 600;

/// The state of one check.
pub(super) struct Checker<'e> {
    pub(super) env: &'e Env,
    types: Vec<Option<Type>>,
    references: Vec<Option<Reference>>,
    pub(super) substitutions: Substitutions,
    /// How many type parameters were made.
    pub(super) fresh: usize,
    /// The variables of loops, the innermost last.
    pub(super) locals: Vec<(Arc<str>, Type)>,
    /// There was a loop before. From then on, cel-go does not leave out overloads that are switched off.
    pub(super) looped: bool,
    depth: u32,
    too_deep: bool,
    issues: Vec<Issue>,
    /// A buffer for names with dots.
    pub(super) name: String,
}

/// Checks a parsed expression.
pub(super) fn check(env: &Env, source: &Source, mut ast: Ast) -> Result<Checked, Issues> {
    let nodes = ast.ids as usize + 1;
    let mut checker = Checker {
        env,
        types: vec![None; nodes],
        references: vec![None; nodes],
        substitutions: Substitutions::default(),
        fresh: 0,
        locals: Vec::new(),
        looped: false,
        depth: 0,
        too_deep: false,
        issues: Vec::new(),
        name: String::new(),
    };
    checker.check(&mut ast.root);
    let Checker { mut types, references, mut substitutions, too_deep, mut issues, .. } = checker;
    for kind in types.iter_mut().flatten() {
        if !substitutions.exceeded {
            *kind = substitutions.close(mem::replace(kind, Type::Dyn));
        }
    }
    // Results beyond a limit are not reliable.
    if too_deep {
        issues = vec![Issue::without_offset("max recursion depth exceeded")];
    } else if substitutions.exceeded {
        issues = vec![Issue::without_offset("type complexity exceeds limit")];
    }
    if !issues.is_empty() {
        return Err(Issues::new(source.clone(), issues));
    }
    Ok(Checked { source: source.clone(), ast, env: env.clone(), types, references })
}

impl Checker<'_> {
    /// Checks a node with all below it, and returns its type.
    pub(super) fn check(&mut self, expr: &mut Expr) -> Type {
        if self.depth >= DEEPEST || self.substitutions.exceeded {
            self.too_deep |= self.depth >= DEEPEST;
            return self.typed(expr.id, Type::Error);
        }
        self.depth += 1;
        let kind = match &mut expr.kind {
            ExprKind::Unspecified => self.error(expr.offset, format_args!("unexpected unspecified type: ")),
            ExprKind::Literal(literal) => type_of(literal),
            ExprKind::Ident(_) => self.ident(expr),
            ExprKind::Select { .. } => self.select(expr),
            ExprKind::Call { .. } => self.call(expr),
            ExprKind::List(elements) => self.list(elements),
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Struct { .. } => self.structure(expr),
            ExprKind::Comprehension(comprehension) => self.comprehension(comprehension),
        };
        self.depth -= 1;
        self.typed(expr.id, kind)
    }

    fn typed(&mut self, node: NodeId, kind: Type) -> Type {
        if let Some(slot) = self.types.get_mut(node as usize) {
            *slot = Some(kind.clone());
        }
        kind
    }

    /// Records what a node refers to.
    pub(super) fn refer(&mut self, node: NodeId, reference: Reference) {
        if let Some(slot) = self.references.get_mut(node as usize) {
            *slot = Some(reference);
        }
    }

    /// Reports an error. Beyond the printed ones, only their number counts.
    pub(super) fn error(&mut self, offset: u32, message: fmt::Arguments<'_>) -> Type {
        let message = if self.issues.len() < Issues::MOST { message.to_string() } else { String::new() };
        self.issues.push(Issue { offset: Some(offset), message });
        Type::Error
    }

    /// Reports a type that does not fit.
    pub(super) fn mismatch(&mut self, offset: u32, expected: &Type, found: &Type) -> Type {
        self.error(offset, format_args!("expected type '{expected}' but found '{found}'"))
    }

    /// Reports a name that nothing has.
    pub(super) fn undeclared(&mut self, offset: u32, name: &str) -> Type {
        let container = Arc::clone(&self.env.container);
        self.error(offset, format_args!("undeclared reference to '{name}' (in container '{container}')"))
    }

    fn ident(&mut self, expr: &mut Expr) -> Type {
        let ExprKind::Ident(name) = &mut expr.kind else { return Type::Error };
        let found = match self.local(name) {
            Some(kind) if !name.starts_with('.') => Some((Arc::clone(name), kind.clone())),
            local => self.global(name, local.is_some()),
        };
        let Some((whole, kind)) = found else { return self.undeclared(expr.offset, name) };
        name.clone_from(&whole);
        self.refer(expr.id, Reference::Name(whole));
        kind
    }

    /// The variable of a loop with a name, or with one that a leading dot makes absolute.
    fn local(&self, name: &str) -> Option<&Type> {
        let name = name.strip_prefix('.').unwrap_or(name);
        self.locals.iter().rev().find(|(local, _)| **local == *name).map(|(_, kind)| kind)
    }

    /// A variable or type of the environment. If a loop has a variable of the same name, the name is made absolute.
    fn global(&self, name: &str, is_hidden: bool) -> Option<(Arc<str>, Type)> {
        let (whole, kind) = self.env.find(name)?;
        Some((if is_hidden { format!(".{whole}").into() } else { whole }, kind))
    }

    fn select(&mut self, expr: &mut Expr) -> Type {
        let ExprKind::Select { operand, field, test_only } = &mut expr.kind else { return Type::Error };
        if !*test_only && let Some((whole, kind)) = self.qualified(operand, field) {
            expr.kind = ExprKind::Ident(Arc::clone(&whole));
            self.refer(expr.id, Reference::Name(whole));
            return kind;
        }
        let kind = self.field(expr.offset, operand, field, false);
        if *test_only { Type::Bool } else { kind }
    }

    /// The variable or type that a selection is the whole name of.
    fn qualified(&mut self, operand: &Expr, field: &str) -> Option<(Arc<str>, Type)> {
        let mut name = mem::take(&mut self.name);
        name.clear();
        let head = push_name(operand, &mut name);
        let found = head.and_then(|head| {
            let local = self.local(head);
            if local.is_some() && !head.starts_with('.') {
                return None;
            }
            name.push('.');
            name.push_str(field);
            self.global(&name, local.is_some())
        });
        self.name = name;
        found
    }

    /// The type of a field of an operand; optional if the selection or the operand is.
    pub(super) fn field(&mut self, offset: u32, operand: &mut Expr, field: &str, optional: bool) -> Type {
        let operand = self.check(operand);
        let operand = self.substitutions.substitute(operand);
        let target = operand.unwrapped().unwrap_or(&operand);
        let kind = match target {
            Type::Map(_, value) => (**value).clone(),
            Type::Struct(name) => self.field_type(offset, name, field),
            Type::Parameter(_) => {
                self.substitutions.assign(&Type::Dyn, target);
                Type::Dyn
            }
            Type::Dyn | Type::Any | Type::Error => Type::Dyn,
            _ => {
                self.error(offset, format_args!("type '{target}' does not support field selection"));
                Type::Dyn
            }
        };
        let kind = if optional || operand.unwrapped().is_some() {
            self.substitutions.measured(Type::optional(kind))
        } else {
            kind
        };
        self.substitutions.substitute(kind)
    }

    /// The type of a field of a struct.
    pub(super) fn field_type(&mut self, offset: u32, structure: &str, field: &str) -> Type {
        let provider = self.env.provider.as_deref().filter(|provider| provider.has(structure));
        let Some(provider) = provider else {
            return self.error(offset, format_args!("unexpected failed resolution of '{structure}'"));
        };
        match provider.field(structure, field) {
            Some(kind) => kind,
            None => self.error(offset, format_args!("undefined field '{field}'")),
        }
    }
}

/// Appends the name with dots that an expression is, if it is one, and returns its first part.
pub(super) fn push_name<'x>(expr: &'x Expr, name: &mut String) -> Option<&'x str> {
    match &expr.kind {
        ExprKind::Ident(ident) => {
            name.push_str(ident);
            Some(ident)
        }
        ExprKind::Select { operand, field, test_only: false } => {
            let head = push_name(operand, name)?;
            name.push('.');
            name.push_str(field);
            Some(head)
        }
        _ => None,
    }
}

const fn type_of(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}
