//! The faults of strict decoding: collected, sorted as clients expect, and limited.
use crate::{
    meta::go,
    schema::{Document, Schema, prune, prune::PATHS_BYTES},
};

/// The maximum number of reported faults, as in kube-apiserver.
pub(super) const MOST: usize = 100;

/// The order in which faults are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In the order of the body, as for kube-apiserver's compiled kinds. Faults inside unknown fields, and repeated
    /// fields inside raw values, are not searched for.
    AsMet,
    /// Repeated fields in the order of the body, then unknown ones: those of the metadata, then the others, sorted, as
    /// for kube-apiserver's custom resources.
    UnknownLast,
}

/// The faults found so far.
pub(super) struct Faults {
    order: Order,
    reported: Vec<String>,
    /// Paths of unknown fields, which are reported last.
    unknown: Vec<String>,
    /// The remaining text budget: a body may contain paths that take far more memory than itself.
    room: usize,
}

impl Faults {
    pub(super) fn new(order: Order) -> Self {
        Self { order, reported: Vec::new(), unknown: Vec::new(), room: PATHS_BYTES }
    }

    /// True if repeated fields are searched for in values without a schema.
    pub(super) fn look_into_raw(&self) -> bool {
        self.order == Order::UnknownLast
    }

    /// The number of faults so far.
    pub(super) fn count(&self) -> usize {
        self.reported.len()
    }

    /// Reports a repeated field at its place among the faults: before those of its value.
    pub(super) fn duplicate(&mut self, at: usize, path: impl Fn() -> String) {
        if self.reported.len() < MOST {
            self.add(at, format!("duplicate field {}", go::quoted(&path())));
        }
    }

    /// Reports an unknown field.
    pub(super) fn unknown(&mut self, path: impl Fn() -> String) {
        match self.order {
            Order::AsMet if self.reported.len() < MOST => self.add(self.reported.len(), unknown(&path(), self.order)),
            Order::UnknownLast if self.room > 0 => {
                let path = path();
                self.room = self.room.saturating_sub(path.len());
                self.unknown.push(path);
            }
            _ => {}
        }
    }

    fn add(&mut self, at: usize, fault: String) {
        if self.room > 0 && !self.reported.contains(&fault) {
            self.room = self.room.saturating_sub(fault.len());
            self.reported.insert(at, fault);
        }
    }

    /// All faults, in order.
    pub(super) fn finish(self) -> Vec<String> {
        let Self { order, mut reported, mut unknown, .. } = self;
        sort(&mut unknown);
        reported.extend(unknown.iter().map(|path| self::unknown(path, order)));
        reported
    }
}

/// Removes the unknown fields of a decoded object, and returns them.
pub fn drop_unknown(document: &mut Document, root: &Schema, order: Order) -> Vec<String> {
    let dropped = prune(root, document);
    let mut paths: Vec<String> = dropped.iter().map(|path| path.as_str().to_owned()).collect();
    match order {
        Order::AsMet => paths.truncate(MOST),
        Order::UnknownLast => sort(&mut paths),
    }
    paths.iter().map(|path| unknown(path, order)).collect()
}

fn sort(paths: &mut Vec<String>) {
    paths.sort_by(|a, b| {
        let later = |path: &str| !path.starts_with("metadata.");
        (later(a), a).cmp(&(later(b), b))
    });
    paths.dedup();
}

fn unknown(path: &str, order: Order) -> String {
    match order {
        Order::AsMet => format!("unknown field {}", go::quoted(path)),
        Order::UnknownLast => format!("unknown field \"{path}\""),
    }
}
