//! Where objects are stored.
use super::Setting;
use crate::server::settings::effect::Effect::{Flag, Path, Text, Texts, Time};

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "dataDir",
        "DIR",
        Path(|plan, value| plan.data_dir = Some(value)),
        "Directory for objects, certificates, the admin token and the kubeconfig.",
    )
    .or("./data"),
    Setting::new(
        "memory",
        "BOOL",
        Flag(|plan, value| plan.memory = value),
        "Keep everything in memory and temporary files only.",
    )
    .or("false"),
    Setting::new(
        "etcd.endpoints",
        "URL",
        Texts(|plan, value| plan.etcd.endpoints = value),
        "Store objects in the etcd with these members, which several servers may share. The data directory then has the other files.",
    ),
    Setting::new(
        "etcd.prefix",
        "KEY",
        Text(|plan, value| plan.etcd.prefix = Some(value)),
        "The beginning of all keys in etcd.",
    ),
    Setting::new("etcd.user", "NAME", Text(|plan, value| plan.etcd.user = Some(value)), "User of etcd."),
    Setting::new(
        "etcd.passwordFile",
        "FILE",
        Path(|plan, value| plan.etcd.password_file = Some(value)),
        "File with the user's password in its first line.",
    ),
    Setting::new(
        "etcd.ca",
        "FILE",
        Path(|plan, value| plan.etcd.ca = Some(value)),
        "Authorities of the members' certificates in PEM.",
    ),
    Setting::new(
        "etcd.cert",
        "FILE",
        Path(|plan, value| plan.etcd.cert = Some(value)),
        "Client certificate for etcd in PEM.",
    ),
    Setting::new(
        "etcd.key",
        "FILE",
        Path(|plan, value| plan.etcd.key = Some(value)),
        "Key of that certificate in PEM.",
    ),
    Setting::new(
        "etcd.historyAge",
        "TIME",
        Time(|plan, value| plan.etcd.history_age = Some(value)),
        "How long past changes stay in etcd, at least.",
    ),
    Setting::new(
        "encryptionProviderConfig",
        "FILE",
        Path(|plan, value| plan.encryption = Some(value)),
        "Encrypt stored objects with the keys in this file: kube-apiserver's EncryptionConfiguration.",
    ),
];
