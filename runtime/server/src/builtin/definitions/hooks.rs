//! The hooks of definitions: a write fills in defaults, the reader of definitions validates it, and a deletion waits
//! for the definition's objects.
use std::future::ready;

use serde_json::{Value, json};

use super::{FINALIZER, names::put_condition, reading::read};
use crate::{
    crd,
    kind::binding::{DocumentHooks, Hook, HookContext, HookFuture},
    meta::{ByteString, FieldError, FieldErrorKind, FieldPath},
    schema::{Document, Schema},
    webhook::authorities,
};

/// The number of bytes of an invalid bundle that an error shows.
const SHOWN_BYTES: usize = 64;

/// The code of the kind.
pub(super) struct Hooks;

impl DocumentHooks for Hooks {
    fn runs(&self, hook: Hook) -> bool {
        matches!(hook, Hook::Defaults | Hook::Validation | Hook::Deletion)
    }

    fn set_defaults<'a>(&'a self, object: &'a mut Document, context: HookContext<'a>) -> HookFuture<'a, ()> {
        if context.subresource != "status" {
            fill_in(object, context.old.is_none());
        }
        Box::pin(ready(Ok(())))
    }

    fn validate<'a>(&'a self, object: &'a Document, context: HookContext<'a>) -> HookFuture<'a, Vec<FieldError>> {
        Box::pin(async move {
            let mut errors = Vec::new();
            if context.subresource != "status" {
                errors.extend(judged(object, &context).await);
                errors.extend(context.old.map(|old| changed(object, old)).unwrap_or_default());
                errors.extend(context.old.and_then(|old| spoiled_ca_bundle(object, old)));
            }
            errors.extend(stored_versions(object));
            Ok(errors)
        })
    }

    /// Kube-apiserver marks a definition with the finalizer that waits for its objects, and counts no generation.
    fn on_delete<'a>(&'a self, object: &'a mut Document, _: &'a Schema) -> HookFuture<'a, ()> {
        let metadata = &mut object["metadata"];
        if let Some(generation) = metadata["generation"].as_i64() {
            metadata["generation"] = (generation - 1).into();
        }
        let finalizers = metadata["finalizers"].as_array().cloned().unwrap_or_default();
        if finalizers.iter().all(|finalizer| finalizer != FINALIZER) {
            metadata["finalizers"] = [finalizers, vec![FINALIZER.into()]].concat().into();
        }
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.remove("deletionGracePeriodSeconds");
        }
        let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
        put_condition(&mut object["status"], "Terminating", true, "InstanceDeletionPending", message);
        Box::pin(ready(Ok(())))
    }
}

/// Fills in the specification, and the version that objects are stored in from now on.
fn fill_in(object: &mut Document, is_new: bool) {
    fill_in_spec(&mut object["spec"]);
    if is_new {
        let names = json!({"plural": "", "kind": ""});
        object["status"] = json!({"conditions": null, "acceptedNames": names, "storedVersions": null});
    }
    let Some(storage) = storage_version(object).map(str::to_owned) else { return };
    let stored = &mut object["status"]["storedVersions"];
    if !stored.is_array() {
        *stored = json!([]);
    }
    if let Some(stored) = stored.as_array_mut().filter(|stored| stored.iter().all(|name| *name != storage)) {
        stored.push(storage.into());
    }
}

/// The errors that the reader of definitions finds. Its warnings are for the client.
async fn judged(object: &Document, context: &HookContext<'_>) -> Vec<FieldError> {
    let defined = match read(object, context.old).await {
        Ok(defined) => defined,
        Err(findings) => {
            let errors = findings.errors.into_iter().map(|fault| fault.error);
            // The name of an object does not change; where the plural or the group does, that is the error.
            return errors.filter(|error| context.old.is_none() || error.path.as_str() != "metadata.name").collect();
        }
    };
    // Unknown fields are reported as those of every kind are, except in schemas, which are kept as they are.
    let is_reported =
        |warning: &&crd::Warning| warning.is_unknown_field && !warning.pointer.contains("/openAPIV3Schema/");
    for warning in defined.warnings.iter().filter(|warning| !is_reported(warning)) {
        // kube-apiserver warns of formats, without a place.
        let is_of_format = warning.text.starts_with("unrecognized format ");
        let place = if is_of_format { String::new() } else { format!("{}: ", warning.pointer) };
        context.warnings.add(place + &warning.text);
    }
    Vec::new()
}

/// Fills in the defaults of kube-apiserver, and the fields that it always shows.
fn fill_in_spec(spec: &mut Document) {
    let Some(spec) = spec.as_object_mut() else { return };
    if spec.get("conversion").is_none_or(Value::is_null) {
        spec.insert("conversion".to_owned(), json!({"strategy": "None"}));
    }
    if let Some(service) = spec
        .get_mut("conversion")
        .and_then(|conversion| conversion.pointer_mut("/webhook/clientConfig/service").and_then(Value::as_object_mut))
    {
        service.entry("port").or_insert_with(|| 443.into());
    }
    for version in spec.get_mut("versions").and_then(Value::as_array_mut).into_iter().flatten() {
        for flag in ["served", "storage"] {
            if let Some(version) = version.as_object_mut() {
                version.entry(flag).or_insert(Value::Bool(false));
            }
        }
    }
    let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) else { return };
    let kind = names.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    if kind.is_empty() {
        return;
    }
    for (field, default) in [("singular", kind.to_lowercase()), ("listKind", format!("{kind}List"))] {
        if names.get(field).and_then(Value::as_str).unwrap_or_default().is_empty() {
            names.insert(field.to_owned(), default.into());
        }
    }
}

/// The name of the first version that is to be stored.
fn storage_version(definition: &Document) -> Option<&str> {
    let mut versions = definition["spec"]["versions"].as_array()?.iter();
    versions.find(|version| version["storage"] == true)?["name"].as_str()
}

/// Errors for fields that must not change: group and plural, and once the definition is established, scope and kind.
fn changed(new: &Document, old: &Document) -> Vec<FieldError> {
    let established: &[&str] =
        if super::names::is_true(&old["status"], "Established") { &["scope", "names.kind"] } else { &[] };
    let field = |path: &&str| {
        let pointer = format!("/spec/{}", path.replace('.', "/"));
        let value = new.pointer(&pointer).cloned().unwrap_or_default();
        (Some(&value) != old.pointer(&pointer)).then(|| {
            let path = FieldPath::new(format!("spec.{path}"));
            FieldError::new(&path, FieldErrorKind::Invalid(value), "field is immutable")
        })
    };
    established.iter().chain(&["group", "names.plural"]).filter_map(field).collect()
}

/// Why the webhook of a definition cannot be called: no authority is in its bundle.
pub(super) fn invalid_ca_bundle(definition: &Document) -> Option<(Vec<u8>, String)> {
    let text = definition.pointer("/spec/conversion/webhook/clientConfig/caBundle").and_then(Value::as_str);
    let text = text.filter(|text| !text.is_empty())?;
    match ByteString::from_base64(text) {
        Ok(ByteString(bundle)) => authorities(&bundle).err().map(|why| (bundle, why)),
        Err(error) => Some((text.as_bytes().to_vec(), format!("unable to load root certificates: {error}"))),
    }
}

/// An established definition keeps a bundle with an authority, if it had one, or gets one.
fn spoiled_ca_bundle(new: &Document, old: &Document) -> Option<FieldError> {
    let was_invalid = || invalid_ca_bundle(old).is_some();
    if !super::names::is_true(&old["status"], "Established") || was_invalid() {
        return None;
    }
    let (bundle, why) = invalid_ca_bundle(new)?;
    let bytes: Vec<String> = bundle.iter().take(SHOWN_BYTES).map(|byte| format!("{byte:#x}")).collect();
    let more = if bundle.len() > SHOWN_BYTES { ", ..." } else { "" };
    let given = FieldErrorKind::InvalidText(format!("[]byte{{{}{more}}}", bytes.join(", ")));
    Some(FieldError::new(&FieldPath::new("spec.conversion.webhookClientConfig.caBundle"), given, why))
}

/// Checks the versions that objects may be stored in.
fn stored_versions(definition: &Document) -> Vec<FieldError> {
    let path = FieldPath::new("status.storedVersions");
    let stored = &definition["status"]["storedVersions"];
    let names: Vec<&str> = stored.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let invalid = |path: &FieldPath, value: &Document, detail: String| {
        FieldError::new(path, FieldErrorKind::Invalid(value.clone()), detail)
    };
    if names.is_empty() {
        return vec![invalid(&path, stored, "must have at least one stored version".to_owned())];
    }
    let versions = || definition["spec"]["versions"].as_array().into_iter().flatten();
    let name_of = |version: &Document| version["name"].as_str().unwrap_or_default().to_owned();
    let mut errors: Vec<_> = versions()
        .filter(|version| version["storage"] == true && !names.contains(&&*name_of(version)))
        .map(|version| invalid(&path, stored, format!("must have the storage version {}", name_of(version))))
        .collect();
    for (index, name) in
        names.iter().enumerate().filter(|(_, name)| versions().all(|version| name_of(version) != **name))
    {
        let detail = format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a \
             storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
        );
        errors.push(invalid(&path.index(index), &json!(name), detail));
    }
    errors
}
