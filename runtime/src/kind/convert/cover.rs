//! Checks that declared changes cover all differences of two schemas, so that the conversion loses nothing.
use std::ptr;

use super::declared::{Change, Version, begins};
use crate::{
    kind::model::Path,
    schema::{At, Schema},
};

/// Changes that cover the differences of two schemas.
pub(super) struct Cover {
    /// Renamed or moved fields: the path here, and in the storage version.
    pub(super) renamed: Vec<(Path, Path)>,
    /// Fields of this version only, including structs that contain only fields which are elsewhere in the storage
    /// version.
    pub(super) here: Vec<Path>,
    /// The same for the storage version.
    pub(super) stored: Vec<Path>,
}

/// The name of list items and map values in paths.
const EACH: &str = "*";

/// Sorts changes, and checks them against the schemas.
///
/// # Errors
/// All mismatches.
pub(super) fn check(here: Version<'_>, stored: Version<'_>, changes: &[Change]) -> Result<Cover, String> {
    let mut cover = Cover { renamed: Vec::new(), here: Vec::new(), stored: Vec::new() };
    for change in changes {
        match change {
            Change::Renamed(here, stored) => cover.renamed.push((here.clone(), stored.clone())),
            Change::Added(path) => cover.stored.push(path.clone()),
            Change::Removed(path) => cover.here.push(path.clone()),
        }
    }
    let mut walk = Walk {
        here: Side { version: here, named: named(&cover.renamed, |pair| &pair.0, &cover.here), through: Vec::new() },
        stored: Side {
            version: stored,
            named: named(&cover.renamed, |pair| &pair.1, &cover.stored),
            through: Vec::new(),
        },
        recursive: Vec::new(),
        faults: Vec::new(),
    };
    walk.paths();
    walk.crossings(&cover.renamed);
    // From here on the fields in changes are known to exist.
    if walk.faults.is_empty() {
        walk.object((At::of(here.schema), &Path(Vec::new())), (At::of(stored.schema), &Path(Vec::new())));
        walk.renamed(&cover.renamed);
        for path in cover.here.iter().chain(&walk.here.through.clone()) {
            walk.kept(path, true, &cover.renamed);
        }
        for path in cover.stored.iter().chain(&walk.stored.through.clone()) {
            walk.kept(path, false, &cover.renamed);
        }
    }
    if !walk.faults.is_empty() {
        return Err(walk.faults.join("; "));
    }
    cover.here.append(&mut walk.here.through);
    cover.stored.append(&mut walk.stored.through);
    Ok(cover)
}

/// The schema of the field at a path.
pub(super) fn at<'s>(schema: &'s Schema, path: &Path) -> Option<At<'s>> {
    path.0.iter().try_fold(At::of(schema), |at, name| at.property(name))
}

fn named(renamed: &[(Path, Path)], side: impl Fn(&(Path, Path)) -> &Path, only: &[Path]) -> Vec<Path> {
    renamed.iter().map(side).chain(only).cloned().collect()
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

struct Walk<'a> {
    here: Side<'a>,
    stored: Side<'a>,
    /// The pairs of recursive types that have been compared.
    recursive: Vec<(*const Schema, *const Schema)>,
    faults: Vec<String>,
}

impl<'a> Walk<'a> {
    /// Checks that the paths in changes exist and are unique.
    fn paths(&mut self) {
        for side in [&self.here, &self.stored] {
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
    fn crossings(&mut self, renamed: &[(Path, Path)]) {
        for (outer_here, outer_stored) in renamed {
            for (here, stored) in renamed.iter().filter(|(here, _)| here != outer_here) {
                let (v, s) = (self.here.version.name, self.stored.version.name);
                match (begins(here, outer_here), begins(stored, outer_stored)) {
                    (false, true) => {
                        self.fault(&format!("{here} goes into {outer_stored}, which is {outer_here} in {v}"));
                    }
                    (true, false) => {
                        self.fault(&format!("{stored} goes into {outer_here}, which is {outer_stored} in {s}"));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Compares the fields of two structs.
    fn object(&mut self, here: (At<'a>, &Path), stored: (At<'a>, &Path)) {
        for (name, field) in here.0.properties() {
            let (path, there) = (below(here.1, name), below(stored.1, name));
            if self.here.named.contains(&path) {
                continue;
            }
            match stored.0.property(name).filter(|_| !self.stored.named.contains(&there)) {
                Some(other) => {
                    self.demands(&path, here.0.required.contains(name), &there, stored.0.required.contains(name));
                    self.value((field, &path), (other, &there));
                }
                None => self.only(true, field, &path),
            }
        }
        for (name, field) in stored.0.properties() {
            let (there, path) = (below(here.1, name), below(stored.1, name));
            let counterpart = here.0.property(name).is_some() && !self.here.named.contains(&there);
            if !counterpart && !self.stored.named.contains(&path) {
                self.only(false, field, &path);
            }
        }
    }

    /// Compares two values at corresponding places.
    fn value(&mut self, here: (At<'a>, &Path), stored: (At<'a>, &Path)) {
        let form = |at: At<'_>| (at.kind, at.entry().is_some(), at.union);
        if form(here.0) != form(stored.0) {
            self.fault(&format!(
                "{} of {} and {} of {} have different types",
                here.1, self.here.version.name, stored.1, self.stored.version.name
            ));
            return;
        }
        // Recursive types are compared once.
        if let (Some(one), Some(other)) = (here.0.leads_to(), stored.0.leads_to()) {
            let pair = (ptr::from_ref(one.node()), ptr::from_ref(other.node()));
            if self.recursive.contains(&pair) {
                return;
            }
            self.recursive.push(pair);
        }
        self.object(here, stored);
        for (one, other) in [(here.0.items(), stored.0.items()), (here.0.entry(), stored.0.entry())] {
            if let (Some(one), Some(other)) = (one, other) {
                self.value((one, &below(here.1, EACH)), (other, &below(stored.1, EACH)));
            }
        }
    }

    /// A field without a change has no counterpart.
    fn only(&mut self, is_here: bool, field: At<'a>, path: &Path) {
        let side = if is_here { &mut self.here } else { &mut self.stored };
        if side.named.iter().any(|named| named != path && begins(named, path)) {
            side.through.push(path.clone());
            for (name, field) in field.properties() {
                let path = below(path, name);
                let side = if is_here { &self.here } else { &self.stored };
                if !side.named.contains(&path) {
                    self.only(is_here, field, &path);
                }
            }
            return;
        }
        let (change, name) =
            if is_here { ("removed", self.here.version.name) } else { ("added", self.stored.version.name) };
        if path.0.iter().any(|name| name == EACH) {
            self.fault(&format!("only {name} has the field {path}, and changes do not lead into lists and maps"));
        } else {
            self.faults
                .push(format!("only {name} has the field {path}; declare `{change}({path})`, or where it is else"));
        }
    }

    /// Compares the values of renamed and moved fields.
    fn renamed(&mut self, renamed: &[(Path, Path)]) {
        for (here, stored) in renamed {
            let schemas = (at(self.here.version.schema, here), at(self.stored.version.schema, stored));
            if let (Some(one), Some(other)) = schemas {
                self.demands(here, self.here.demands(here), stored, self.stored.demands(stored));
                self.value((one, here), (other, stored));
            }
        }
    }

    /// A field that one version requires must always exist in the other.
    fn demands(&mut self, here: &Path, here_demands: bool, stored: &Path, stored_demands: bool) {
        let (v, s) = (self.here.version.name, self.stored.version.name);
        if here_demands && !stored_demands {
            self.fault(&format!("{here} is required in {v}, and an object in {s} may have no {stored}"));
        } else if stored_demands && !here_demands {
            self.fault(&format!("{stored} is required in {s}, and an object in {v} may have no {here}"));
        }
    }

    /// Objects from the other version lack fields that only one version has.
    fn kept(&mut self, path: &Path, is_here: bool, renamed: &[(Path, Path)]) {
        let (side, other) = if is_here { (&self.here, &self.stored) } else { (&self.stored, &self.here) };
        let made = renamed.iter().any(|(here, stored)| {
            let (to, from) = if is_here { (here, stored) } else { (stored, here) };
            begins(to, path) && other.always_has(from)
        });
        if side.demands(path) && !made {
            let (name, other) = (side.version.name, other.version.name);
            self.fault(&format!("{path} is required in {name}, and objects that come from {other} have none"));
        }
    }

    fn fault(&mut self, what: &str) {
        self.faults.push(format!("{what}; write the conversion in Rust"));
    }
}

fn below(path: &Path, name: &str) -> Path {
    Path(path.0.iter().map(String::as_str).chain([name]).map(str::to_owned).collect())
}
