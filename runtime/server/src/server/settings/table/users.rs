//! Who users are, and what they may do.
use super::Setting;
use crate::server::settings::effect::Effect::{Choice, Flag, Path, Texts};

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "tokenFile",
        "FILE",
        Path(|plan, value| plan.token_file = Some(value)),
        "Users by token: lines of token,user,uid,\"group,group\". Read again when it changes, as are all files of this section.",
    ),
    Setting::new(
        "clientCa",
        "FILE",
        Path(|plan, value| plan.client_ca = Some(value)),
        "Authorities of client certificates in PEM: CN is the user, O are the groups.",
    ),
    Setting::new(
        "serviceAccountKeys",
        "FILE",
        Path(|plan, value| plan.service_account_keys = Some(value)),
        "Private keys in PEM for the tokens of service accounts: the first signs, the others only check.",
    ),
    Setting::new(
        "authenticationConfig",
        "FILE",
        Path(|plan, value| plan.authentication_config = Some(value)),
        "Issuers whose ID tokens are accepted: kube-apiserver's AuthenticationConfiguration.",
    ),
    Setting::new(
        "authorizationConfig",
        "FILE",
        Path(|plan, value| plan.authorization_config = Some(value)),
        "Who decides what users may do, and in which order: kube-apiserver's AuthorizationConfiguration.",
    ),
    Setting::new(
        "tokenWebhook",
        "KUBECONFIG",
        Path(|plan, value| plan.token_webhook = Some(value)),
        "Webhook that reviews tokens (TokenReview).",
    ),
    Setting::new(
        "anonymous",
        "ACCESS",
        Choice(&["all", "health", "none"], |plan, value| plan.anonymous = Some(value.to_owned())),
        "Which requests without credentials are let in: all, for which roles decide; health checks; or none.",
    ),
    Setting::new(
        "frontProxy.ca",
        "FILE",
        Path(|plan, value| plan.front_proxy_ca = Some(value)),
        "Authorities of the client certificate of a proxy in front, which names users in X-Remote-* headers.",
    ),
    Setting::new(
        "frontProxy.allowedNames",
        "NAME",
        Texts(|plan, value| plan.front_proxy_names = value),
        "Common names that the proxy's certificate may have; any without them.",
    ),
    Setting::new(
        "delegate",
        "KUBECONFIG",
        Path(|plan, value| plan.delegate = Some(value)),
        "Serve behind another API server: the kubeconfig of the host, which says who users are and what they may do.",
    ),
    Setting::new(
        "delegateInCluster",
        "BOOL",
        Flag(|plan, value| plan.delegate_in_cluster = value),
        "Serve behind the API server of the cluster in which this runs as a Pod.",
    )
    .or("false"),
];
