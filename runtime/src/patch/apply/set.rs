//! Sets of fields: a tree keyed by path elements.
use std::cmp::Ordering;

use super::element::Element;

/// A set of paths. Branches are sorted by element, and there are none without a member in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Set<'a> {
    branches: Vec<(Element<'a>, Branch<'a>)>,
}

/// What a set says of one path, and of what lies below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Branch<'a> {
    /// The path itself is in the set.
    pub(super) member: bool,
    /// What lies below it.
    pub(super) below: Set<'a>,
}

impl Branch<'_> {
    /// A path that is in the set, with nothing below.
    pub(super) const LEAF: Self = Self { member: true, below: Set { branches: Vec::new() } };

    /// Nothing is in it.
    pub(super) fn is_empty(&self) -> bool {
        !self.member && self.below.is_empty()
    }
}

impl<'a> Set<'a> {
    /// Nothing is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// A set of branches in any order; those of one element are joined.
    pub(super) fn of(mut branches: Vec<(Element<'a>, Branch<'a>)>) -> Self {
        branches.retain(|(_, branch)| !branch.is_empty());
        branches.sort_by(|(a, _), (b, _)| a.cmp(b));
        branches.dedup_by(|(later, from), (earlier, into)| {
            let equal = later == earlier;
            if equal {
                into.member |= from.member;
                into.below.add(std::mem::take(&mut from.below));
            }
            equal
        });
        Self { branches }
    }

    /// The branches, sorted.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Element<'a>, &Branch<'a>)> {
        self.branches.iter().map(|(element, branch)| (element, branch))
    }

    /// Calls a function with every branch, which it leaves with a member in it.
    pub(super) fn each_branch(&mut self, mut visit: impl FnMut(&Element<'a>, &mut Branch<'a>)) {
        for (element, branch) in &mut self.branches {
            visit(element, branch);
        }
    }

    /// What the set says of an element.
    pub(super) fn get(&self, element: &Element<'_>) -> Option<&Branch<'a>> {
        let found = self.branches.binary_search_by(|(at, _)| at.cmp(element));
        found.ok().map(|index| &self.branches[index].1)
    }

    /// The path of one element is in the set.
    pub(super) fn has(&self, element: &Element<'_>) -> bool {
        self.get(element).is_some_and(|branch| branch.member)
    }

    /// A path is in the set.
    pub(super) fn has_path(&self, path: &[Element<'_>]) -> bool {
        let Some((last, above)) = path.split_last() else { return false };
        let holder = above.iter().try_fold(self, |at, element| at.get(element).map(|branch| &branch.below));
        holder.is_some_and(|holder| holder.has(last))
    }

    /// Adds a branch; one that is empty leaves no trace. Fastest in the elements' order.
    pub(super) fn attach(&mut self, element: Element<'a>, branch: Branch<'a>) {
        if branch.is_empty() {
            return;
        }
        if self.branches.last().is_none_or(|(last, _)| *last < element) {
            self.branches.push((element, branch));
            return;
        }
        match self.branches.binary_search_by(|(at, _)| at.cmp(&element)) {
            Ok(index) => {
                let here = &mut self.branches[index].1;
                here.member |= branch.member;
                here.below.add(branch.below);
            }
            Err(index) => self.branches.insert(index, (element, branch)),
        }
    }

    /// Adds a path.
    pub(super) fn insert(&mut self, path: &[Element<'a>]) {
        let Some((first, rest)) = path.split_first() else { return };
        let mut branch = Branch::default();
        if rest.is_empty() {
            branch.member = true;
        } else {
            branch.below.insert(rest);
        }
        self.attach(first.clone(), branch);
    }

    /// Takes a path out of the set; what lies below stays.
    pub(super) fn discard(&mut self, path: &[Element<'_>]) {
        let Some((first, rest)) = path.split_first() else { return };
        let Ok(index) = self.branches.binary_search_by(|(at, _)| at.cmp(first)) else { return };
        let branch = &mut self.branches[index].1;
        if rest.is_empty() {
            branch.member = false;
        } else {
            branch.below.discard(rest);
        }
        if branch.is_empty() {
            self.branches.remove(index);
        }
    }

    /// Adds what is in another set.
    pub(super) fn add(&mut self, other: Set<'a>) {
        if self.is_empty() {
            *self = other;
            return;
        }
        if other.is_empty() {
            return;
        }
        let both = self.branches.len() + other.branches.len();
        let mine = std::mem::replace(&mut self.branches, Vec::with_capacity(both));
        let mut theirs = other.branches.into_iter().peekable();
        for (element, mut branch) in mine {
            while let Some(before) = theirs.next_if(|(at, _)| *at < element) {
                self.branches.push(before);
            }
            if let Some((_, same)) = theirs.next_if(|(at, _)| *at == element) {
                branch.member |= same.member;
                branch.below.add(same.below);
            }
            self.branches.push((element, branch));
        }
        self.branches.extend(theirs);
    }

    /// Takes out what is in another set. What lies below a path that is in both stays, unless it is in both, too.
    pub(super) fn subtract(&mut self, other: &Set<'_>) {
        self.retain(other, &|mine, theirs| {
            mine.member &= !theirs.member;
            mine.below.subtract(&theirs.below);
        });
    }

    /// Takes out what is in another set, with everything below it.
    pub(super) fn subtract_whole(&mut self, other: &Set<'_>) {
        self.retain(other, &|mine, theirs| {
            if theirs.member {
                *mine = Branch::default();
            } else {
                mine.below.subtract_whole(&theirs.below);
            }
        });
    }

    /// What is in both sets.
    pub(super) fn intersection(&self, other: &Set<'_>) -> Set<'a> {
        let mut found = Set::default();
        self.zip(other, |element, mine, theirs| {
            let Some(theirs) = theirs else { return };
            let member = mine.member && theirs.member;
            let branch = Branch { member, below: mine.below.intersection(&theirs.below) };
            if !branch.is_empty() {
                found.branches.push((element.clone(), branch));
            }
        });
        found
    }

    /// Everything that is in another set is in this one.
    pub(super) fn contains(&self, other: &Set<'_>) -> bool {
        let mut all = true;
        other.zip(self, |_, theirs, mine| {
            all &= mine.is_some_and(|mine| (mine.member || !theirs.member) && mine.below.contains(&theirs.below));
        });
        all
    }

    /// The paths with nothing below them.
    pub(super) fn leaves(&self) -> Set<'a> {
        let mut found = Set::default();
        for (element, branch) in &self.branches {
            let branch = Branch { member: branch.below.is_empty(), below: branch.below.leaves() };
            found.branches.push((element.clone(), branch));
        }
        found
    }

    /// Calls a function with every path, in the order in which the reference tells them: of each container first its own,
    /// then what lies deeper.
    pub(super) fn each<'s>(&'s self, visit: &mut impl FnMut(&[&'s Element<'a>])) {
        self.each_below(&mut Vec::new(), visit);
    }

    fn each_below<'s>(&'s self, path: &mut Vec<&'s Element<'a>>, visit: &mut impl FnMut(&[&'s Element<'a>])) {
        for (element, branch) in &self.branches {
            if branch.member {
                path.push(element);
                visit(path);
                path.pop();
            }
        }
        for (element, branch) in &self.branches {
            path.push(element);
            branch.below.each_below(path, visit);
            path.pop();
        }
    }

    /// Changes the branches that another set has, too, and drops those that are empty then.
    fn retain(&mut self, other: &Set<'_>, change: &dyn Fn(&mut Branch<'a>, &Branch<'_>)) {
        let mut theirs = other.branches.iter().peekable();
        self.branches.retain_mut(|(element, branch)| {
            while let Some((at, change_by)) = theirs.peek() {
                match at.cmp(element) {
                    Ordering::Less => {}
                    Ordering::Greater => break,
                    Ordering::Equal => change(branch, change_by),
                }
                theirs.next();
            }
            !branch.is_empty()
        });
    }

    /// Goes over the branches with what another set says of each.
    fn zip(&self, other: &Set<'_>, mut visit: impl FnMut(&Element<'a>, &Branch<'a>, Option<&Branch<'_>>)) {
        let mut theirs = other.branches.iter().peekable();
        for (element, branch) in &self.branches {
            let mut found = None;
            while let Some((at, their)) = theirs.peek() {
                match at.cmp(element) {
                    Ordering::Less => {}
                    Ordering::Greater => break,
                    Ordering::Equal => found = Some(their),
                }
                theirs.next();
            }
            visit(element, branch, found);
        }
    }
}
