//! Paths of nodes: from a variable through fields to what they reach.

/// The elements of a list.
pub(crate) const ITEMS: &str = "@items";
/// The indices of a list.
pub(crate) const INDICES: &str = "@indices";
/// The keys of a map.
pub(crate) const KEYS: &str = "@keys";
/// The values of a map.
pub(crate) const VALUES: &str = "@values";

/// A path: the first names of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Path {
    row: usize,
    length: usize,
}

/// The names of all paths of an expression.
///
/// In cel-go, two paths that continue a third may share their memory, so that a later one changes an earlier one: after
/// `x.a`, where `x` has a path of three names, `x.b` makes both end in `b`. Estimates are an interface, so rows are shared here in
/// the same cases: where the length of the path that is continued is no power of two.
#[derive(Debug, Default)]
pub(crate) struct Paths<'e> {
    rows: Vec<Vec<&'e str>>,
}

impl<'e> Paths<'e> {
    /// The names of a path.
    pub(crate) fn names(&self, path: Path) -> &[&'e str] {
        self.rows.get(path.row).map_or(&[], |row| &row[..path.length])
    }

    /// A path continued by a name.
    pub(crate) fn append(&mut self, path: Path, name: &'e str) -> Path {
        let Path { mut row, length } = path;
        if length == 0 || length.is_power_of_two() {
            let names = self.names(path).to_vec();
            row = self.rows.len();
            self.rows.push(names);
        }
        let names = &mut self.rows[row];
        match names.get_mut(length) {
            Some(slot) => *slot = name,
            None => names.push(name),
        }
        Path { row, length: length + 1 }
    }
}
