//! Tests of the file: what is read, and every error.
use super::*;

const HEAD: &str = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n";

fn read(authorizers: &str) -> Result<Vec<Authorizer>, Vec<String>> {
    self::authorizers(&format!("{HEAD}{authorizers}"))
}

/// A webhook with these settings.
fn only(settings: &str) -> String {
    format!("- {{type: Webhook, name: w, webhook: {{{settings}}}}}\n")
}

/// A valid webhook with further settings.
fn webhook(settings: &str) -> String {
    let given =
        "timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {type: InClusterConfig}";
    only(&format!("{given}, {settings}"))
}

#[test]
fn the_order_of_the_file_and_all_settings_count() {
    let settings = "authorizedTTL: 1m, cacheUnauthorizedRequests: false, matchConditionSubjectAccessReviewVersion: v1, \
                    matchConditions: [{expression: \"request.user != 'x'\"}]";
    let text = format!("{}- {{type: RBAC, name: rbac}}\n- {{type: AlwaysDeny, name: nothing}}\n", webhook(settings));
    let read = read(&text).unwrap();
    let [Authorizer::Webhook(webhook), Authorizer::Rbac, Authorizer::AlwaysDeny] = &read[..] else {
        panic!("{read:?}")
    };
    let settings = &webhook.settings;
    assert_eq!((&*settings.name, settings.deadlines.attempt), ("w", Duration::from_secs(3)));
    assert_eq!((settings.allowed_for, settings.refused_for), (Duration::from_mins(1), Duration::ZERO));
    assert_eq!((settings.on_failure, settings.version), (OnFailure::Deny, Version::V1));
    assert_eq!((webhook.kubeconfig.as_ref(), webhook.conditions.len()), (None, 1));
}

fn assert_error(text: &str, why: &str) {
    let errors = read(text).expect_err(text);
    assert!(errors.iter().any(|error| error.starts_with(why)), "{text}: {errors:#?}");
}

#[test]
fn errors_of_authorizers_name_their_fields() {
    let types = "supported values: \"AlwaysAllow\", \"AlwaysDeny\", \"RBAC\", \"Webhook\"";
    for (text, why) in [
        ("  []", "authorizers: Required value: at least one authorization mode must be defined"),
        ("- {name: a}", "authorizers[0].type: Required value"),
        ("- {type: Node, name: a}", &format!("authorizers[0].type: Unsupported value: \"Node\": {types}")),
        ("- {type: RBAC, name: a}\n- {type: RBAC, name: b}", "authorizers[1].type: Duplicate value: \"RBAC\""),
        ("- {type: RBAC, name: a}\n- {type: AlwaysAllow, name: a}", "authorizers[1].name: Duplicate value: \"a\""),
        ("- {type: RBAC}", "authorizers[0].name: Required value"),
        ("- {type: RBAC, name: A_}", "authorizers[0].name: Invalid value: \"A_\": authorizer name is invalid: "),
        ("- {type: RBAC, name: a, color: red}", "unknown field \"authorizers[0].color\""),
        ("- {type: RBAC, name: [a]}", "authorizers[0].name: expected a string"),
        ("- RBAC", "authorizers[0]: expected an object"),
        (
            "- {type: RBAC, name: a, webhook: {}}",
            "authorizers[0].webhook: Invalid value: \"non-null\": may only be specified when type=Webhook",
        ),
        ("- {type: Webhook, name: a}", "authorizers[0].webhook: Required value: required when type=Webhook"),
    ] {
        assert_error(text, why);
    }
    let repeated = read("- {type: RBAC, name: a, name: b}").unwrap_err();
    assert!(repeated[0].contains("name"), "{repeated:?}");
    let errors = authorizers("kind: X").unwrap_err();
    assert!(errors.iter().any(|error| error.starts_with("apiVersion: Unsupported value: \"\"")), "{errors:?}");
}

#[test]
fn errors_of_webhooks_name_their_fields() {
    let file = |path: &str| only(&format!("connectionInfo: {{type: KubeConfigFile, kubeConfigFile: {path}}}"));
    let condition = |expression: &str| webhook(&format!("matchConditions: [{{expression: '{expression}'}}]"));
    for (text, why) in [
        (only("timeout: 31s"), "timeout: Invalid value: must be > 0s and <= 30s"),
        (only("timeout: soon"), "timeout: time: invalid duration \"soon\""),
        (only(""), "timeout: Required value"),
        (only(""), "subjectAccessReviewVersion: Required value"),
        (only(""), "failurePolicy: Required value"),
        (
            only("failurePolicy: Ignore"),
            "failurePolicy: Unsupported value: \"Ignore\": supported values: \"NoOpinion\", \"Deny\"",
        ),
        (only(""), "connectionInfo.type: Required value"),
        (file("k"), "connectionInfo.kubeConfigFile: Invalid value: \"k\": must be an absolute path"),
        (file("/"), "connectionInfo.kubeConfigFile: Invalid value: \"/\": must be a regular file"),
        (file("/missing"), "connectionInfo.kubeConfigFile: Invalid value: \"/missing\": error loading file: "),
        (webhook("unauthorizedTTL: -1s"), "unauthorizedTTL: Invalid value: must be > 0s"),
        (
            condition("true"),
            "matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified",
        ),
        (
            condition("request.user"),
            "matchConditions[0].expression: Invalid value: \"request.user\": must evaluate to bool but got string",
        ),
        (condition(" "), "matchConditions[0].expression: Required value"),
    ] {
        assert_error(&text, &format!("authorizers[0].webhook.{why}"));
    }
}
