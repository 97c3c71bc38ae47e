//! Chooses one of the branches of `oneOf` or `anyOf`, such as a variant of an enum, so that a generated value matches one.
use super::random::Random;
use crate::schema::{At, Schema};

/// The chosen branch, and the others.
pub(super) struct Variant<'s> {
    own: &'s Schema,
    all: &'s [Schema],
}

impl<'s> Variant<'s> {
    /// One of the branches of a schema that has some.
    pub(super) fn of(schema: &'s Schema, random: &mut Random) -> Option<Self> {
        let junctors = schema.junctors.as_deref()?;
        let all = if junctors.one_of.is_empty() { &junctors.any_of } else { &junctors.one_of };
        (!all.is_empty()).then(|| Self { own: random.pick(all), all })
    }

    /// Returns true if a value of this variant may have a field: none that only other variants name.
    pub(super) fn has(&self, name: &str) -> bool {
        let names = |branch: &Schema| branch.properties.contains_key(name) || requires(branch, name);
        names(self.own) || !self.all.iter().any(names)
    }

    /// Returns true if a value of this variant must have a field.
    pub(super) fn requires(&self, name: &str) -> bool {
        requires(self.own, name)
    }

    /// The schema of a field if the variant limits its values.
    pub(super) fn field(&self, name: &str, at: At<'_>) -> Option<Schema> {
        let branch = self.own.properties.get(name).filter(|branch| !branch.enumeration.is_empty())?;
        Some(narrowed(at.node(), branch))
    }

    /// The schema of a value of this variant that has no fields.
    pub(super) fn narrowed(&self, schema: &Schema) -> Schema {
        narrowed(schema, self.own)
    }
}

fn requires(branch: &Schema, name: &str) -> bool {
    branch.required.iter().any(|required| required == name)
}

/// A schema of single values with the keywords of a branch.
fn narrowed(schema: &Schema, branch: &Schema) -> Schema {
    let mut narrowed = Schema { junctors: None, ..schema.clone() };
    macro_rules! put {
        ($($field:ident),*) => { $( narrowed.$field = branch.$field.clone().or(narrowed.$field); )* };
    }
    put!(format, pattern, minimum, maximum, min_length, max_length);
    if !branch.enumeration.is_empty() {
        narrowed.enumeration.clone_from(&branch.enumeration);
    }
    narrowed
}
