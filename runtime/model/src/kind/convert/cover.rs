//! Checks that declared changes cover all differences of two schemas, so that the conversion loses nothing.
use std::ptr;

use super::declared::{Change, Version, begins};
use crate::{
    kind::model::Path,
    schema::{At, Schema},
};

/// Changes that cover the differences of two schemas. Of each pair, the first part is about this version and the second about the
/// storage version.
pub(super) struct Cover {
    /// The paths of renamed or moved fields.
    pub(super) renamed: Vec<[Path; 2]>,
    /// Fields of one version only, including structs that contain only fields which are elsewhere in the other.
    pub(super) only: [Vec<Path>; 2],
}

/// The name of list items and map values in paths.
const EACH: &str = "*";

/// A side and the other one.
const SIDES: [(usize, usize); 2] = [(0, 1), (1, 0)];

/// Sorts changes, and checks them against the schemas.
///
/// # Errors
/// All mismatches.
pub(super) fn check(here: Version<'_>, stored: Version<'_>, changes: &[Change]) -> Result<Cover, String> {
    let mut cover = Cover { renamed: Vec::new(), only: [Vec::new(), Vec::new()] };
    for change in changes {
        match change {
            Change::Renamed(here, stored) => cover.renamed.push([here.clone(), stored.clone()]),
            Change::Added(path) => cover.only[1].push(path.clone()),
            Change::Removed(path) => cover.only[0].push(path.clone()),
        }
    }
    let sides = [(0, here), (1, stored)].map(|(side, version)| {
        let renamed = cover.renamed.iter().map(|paths| &paths[side]);
        Side { version, named: renamed.chain(&cover.only[side]).cloned().collect(), through: Vec::new() }
    });
    let mut checker = Checker { sides, recursive: Vec::new(), faults: Vec::new() };
    checker.paths();
    checker.crossings(&cover.renamed);
    // From here on the fields in changes are known to exist.
    if checker.faults.is_empty() {
        let root = Path(Vec::new());
        checker.object([(At::of(here.schema), &root), (At::of(stored.schema), &root)]);
        checker.renamed(&cover.renamed);
        for (side, _) in SIDES {
            for path in cover.only[side].iter().chain(&checker.sides[side].through.clone()) {
                checker.kept(path, side, &cover.renamed);
            }
        }
    }
    if !checker.faults.is_empty() {
        return Err(checker.faults.join("; "));
    }
    for (side, _) in SIDES {
        cover.only[side].append(&mut checker.sides[side].through);
    }
    Ok(cover)
}

/// The schema of the field at a path.
pub(super) fn at<'s>(schema: &'s Schema, path: &Path) -> Option<At<'s>> {
    path.0.iter().try_fold(At::of(schema), |at, name| at.property(name))
}

/// One of the two versions during the comparison.
struct Side<'a> {
    version: Version<'a>,
    /// The paths in changes.
    named: Vec<Path>,
    /// Structs of this version only, through which changes lead.
    through: Vec<Path>,
}

impl Side<'_> {
    /// True if every object that could contain the field has it.
    fn demands(&self, path: &Path) -> bool {
        let Some((last, above)) = path.0.split_last() else { return true };
        let parent = at(self.version.schema, &Path(above.to_vec()));
        parent.is_some_and(|parent| {
            parent.required.contains(last) && parent.property(last).is_some_and(|field| field.default.is_none())
        })
    }

    /// True if every object of the kind has the field.
    fn always_has(&self, path: &Path) -> bool {
        (1..=path.0.len()).all(|length| {
            let path = Path(path.0[..length].to_vec());
            self.demands(&path) || at(self.version.schema, &path).is_some_and(|field| field.default.is_some())
        })
    }
}

/// Corresponding places in the two versions.
type FieldPair<'a, 'p> = [(At<'a>, &'p Path); 2];

struct Checker<'a> {
    sides: [Side<'a>; 2],
    /// The pairs of recursive types that have been compared.
    recursive: Vec<[*const Schema; 2]>,
    faults: Vec<String>,
}

impl<'a> Checker<'a> {
    /// Checks that the paths in changes exist and are unique.
    fn paths(&mut self) {
        for side in &self.sides {
            for (index, path) in side.named.iter().enumerate() {
                let name = side.version.name;
                if path.0.is_empty() || at(side.version.schema, path).is_none() {
                    self.faults.push(format!("{name} has no field {path}"));
                } else if side.named[..index].contains(path) {
                    self.faults.push(format!("two changes name the field {path} of {name}"));
                }
            }
        }
    }

    /// A moved struct would appear as soon as a field is moved into it, even if it was absent.
    fn crossings(&mut self, renamed: &[[Path; 2]]) {
        for outer in renamed {
            for inner in renamed.iter().filter(|inner| inner[0] != outer[0]) {
                for (side, other) in SIDES {
                    if begins(&inner[other], &outer[other]) && !begins(&inner[side], &outer[side]) {
                        let (name, there) = (self.sides[side].version.name, &outer[other]);
                        self.fault(format!("{} goes into {there}, which is {} in {name}", inner[side], outer[side]));
                    }
                }
            }
        }
    }

    /// Compares the fields of two structs.
    fn object(&mut self, places: FieldPair<'a, '_>) {
        for (side, other) in SIDES {
            for (name, field) in places[side].0.properties() {
                let paths = places.map(|(_, path)| below(path, name));
                if self.sides[side].named.contains(&paths[side]) {
                    continue;
                }
                match places[other].0.property(name).filter(|_| !self.sides[other].named.contains(&paths[other])) {
                    // Fields of both versions are compared from this version.
                    Some(counterpart) if side == 0 => {
                        self.demands([&paths[0], &paths[1]], places.map(|(at, _)| at.required.contains(name)));
                        self.value([(field, &paths[0]), (counterpart, &paths[1])]);
                    }
                    Some(_) => {}
                    None => self.only(side, field, &paths[side]),
                }
            }
        }
    }

    /// Compares two values at corresponding places.
    fn value(&mut self, places: FieldPair<'a, '_>) {
        let [one, other] = places.map(|(at, _)| (at.kind, at.entry().is_some(), at.union));
        if one != other {
            let [(one, of), (other, of_other)] = [0, 1].map(|side| (places[side].1, self.sides[side].version.name));
            self.fault(format!("{one} of {of} and {other} of {of_other} have different types"));
            return;
        }
        // Recursive types are compared once.
        if let [Some(one), Some(other)] = places.map(|(at, _)| at.leads_to()) {
            let pair = [one, other].map(|at| ptr::from_ref(at.node()));
            if self.recursive.contains(&pair) {
                return;
            }
            self.recursive.push(pair);
        }
        self.object(places);
        for inner in [places.map(|(at, _)| at.items()), places.map(|(at, _)| at.entry())] {
            if let [Some(one), Some(other)] = inner {
                let [path, there] = places.map(|(_, path)| below(path, EACH));
                self.value([(one, &path), (other, &there)]);
            }
        }
    }

    /// A field without a change has no counterpart.
    fn only(&mut self, side: usize, field: At<'a>, path: &Path) {
        let Side { version, named, through } = &mut self.sides[side];
        if named.iter().any(|named| named != path && begins(named, path)) {
            through.push(path.clone());
            for (name, field) in field.properties() {
                let path = below(path, name);
                if !self.sides[side].named.contains(&path) {
                    self.only(side, field, &path);
                }
            }
            return;
        }
        let (change, name) = (["removed", "added"][side], version.name);
        if path.0.iter().any(|name| name == EACH) {
            self.fault(format!("only {name} has the field {path}, and changes do not lead into lists and maps"));
        } else {
            self.faults
                .push(format!("only {name} has the field {path}; declare `{change}({path})`, or where it is else"));
        }
    }

    /// Compares the values of renamed and moved fields.
    fn renamed(&mut self, renamed: &[[Path; 2]]) {
        for paths in renamed {
            let [one, other] = [0, 1].map(|side| at(self.sides[side].version.schema, &paths[side]));
            if let (Some(one), Some(other)) = (one, other) {
                self.demands(paths.each_ref(), [0, 1].map(|side| self.sides[side].demands(&paths[side])));
                self.value([(one, &paths[0]), (other, &paths[1])]);
            }
        }
    }

    /// A field that one version requires must always exist in the other.
    fn demands(&mut self, paths: [&Path; 2], demanded: [bool; 2]) {
        for (side, other) in SIDES {
            if demanded[side] && !demanded[other] {
                let [name, there] = [side, other].map(|side| self.sides[side].version.name);
                let (path, counterpart) = (paths[side], paths[other]);
                self.fault(format!("{path} is required in {name}, and an object in {there} may have no {counterpart}"));
            }
        }
    }

    /// Objects from the other version lack fields that only one version has.
    fn kept(&mut self, path: &Path, side: usize, renamed: &[[Path; 2]]) {
        let (own, other) = (&self.sides[side], &self.sides[1 - side]);
        let made = renamed.iter().any(|paths| begins(&paths[side], path) && other.always_has(&paths[1 - side]));
        if own.demands(path) && !made {
            let (name, other) = (own.version.name, other.version.name);
            self.fault(format!("{path} is required in {name}, and objects that come from {other} have none"));
        }
    }

    fn fault(&mut self, what: String) {
        self.faults.push(what + "; write the conversion in Rust");
    }
}

fn below(path: &Path, name: &str) -> Path {
    Path(path.0.iter().map(String::as_str).chain([name]).map(str::to_owned).collect())
}
