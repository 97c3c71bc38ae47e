//! What is known of the nodes of an expression: their paths and sizes, and the variables of loops.
use crate::{
    Checked, Type,
    cost::{
        Argument, Range, Sizes,
        path::{Path, Paths},
    },
    syntax::ast::{Expr, ExprKind, Literal},
};

/// The sizes of the entries of a list or map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entries {
    pub(super) map: bool,
    pub(super) key: Range,
    pub(super) value: Range,
}

impl Entries {
    pub(super) fn union(self, other: Self) -> Self {
        Self { map: self.map, key: self.key.union(other.key), value: self.value.union(other.value) }
    }
}

/// A variable of a loop.
pub(super) struct Local<'e> {
    pub(super) name: &'e str,
    pub(super) path: Path,
    pub(super) size: Option<Range>,
    pub(super) entries: Option<Entries>,
}

/// What is known of a node.
#[derive(Clone, Copy, Default)]
struct Node {
    path: Path,
    size: Option<Range>,
    entries: Option<Entries>,
}

/// What is known of all nodes.
pub(super) struct Nodes<'e> {
    checked: &'e Checked,
    pub(super) sizes: &'e dyn Sizes,
    pub(super) paths: Paths<'e>,
    pub(super) locals: Vec<Local<'e>>,
    /// By id.
    nodes: Vec<Node>,
}

impl<'e> Nodes<'e> {
    pub(super) fn new(checked: &'e Checked, sizes: &'e dyn Sizes) -> Self {
        let nodes = vec![Node::default(); checked.ast.ids as usize + 1];
        Self { checked, sizes, paths: Paths::default(), locals: Vec::new(), nodes }
    }

    /// The innermost variable of a name.
    pub(super) fn local(&self, name: &str) -> Option<&Local<'e>> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn local_of(&self, expr: &Expr) -> Option<&Local<'e>> {
        match &expr.kind {
            ExprKind::Ident(name) => self.local(name),
            _ => None,
        }
    }

    /// Declares a variable whose value is that of an expression.
    pub(super) fn declare(&mut self, name: &'e str, value: &'e Expr) {
        let size = self.known_size(value);
        let (path, entries) = (self.path(value), self.entries(value));
        self.locals.push(Local { name, path, size, entries });
    }

    fn node(&self, expr: &Expr) -> Node {
        self.nodes.get(expr.id as usize).copied().unwrap_or_default()
    }

    fn change(&mut self, expr: &Expr, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(expr.id as usize) {
            change(node);
        }
    }

    /// The type of a node.
    pub(super) fn kind(&self, expr: &Expr) -> &'e Type {
        self.checked.type_of(expr.id)
    }

    /// The path of a node; it is empty for what no variable reaches.
    pub(super) fn path(&self, expr: &Expr) -> Path {
        self.local_of(expr).map_or_else(|| self.node(expr).path, |local| local.path)
    }

    pub(super) fn set_path(&mut self, expr: &Expr, path: Path) {
        self.change(expr, |node| node.path = path);
    }

    /// The path of a node is that of its operand, continued by a name.
    pub(super) fn continue_path(&mut self, expr: &Expr, operand: &Expr, name: &'e str) {
        let path = self.path(operand);
        let path = self.paths.append(path, name);
        self.set_path(expr, path);
    }

    /// The sizes of the entries of a node.
    pub(super) fn entries(&self, expr: &Expr) -> Option<Entries> {
        self.node(expr).entries.or_else(|| self.local_of(expr)?.entries)
    }

    pub(super) fn set_entries(&mut self, expr: &Expr, entries: Option<Entries>) {
        if entries.is_some() {
            self.change(expr, |node| node.entries = entries);
        }
    }

    pub(super) fn set_size(&mut self, expr: &Expr, size: Option<Range>) {
        if size.is_some() {
            self.change(expr, |node| node.size = size);
        }
    }

    /// The size of a node.
    pub(super) fn size(&mut self, expr: &'e Expr) -> Range {
        self.known_size(expr).unwrap_or(Range::UNKNOWN)
    }

    /// The size of a node if anything is known of it.
    pub(super) fn known_size(&mut self, expr: &'e Expr) -> Option<Range> {
        if let Some(size) = self.node(expr).size.or_else(|| own_size(expr)) {
            return Some(size);
        }
        let kind = self.kind(expr);
        if let Some(size) = self.sizes.size(self.paths.names(self.path(expr)), kind) {
            self.set_size(expr, Some(size));
            return Some(size);
        }
        if is_scalar(kind) {
            return Some(Range::ONE);
        }
        self.local_of(expr)?.size
    }

    /// What calls know of a node.
    pub(super) fn argument(&mut self, expr: &'e Expr) -> Argument<'e> {
        let literal = match &expr.kind {
            ExprKind::Literal(literal) => Some(literal),
            _ => None,
        };
        Argument { path: self.path(expr), kind: self.kind(expr), size: self.known_size(expr), literal }
    }
}

/// The size of a literal, a list or a map.
fn own_size(expr: &Expr) -> Option<Range> {
    let size = match &expr.kind {
        ExprKind::Literal(Literal::String(text)) => text.chars().count(),
        ExprKind::Literal(Literal::Bytes(bytes)) => bytes.len(),
        ExprKind::Literal(_) => 1,
        ExprKind::List(elements) => elements.len(),
        ExprKind::Map(entries) => entries.len(),
        _ => return None,
    };
    Some(Range::exactly(size as u64))
}

/// True for types whose values all have the size 1.
fn is_scalar(kind: &Type) -> bool {
    match kind {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        _ => kind.unwrapped().is_some_and(is_scalar),
    }
}
