//! Checks of the conversion between versions.
use serde_json::json;

use super::super::{Fields, Findings, Location, definition::Definition};
use crate::meta::{go, url::Url, validate};

const CONVERSION: Location<'static> = Location::known("spec.conversion", "/spec/conversion");
const CLIENT: Location<'static> =
    Location::known("spec.conversion.webhookClientConfig", "/spec/conversion/webhook/clientConfig");
const REVIEWS: Location<'static> =
    Location::known("spec.conversion.conversionReviewVersions", "/spec/conversion/webhook/conversionReviewVersions");

/// What messages say of ports.
const INVALID_PORT: &str = "port is not valid: must be between 1 and 65535, inclusive";

/// What messages say of URLs.
const FORM: &str = "; desired format: https://host[/path]";

pub(super) fn check(definition: &Definition<'_>, preserves: bool, findings: &mut Findings) {
    let Some(conversion) = definition.spec.object("conversion") else { return };
    let (strategy, at) = (conversion.text("strategy"), CONVERSION.field("strategy"));
    if strategy != "None" && preserves {
        findings.invalid(&at, strategy, "must be None if spec.preserveUnknownFields is true");
    }
    match strategy {
        "" => findings.required(&at, ""),
        "None" | "Webhook" => {}
        other => findings.unsupported(&at, other, &["None", "Webhook"]),
    }
    let webhook = conversion.part("webhook");
    let client = webhook.object("clientConfig");
    if strategy == "Webhook" {
        match client {
            None => findings.required(&CLIENT, "required when strategy is set to Webhook"),
            Some(client) => called(client, findings),
        }
        reviews(webhook, findings);
    } else {
        let detail = "should not be set when strategy is not set to Webhook";
        if client.is_some() {
            findings.forbidden(&CLIENT, detail);
        }
        if !webhook.items("conversionReviewVersions").is_empty() {
            findings.forbidden(&REVIEWS, detail);
        }
    }
}

fn called(client: Fields<'_>, findings: &mut Findings) {
    match (client.get("url"), client.object("service")) {
        (Some(_), None) => url(client.text("url"), findings),
        (None, Some(called)) => service(called, findings),
        _ => findings.required(&CLIENT, "exactly one of url or service is required"),
    }
}

/// As kube-apiserver checks it, and besides that the host and the port can be connected to.
fn url(text: &str, findings: &mut Findings) {
    let at = CLIENT.field("url");
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(why) => {
            let text = go::quoted(&go::shortened(text));
            return findings.required(&at, format!("url must be a valid URL: parse {text}: {why}{FORM}"));
        }
    };
    if url.scheme != "https" {
        findings.invalid(&at, &*url.scheme, format!("'https' is the only allowed URL scheme{FORM}"));
    }
    if url.authority.is_empty() {
        findings.invalid(&at, "", format!("host must be specified{FORM}"));
    } else if !url.names_host() {
        findings.invalid(&at, url.authority, format!("host must be a DNS name or an IP address{FORM}"));
    }
    if url.port_or(443).is_none() {
        findings.invalid(&at, url.port, INVALID_PORT);
    }
    let user = url.user.unwrap_or_default();
    for (given, what) in
        [(user, "user information is"), (url.fragment, "fragments are"), (url.query, "query parameters are")]
    {
        if !given.is_empty() {
            findings.invalid(&at, given, format!("{what} not permitted in the URL"));
        }
    }
}

fn service(service: Fields<'_>, findings: &mut Findings) {
    let at = CLIENT.field("service");
    for (name, detail) in [("name", "service name is required"), ("namespace", "service namespace is required")] {
        if service.text(name).is_empty() {
            findings.required(&at.field(name), detail);
        }
    }
    let port = service.integer("port").unwrap_or(443);
    if !(1..=65535).contains(&port) {
        findings.invalid(&at.field("port"), port, INVALID_PORT);
    }
    let (path, at) = (service.text("path"), at.field("path"));
    if matches!(path, "" | "/") {
        return;
    }
    let Some(inside) = path.strip_prefix('/') else {
        return findings.invalid(&at, path, "must start with a '/'");
    };
    for (index, step) in inside.strip_suffix('/').unwrap_or(inside).split('/').enumerate() {
        if step.is_empty() {
            findings.invalid(&at, path, format!("segment[{index}] may not be empty"));
            continue;
        }
        for wrong in validate::subdomain(step, false) {
            findings.invalid(&at, path, format!("segment[{index}]: {wrong}"));
        }
    }
}

fn reviews(webhook: Fields<'_>, findings: &mut Findings) {
    let versions: Vec<&str> = webhook.texts("conversionReviewVersions").collect();
    if versions.is_empty() {
        return findings.required(&REVIEWS, "");
    }
    for (index, version) in versions.iter().enumerate() {
        let at = REVIEWS.index(index);
        if versions[..index].contains(version) {
            findings.invalid(&at, *version, "duplicate version");
            continue;
        }
        for wrong in validate::dns_1035_label(version) {
            findings.invalid(&at, *version, wrong);
        }
    }
    if !versions.iter().any(|version| ["v1", "v1beta1"].contains(version)) {
        findings.invalid(&REVIEWS, json!(versions), "must include at least one of v1, v1beta1");
    }
}
