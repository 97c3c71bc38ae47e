//! A controller in the process: the file with its reconciler and a test.

use super::{declarations::KindVersion, names, templates};

/// The file of a kind's controller.
pub(crate) fn source(kind: &KindVersion) -> String {
    let root = &kind.name;
    let variable = match names::module(root) {
        name if ["client", "events", "ready", "shutdown", "written"].contains(&&*name) => "object".to_owned(),
        name => name,
    };
    templates::filled(
        include_str!("templates/controller.txt"),
        &[
            ("root", root),
            ("words", &names::phrase(root)),
            ("one", &names::one(root)),
            ("plural", &kind.plural),
            ("several", &names::phrase(&names::plural(root))),
            ("variable", &variable),
            ("module", &kind.module),
            ("objects", &kind.objects()),
            ("test", &names::one_in_test(root)),
        ],
    )
}
