//! The shape of a definition: its fields and their types. A definition that passes is read by [`Fields`] without further checks.
//!
//! [`Fields`]: crate::schema::keywords::Fields
use crate::schema::{
    Document,
    keywords::{
        Findings, Location,
        Shape::{self, Any, Flag, Integer, Object, Objects, Schema, Text, Texts},
        check_object,
    },
};

const DEFINITION: &[(&str, Shape)] =
    &[("apiVersion", Text), ("kind", Text), ("metadata", Any), ("spec", Object(SPEC)), ("status", Any)];

const SPEC: &[(&str, Shape)] = &[
    ("group", Text),
    ("names", Object(NAMES)),
    ("scope", Text),
    ("versions", Objects(VERSION)),
    ("conversion", Object(CONVERSION)),
    ("preserveUnknownFields", Flag),
];

const NAMES: &[(&str, Shape)] = &[
    ("plural", Text),
    ("singular", Text),
    ("shortNames", Texts),
    ("kind", Text),
    ("listKind", Text),
    ("categories", Texts),
];

const VERSION: &[(&str, Shape)] = &[
    ("name", Text),
    ("served", Flag),
    ("storage", Flag),
    ("deprecated", Flag),
    ("deprecationWarning", Text),
    ("schema", Object(&[("openAPIV3Schema", Schema)])),
    ("subresources", Object(&[("status", Object(&[])), ("scale", Object(SCALE))])),
    ("additionalPrinterColumns", Objects(COLUMN)),
    ("selectableFields", Objects(&[("jsonPath", Text)])),
];

const SCALE: &[(&str, Shape)] =
    &[("specReplicasPath", Text), ("statusReplicasPath", Text), ("labelSelectorPath", Text)];

const COLUMN: &[(&str, Shape)] = &[
    ("name", Text),
    ("type", Text),
    ("format", Text),
    ("description", Text),
    ("priority", Integer),
    ("jsonPath", Text),
];

const CONVERSION: &[(&str, Shape)] = &[
    ("strategy", Text),
    ("webhook", Object(&[("clientConfig", Object(CLIENT_CONFIG)), ("conversionReviewVersions", Texts)])),
];

const CLIENT_CONFIG: &[(&str, Shape)] = &[
    ("url", Text),
    ("service", Object(&[("namespace", Text), ("name", Text), ("path", Text), ("port", Integer)])),
    ("caBundle", Text),
];

/// Finds values of wrong types, which are errors, and unknown fields, which are not read and warned of.
pub(super) fn check(document: &Document, findings: &mut Findings) {
    check_object(DEFINITION, document, &Location::known("", ""), findings);
}
