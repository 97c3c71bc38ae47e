//! What strict decoding finds fault with: collected, put into the order in which clients are told, and bounded.
use crate::{
    meta::go,
    schema::{Document, Schema, prune, prune::PATHS_BYTES},
};

/// How many faults are told, as in kube-apiserver.
pub(super) const MOST: usize = 100;

/// The order in which faults are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they are met in the body, as for the kinds that kube-apiserver has compiled in. Those inside of unknown fields,
    /// and repeated fields inside of raw values, are not looked for.
    AsMet,
    /// Repeated fields as they are met, then unknown ones: those of the metadata, then the others, sorted. So the
    /// reference tells those of custom resources.
    UnknownLast,
}

/// Faults on their way.
pub(super) struct Faults {
    order: Order,
    told: Vec<String>,
    /// Paths of unknown fields that are told last.
    unknown: Vec<String>,
    /// How much more text may be told: a body can hold paths that take far more room than itself.
    room: usize,
}

impl Faults {
    pub(super) fn new(order: Order) -> Self {
        Self { order, told: Vec::new(), unknown: Vec::new(), room: PATHS_BYTES }
    }

    /// Whether repeated fields are looked for in values of which the schema says nothing.
    pub(super) fn look_into_raw(&self) -> bool {
        self.order == Order::UnknownLast
    }

    /// How many have been told so far.
    pub(super) fn count(&self) -> usize {
        self.told.len()
    }

    /// A field was given again, which is told in its place among the faults: before those of its value.
    pub(super) fn duplicate(&mut self, at: usize, path: impl Fn() -> String) {
        if self.told.len() < MOST {
            self.add(at, format!("duplicate field {}", go::quoted(&path())));
        }
    }

    /// A field is not in the schema.
    pub(super) fn unknown(&mut self, path: impl Fn() -> String) {
        match self.order {
            Order::AsMet if self.told.len() < MOST => self.add(self.told.len(), unknown(&path(), self.order)),
            Order::UnknownLast if self.room > 0 => {
                let path = path();
                self.room = self.room.saturating_sub(path.len());
                self.unknown.push(path);
            }
            _ => {}
        }
    }

    fn add(&mut self, at: usize, fault: String) {
        if self.room > 0 && !self.told.contains(&fault) {
            self.room = self.room.saturating_sub(fault.len());
            self.told.insert(at, fault);
        }
    }

    /// All faults, in order.
    pub(super) fn finish(self) -> Vec<String> {
        let Self { order, mut told, mut unknown, .. } = self;
        sort(&mut unknown);
        told.extend(unknown.iter().map(|path| self::unknown(path, order)));
        told
    }
}

/// Drops the unknown fields of an object that is decoded already, and says which they were.
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
