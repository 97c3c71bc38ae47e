//! Reads two stores side by side in the order of their keys, and one by itself.

use std::cmp::Ordering;

use super::{Digest, Place, source::CopySource};
use crate::{
    Damage, Foreign,
    embedded::tools::{Error, Object, Objects, OnProgress, Progress, State},
    meta::Revision,
};

/// The greatest number of keys that a result names.
pub(super) const NAMED: usize = 100;
/// The number of objects between two progress reports.
pub(super) const REPORT: u64 = 256;

/// What a store holds at one revision.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Contents {
    /// The revision.
    pub head: Revision,
    /// A digest of all objects that can be read.
    pub digest: Digest,
    /// The number of objects whose values cannot be read.
    pub damaged: u64,
    /// The first of them, with the kind of damage.
    pub damages: Vec<(String, Damage)>,
    /// The number of objects that kube-apiserver stored in Protobuf, or encrypted.
    pub foreign: u64,
    /// The first of them.
    pub foreigners: Vec<(String, Foreign)>,
}

impl Contents {
    fn add(&mut self, entry: &Object) {
        let key = || entry.key.to_string();
        match &entry.value {
            Ok(value) => {
                self.digest.add(&entry.key, value);
                if let Some(foreign) = Foreign::of(value) {
                    self.foreign += 1;
                    if self.foreigners.len() < NAMED {
                        self.foreigners.push((key(), foreign));
                    }
                }
            }
            Err(damage) => {
                self.damaged += 1;
                if self.damages.len() < NAMED {
                    self.damages.push((key(), *damage));
                }
            }
        }
    }
}

/// How two stores differ.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Comparison {
    /// What the first one holds.
    pub left: Contents,
    /// What the second one holds.
    pub right: Contents,
    /// The number of keys with other values, or in one of the two only.
    pub different: u64,
    /// The first of them.
    pub keys: Vec<String>,
}

impl Comparison {
    /// True if both hold the same objects and all can be read.
    pub fn is_equal(&self) -> bool {
        self.different == 0 && self.left.digest == self.right.digest && self.left.damaged + self.right.damaged == 0
    }
}

/// One key, in the left store, the right one, or both.
pub(super) struct Pair {
    pub left: Option<Object>,
    pub right: Option<Object>,
}

/// Walks two stores side by side. Each is dropped as soon as it is exhausted.
pub(super) struct Pairs {
    left: Side,
    right: Side,
}

struct Side {
    rest: Option<Objects>,
    next: Option<Object>,
}

impl Side {
    fn new(objects: Objects) -> Self {
        Self { rest: Some(objects), next: None }
    }

    fn fill(&mut self) -> Result<(), Error> {
        if let (None, Some(rest)) = (&self.next, &mut self.rest) {
            self.next = rest.next().transpose()?;
            if self.next.is_none() {
                self.rest = None;
            }
        }
        Ok(())
    }
}

impl Pairs {
    pub(super) fn new(left: Objects, right: Objects) -> Self {
        Self { left: Side::new(left), right: Side::new(right) }
    }

    pub(super) fn next(&mut self) -> Result<Option<Pair>, Error> {
        self.left.fill()?;
        self.right.fill()?;
        let order = match (&self.left.next, &self.right.next) {
            (None, None) => return Ok(None),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(left), Some(right)) => left.key.cmp(&right.key),
        };
        let left = if order.is_le() { self.left.next.take() } else { None };
        let right = if order.is_ge() { self.right.next.take() } else { None };
        Ok(Some(Pair { left, right }))
    }
}

/// Compares two stores. Objects that cannot be read in one of them are not compared, nor is an expired one that only one of them
/// has: one store deletes it before the other.
pub(super) fn compare_states(
    (left, right): (State, Objects),
    each: &mut dyn FnMut(Progress<'_>) -> Result<(), Error>,
) -> Result<Comparison, Error> {
    let mut found = Comparison::default();
    found.left.head = left.head;
    let (total, mut done, mut bytes) = (left.count, 0, 0);
    let mut pairs = Pairs::new(left.objects, right);
    while let Some(Pair { left, right }) = pairs.next()? {
        done += 1;
        bytes += left.as_ref().and_then(|entry| entry.value.as_ref().ok()).map_or(0, |value| value.len() as u64);
        if done % REPORT == 0 {
            each(Progress { bytes, ..Progress::new("comparing", done, total) })?;
        }
        if let (Some(only), None) | (None, Some(only)) = (&left, &right)
            && only.has_expired()
        {
            continue;
        }
        let unreadable = [&left, &right].into_iter().flatten().any(|entry| entry.value.is_err());
        let value = |side: &Option<Object>| side.as_ref().map(|entry| entry.value.clone());
        if !unreadable && value(&left) != value(&right) {
            found.different += 1;
            if found.keys.len() < NAMED {
                found.keys.extend(left.as_ref().or(right.as_ref()).map(|entry| entry.key.to_string()));
            }
        }
        // An object that one store cannot give is left out of both digests.
        for (contents, side) in [(&mut found.left, &left), (&mut found.right, &right)] {
            if let Some(entry) = side
                && (!unreadable || entry.value.is_err())
            {
                contents.add(entry);
            }
        }
    }
    Ok(found)
}

/// Compares the objects of two stores by key and value. Their revisions may differ.
///
/// # Errors
/// [`Error`], if one of them cannot be read.
pub fn compare(left: &Place, right: &Place, progress: OnProgress<'_>) -> Result<Comparison, Error> {
    let mut left = CopySource::open(left, progress)?;
    let mut right = CopySource::open(right, progress)?;
    let (left, right) = (left.state(None)?, right.state(None)?);
    let head = right.head;
    let mut each = |now: Progress<'_>| {
        progress(now);
        Ok(())
    };
    let mut found = compare_states((left, right.objects), &mut each)?;
    found.right.head = head;
    Ok(found)
}

/// Reads all objects of a store, with a digest.
///
/// # Errors
/// [`Error`], if it cannot be read.
pub fn inspect(place: &Place, progress: OnProgress<'_>) -> Result<Contents, Error> {
    let mut source = CopySource::open(place, progress)?;
    let state = source.state(None)?;
    let mut contents = Contents { head: state.head, ..Contents::default() };
    for (done, entry) in (1..).zip(state.objects) {
        contents.add(&entry?);
        if done % REPORT == 0 {
            progress(Progress { bytes: contents.digest.bytes, ..Progress::new("reading objects", done, state.count) });
        }
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::tools::now_ms;

    fn object(name: &str, deadline_ms: Option<u64>) -> Object {
        Object { key: name.into(), value: Ok("{}".into()), revision: Revision(1), deadline_ms }
    }

    fn objects(of: &[Object]) -> Objects {
        let objects: Vec<_> = of.iter().cloned().map(Ok).collect();
        Box::new(objects.into_iter())
    }

    #[test]
    fn a_value_that_expired_may_be_in_one_of_two_stores() {
        let (past, future) = (Some(now_ms() - 1), Some(now_ms() + 60_000));
        let compared = |left: &[Object], right: &[Object]| {
            let left = State { head: Revision(1), count: 0, objects: objects(left) };
            compare_states((left, objects(right)), &mut |_| Ok(())).unwrap()
        };
        let stays = object("a", None);
        for (only, differs) in [(object("b", past), false), (object("b", future), true), (object("b", None), true)] {
            let (both, one) = ([stays.clone(), only], [stays.clone()]);
            for found in [compared(&both, &one), compared(&one, &both)] {
                assert_eq!(found.different, u64::from(differs), "{:?}", both[1]);
                assert_eq!(found.is_equal(), !differs);
            }
        }
        // Both have it: it is compared.
        let mut other = object("b", past);
        assert!(compared(&[object("b", past)], &[other.clone()]).is_equal());
        other.value = Ok("{1}".into());
        assert_eq!(compared(&[object("b", past)], &[other]).different, 1);
    }
}
