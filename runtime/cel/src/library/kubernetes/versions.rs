//! The parts of the language in each version of Kubernetes: a table of libraries and settings.
use std::sync::OnceLock;

use super::{authz, format, lists, quantity, regex, semver, url};
use crate::{
    Env, Library, Settings,
    library::{extensions, network, standard, validators},
    syntax::Limits,
};

/// The minor version of Kubernetes whose language this is.
pub const LATEST: u32 = 36;

/// Something that versions from one on have, up to another.
struct Row {
    since: u32,
    until: Option<u32>,
    feature: Feature,
}

/// Something that a version has.
enum Feature {
    Library(&'static Library),
    /// A setting other than [`BEGINNING`].
    Setting(fn(&mut Settings)),
}

const fn library(since: u32, library: &'static Library) -> Row {
    Row { since, until: None, feature: Feature::Library(library) }
}

const fn setting(since: u32, set: fn(&mut Settings)) -> Row {
    Row { since, until: None, feature: Feature::Setting(set) }
}

/// The table, in the order in which kube-apiserver makes an environment: overloads and validators are in this order.
///
/// Rules that were stored before may use what no version lost; nothing was taken away so far but a version that a later one contains. One
/// environment serves both new and stored rules therefore. Since 1.31 a reserved word may be the name of a field, too: that is a matter of
/// the types of schemas.
static TABLE: [Row; 21] = [
    library(0, &standard::STANDARD),
    library(0, &HOMOGENEOUS_LITERALS),
    library(0, &url::URLS),
    library(0, &regex::REGEX),
    library(0, &lists::LISTS),
    library(27, &authz::AUTHZ),
    setting(28, |settings| settings.cross_type_comparisons = true),
    setting(28, |settings| settings.optional_syntax = true),
    library(28, &standard::OPTIONALS),
    library(28, &quantity::QUANTITY),
    library(29, &LITERALS),
    Row { since: 0, until: Some(29), feature: Feature::Library(&extensions::STRINGS_0) },
    library(29, &extensions::STRINGS_2),
    library(29, &extensions::SETS),
    library(30, &network::IP),
    library(30, &network::CIDR),
    library(31, &format::FORMAT),
    library(31, &authz::AUTHZ_SELECTORS),
    library(32, &extensions::COMPREHENSIONS),
    library(33, &semver::SEMVER),
    library(34, &extensions::LISTS),
];

/// The settings of the first version.
const BEGINNING: Settings = Settings {
    optional_syntax: false,
    escaped_identifiers: false,
    cross_type_comparisons: false,
    presence_tests_cost: false,
    bad_presence_tests_fail: false,
    fold_constants: true,
    limits: Limits::KUBERNETES,
};

/// All elements of a literal have one type.
static HOMOGENEOUS_LITERALS: Library = Library {
    name: "kubernetes.literals.homogeneous",
    functions: Vec::new,
    macros: &[],
    types: Vec::new,
    validators: &[validators::homogeneous_literals],
};

/// Literals that are durations, timestamps and patterns are valid.
static LITERALS: Library = Library {
    name: "kubernetes.literals",
    functions: Vec::new,
    macros: &[],
    types: Vec::new,
    validators: &[validators::duration, validators::timestamp, validators::matches],
};

/// The version from which on nothing changes.
const LAST_CHANGE: usize = 34;

/// The environments built so far, by version.
static ENVIRONMENTS: [OnceLock<Env>; LAST_CHANGE + 1] = [const { OnceLock::new() }; LAST_CHANGE + 1];

impl Env {
    /// The environment of rules in a version of Kubernetes (36 for 1.36): what that version has of the language and its libraries.
    /// Environments of one version share all but their variables.
    pub fn kubernetes(minor: u32) -> Self {
        let index = usize::try_from(minor).unwrap_or(LAST_CHANGE).min(LAST_CHANGE);
        ENVIRONMENTS[index].get_or_init(|| build(minor)).clone()
    }

    /// The environment of rules in the version of Kubernetes that the server is like.
    pub fn kubernetes_latest() -> Self {
        Self::kubernetes(LATEST)
    }
}

/// The libraries of a version, from which other environments can be made.
pub fn libraries(minor: u32) -> Vec<&'static Library> {
    let library = |row: &Row| match row.feature {
        Feature::Library(library) => Some(library),
        Feature::Setting(_) => None,
    };
    rows(minor).filter_map(library).collect()
}

/// The settings of a version.
pub fn settings(minor: u32) -> Settings {
    let mut settings = BEGINNING;
    for row in rows(minor) {
        if let Feature::Setting(set) = row.feature {
            set(&mut settings);
        }
    }
    settings
}

fn rows(minor: u32) -> impl Iterator<Item = &'static Row> {
    TABLE.iter().filter(move |row| row.since <= minor && row.until.is_none_or(|until| minor < until))
}

fn build(minor: u32) -> Env {
    Env::new(settings(minor), &libraries(minor))
}
