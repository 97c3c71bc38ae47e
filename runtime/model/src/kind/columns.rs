//! The columns of a kind declared in Rust, and the age, which other kinds without columns have.
use super::{
    JsonPath, Problems,
    binding::Compute,
    model::{Cell, Column, Path},
    resource::{ResourceDecl, RustPath},
};
use crate::schema::declare::{TypeDecl, resolve};

/// kube-apiserver's description of the default age column.
const AGE_DESCRIPTION: &str = "CreationTimestamp is a timestamp representing the server time when this object was \
    created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set \
    this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. \
    More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// A column as declared.
#[derive(Clone, Copy)]
pub struct ColumnDecl {
    /// The header.
    pub name: &'static str,
    /// 0 is always shown, above it only in wide output.
    pub priority: i32,
    /// The description; empty for a default.
    pub description: &'static str,
    /// A format, such as `int32`; usually empty.
    pub format: &'static str,
    /// The source of cells.
    pub cell: CellDecl,
}

/// The source of a declared column's cells.
#[derive(Clone, Copy)]
pub enum CellDecl {
    /// The value at a path, whose type is the column's.
    Path(RustPath),
    /// What a JSONPath finds, and the column's type.
    JsonPath(&'static str, &'static str),
    /// A function's result, and the column's type.
    Computed(Compute, &'static str),
}

impl ResourceDecl {
    /// The declared columns, then Age unless one of them shows the creation time. A kind that declares its own name
    /// column declares them all.
    pub(super) fn columns(&self, root: &'static TypeDecl, problems: &mut Problems) -> Vec<Column> {
        let mut columns: Vec<Column> =
            self.columns.iter().filter_map(|declared| problems.note(column(root, declared))).collect();
        let created = created();
        let shown =
            |c: &Column| c.name == "Age" || c.name == "Name" || matches!(&c.cell, Cell::Path(path) if *path == created);
        if !self.no_age && !columns.iter().any(shown) {
            let is_alone = columns.is_empty() || self.policy.prints_tables();
            let age = Column::age();
            let description = if is_alone { age.description } else { Column::usual_description(&created) };
            columns.push(Column { description, ..age });
        }
        columns
    }
}

impl Cell {
    /// The values at a JSONPath.
    pub fn of_json_path(found: JsonPath) -> Self {
        found.names().map_or(Self::JsonPath(found), |names| Self::Path(Path(names)))
    }
}

impl Column {
    /// The age, which a kind without other columns shows.
    pub fn age() -> Self {
        let description = AGE_DESCRIPTION.to_owned();
        Self { description, ..Self::new("Age", "date", Cell::Path(created())) }
    }

    /// kube-apiserver's description of a declared column without one. The path has no dot before it.
    pub fn usual_description(path: impl std::fmt::Display) -> String {
        format!("Custom resource definition column (in JSONPath format): .{path}")
    }
}

/// The path of the creation time.
fn created() -> Path {
    Path(vec!["metadata".to_owned(), "creationTimestamp".to_owned()])
}

fn column(root: &'static TypeDecl, decl: &ColumnDecl) -> Result<Column, String> {
    let (kind, cell) = match decl.cell {
        CellDecl::Computed(_, kind) => (kind, Cell::Computed),
        CellDecl::JsonPath(text, kind) => (kind, Cell::of_json_path(JsonPath::parse(text)?)),
        CellDecl::Path(rust) => {
            let leaf = resolve(root, rust).map_err(|e| e.to_string())?;
            (leaf.column_type(), Cell::Path(Path(leaf.wire)))
        }
    };
    let description = match (&cell, decl.cell) {
        (_, CellDecl::JsonPath(text, _)) if decl.description.is_empty() => {
            Column::usual_description(text.strip_prefix('.').unwrap_or(text))
        }
        (Cell::Path(path), _) if decl.description.is_empty() => Column::usual_description(path),
        _ => decl.description.to_owned(),
    };
    let (name, kind, format) = (decl.name.to_owned(), kind.to_owned(), decl.format.to_owned());
    Ok(Column { name, kind, format, description, priority: decl.priority, cell })
}
