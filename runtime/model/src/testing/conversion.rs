//! Checks that a conversion between two versions of a kind loses nothing.
use super::{agree, documents};
use crate::{
    kind::{Kind, convert::Answers},
    schema::{self, Document, Meter},
};

/// The number of documents of each version to convert.
const ROUNDS: usize = 500;
/// The maps in metadata that conversions may change. Every other document gets an entry in each that must be kept.
const TEXTS: [&str; 2] = ["labels", "annotations"];
const KEPT: &str = "example.com/kept";

/// Checks that the conversion of `T` loses nothing: objects of the stored version must survive being read and written
/// in this version, and the other way round. Without a conversion, both versions must declare the same fields. Documents are compared as in [`super::schema_and_type_agree`]. In
/// addition, a field that an object of this version omits may get a value, because the stored version has defaults of
/// its own. Objects that the conversion refuses are skipped.
///
/// # Panics
/// If a field is lost (the message shows it and the document), if every document is refused, or if `T` is the stored
/// version itself.
pub fn conversion_loses_nothing<T: crate::Resource>() {
    let storage = T::RESOURCE.storage.expect("a version that is not the stored one");
    let (here, stored) = match storage.resource.build(storage.root) {
        Ok(stored) => (T::kind(), stored),
        Err(error) => panic!("the declaration of {} cannot be served: {error}", storage.resource.kind),
    };
    round(&stored, &here, |given| {
        let between = pruned(&here, here.convert_from_stored(given, &Answers::none())?);
        Ok((between.clone(), here.convert_to(&stored, between, &Meter::default(), &Answers::none())?))
    });
    round(&here, &stored, |given| {
        let between = pruned(&stored, here.convert_to(&stored, given, &Meter::default(), &Answers::none())?);
        Ok((between.clone(), here.convert_from_stored(between, &Answers::none())?))
    });
}

/// Objects are pruned when they are decoded, and without a conversion only then.
fn pruned(kind: &Kind, mut document: Document) -> Document {
    schema::prune(&kind.version.schema, &mut document);
    document
}

/// Converts documents of one version to another and back.
fn round(from: &Kind, through: &Kind, convert: impl Fn(Document) -> Result<(Document, Document), String>) {
    let (here, there) = (&from.group_version, &through.group_version);
    let mut refusal = None;
    let mut converted = 0;
    for (number, mut document) in documents(from, 0x6b69_6e64).take(ROUNDS).enumerate() {
        if number % 2 == 0 {
            for texts in TEXTS {
                document["metadata"][texts][KEPT] = "yes".into();
            }
        }
        match convert(document.clone()) {
            Err(why) => refusal = Some(why),
            Ok((between, back)) => {
                converted += 1;
                if let Some(lost) = lost(from, &document, &back) {
                    panic!(
                        "{} loses {lost} on the way from {here} through {there}\ngiven: {document:#}\nin {there}: \
                         {between:#}\nand back: {back:#}",
                        from.names().kind
                    );
                }
            }
        }
    }
    if converted == 0 {
        let why = refusal.unwrap_or_default();
        panic!("no {} could be converted from {here} to {there} and back: {why}", from.names().kind);
    }
}

/// The first field that differs after a conversion and back.
fn lost(kind: &Kind, given: &Document, back: &Document) -> Option<String> {
    for texts in TEXTS {
        let kept = |document: &Document| document["metadata"].get(texts)?.get(KEPT).cloned();
        if kept(given) != kept(back) {
            return Some(format!("metadata.{texts}[{KEPT}]"));
        }
    }
    let mut given = given.clone();
    if kind.binding.conversion.is_some() {
        fill(&mut given, back);
    }
    agree::difference(&kind.version.schema, &given, back).map(|path| path.to_string())
}

/// Adds the fields of another document that a document omits.
fn fill(document: &mut Document, other: &Document) {
    match (document, other) {
        (Document::Object(fields), Document::Object(others)) => {
            for (name, other) in others {
                match fields.get_mut(name) {
                    Some(field) => fill(field, other),
                    None => {
                        fields.insert(name.clone(), other.clone());
                    }
                }
            }
        }
        (Document::Array(items), Document::Array(others)) => {
            for (item, other) in items.iter_mut().zip(others) {
                fill(item, other);
            }
        }
        _ => {}
    }
}
