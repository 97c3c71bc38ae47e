//! What a user may do, as far as authorizers can list it.

/// The actions that a user may perform in a namespace, as far as they can be listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// Actions on resources.
    pub resources: Vec<ResourceRule>,
    /// Actions on paths that are not resources.
    pub paths: Vec<PathRule>,
    /// The reasons why rules may be missing; empty if the rules are complete.
    pub unlisted: Vec<String>,
    /// What went wrong, such as bindings to roles that do not exist. The rules are complete nevertheless.
    pub errors: Vec<String>,
}

/// Actions on resources: each of the verbs on each of the resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceRule {
    /// The verbs; `*` means all.
    pub verbs: Vec<String>,
    /// The API groups; `*` means all.
    pub groups: Vec<String>,
    /// The resources by their plural names, and subresources as `books/status`; `*` means all.
    pub resources: Vec<String>,
    /// The names of the objects; empty for all.
    pub names: Vec<String>,
}

/// Actions on paths that are not resources: each of the verbs on each of the paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathRule {
    /// The HTTP methods in lower case; `*` means all.
    pub verbs: Vec<String>,
    /// The paths; `*` at the end stands for the rest of a path.
    pub paths: Vec<String>,
}

impl Rules {
    /// No rules, because they cannot be listed for this reason.
    pub fn unlisted(reason: impl Into<String>) -> Self {
        Self { unlisted: vec![reason.into()], ..Self::default() }
    }

    /// Adds other rules.
    pub fn add(&mut self, other: Self) {
        self.resources.extend(other.resources);
        self.paths.extend(other.paths);
        self.unlisted.extend(other.unlisted);
        self.errors.extend(other.errors);
    }
}

impl ResourceRule {
    /// These verbs on these resources of these groups.
    pub fn new(verbs: &[&str], groups: &[&str], resources: &[&str]) -> Self {
        Self { verbs: owned(verbs), groups: owned(groups), resources: owned(resources), names: Vec::new() }
    }
}

impl PathRule {
    /// These verbs on these paths.
    pub fn new(verbs: &[&str], paths: &[&str]) -> Self {
        Self { verbs: owned(verbs), paths: owned(paths) }
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}
