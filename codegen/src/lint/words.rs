//! The words of field names, and the lists of words that rules know.

/// The words of a name as they are written: `podIPAddress` has `pod`, `IP` and `Address`, `clusterIPs` has `cluster` and `IPs`, and
/// `page_count` has `page` and `count`.
pub(crate) fn words(name: &str) -> Vec<&str> {
    name.split(|c: char| !c.is_alphanumeric()).flat_map(camel_words).collect()
}

fn camel_words(name: &str) -> Vec<&str> {
    let letters: Vec<(usize, char)> = name.char_indices().collect();
    let is_upper = |at: usize| letters.get(at).is_some_and(|(_, letter)| letter.is_uppercase());
    let is_lower = |at: usize| letters.get(at).is_some_and(|(_, letter)| letter.is_lowercase());
    // The plural of an acronym is one word with it.
    let is_plural = |at: usize| letters.get(at).is_some_and(|(_, letter)| *letter == 's') && !is_lower(at + 1);
    let (mut words, mut start) = (Vec::new(), 0);
    for at in 1..letters.len() {
        let ends_acronym = is_upper(at - 1) && is_lower(at + 1) && !is_plural(at + 1);
        if is_upper(at) && (!is_upper(at - 1) || ends_acronym) {
            words.push(&name[start..letters[at].0]);
            start = letters[at].0;
        }
    }
    if start < name.len() {
        words.push(&name[start..]);
    }
    words
}

/// The words of a name in lower case.
pub(crate) fn lower(name: &str) -> Vec<String> {
    words(name).into_iter().map(str::to_lowercase).collect()
}

/// The last word of a name in lower case.
pub(crate) fn last(name: &str) -> String {
    words(name).last().map(|word| word.to_lowercase()).unwrap_or_default()
}

/// Acronyms whose letters have the same case.
pub(crate) const ACRONYMS: [&str; 58] = [
    "acl", "ami", "api", "arn", "aws", "cidr", "cpu", "crd", "csi", "dns", "dnssec", "ebs", "ecs", "eks", "fqdn",
    "gcp", "gke", "gpu", "grpc", "html", "http", "https", "iam", "id", "ip", "iscsi", "json", "jwt", "ldap", "mtu",
    "nat", "nfs", "oidc", "os", "pvc", "rbac", "rpc", "saml", "sctp", "smtp", "sni", "sql", "ssh", "ssl", "sso", "tcp",
    "tls", "ttl", "udp", "uid", "uri", "url", "uuid", "vlan", "vm", "vpc", "xml", "yaml",
];

/// Abbreviations that are not extremely common, with what they stand for.
pub(crate) const ABBREVIATIONS: [(&str, &str); 51] = [
    ("addr", "address"),
    ("alloc", "allocation"),
    ("attr", "attribute"),
    ("attrs", "attributes"),
    ("avail", "available"),
    ("calc", "calculation"),
    ("cfg", "configuration"),
    ("cnt", "count"),
    ("cond", "condition"),
    ("conn", "connection"),
    ("ctrl", "controller"),
    ("ctx", "context"),
    ("curr", "current"),
    ("desc", "description"),
    ("dest", "destination"),
    ("dst", "destination"),
    ("elem", "element"),
    ("err", "error"),
    ("fmt", "format"),
    ("fn", "function"),
    ("func", "function"),
    ("grp", "group"),
    ("hdr", "header"),
    ("idx", "index"),
    ("img", "image"),
    ("impl", "implementation"),
    ("len", "length"),
    ("lvl", "level"),
    ("mgmt", "management"),
    ("mgr", "manager"),
    ("msg", "message"),
    ("num", "number"),
    ("obj", "object"),
    ("passwd", "password"),
    ("pkg", "package"),
    ("prev", "previous"),
    ("ptr", "pointer"),
    ("pwd", "password"),
    ("qty", "quantity"),
    ("req", "request"),
    ("resp", "response"),
    ("sched", "schedule"),
    ("src", "source"),
    ("srv", "server"),
    ("svc", "service"),
    ("tmp", "temporary"),
    ("tmpl", "template"),
    ("tpl", "template"),
    ("usr", "user"),
    ("vol", "volume"),
    ("vols", "volumes"),
];

/// Last words of durations.
pub(crate) const DURATIONS: [&str; 15] = [
    "backoff",
    "cooldown",
    "deadline",
    "delay",
    "duration",
    "expiration",
    "expiry",
    "interval",
    "lag",
    "latency",
    "lifetime",
    "period",
    "timeout",
    "ttl",
    "uptime",
];

/// What has a size in bytes, and hardly one in anything else: words before `size` and `capacity`.
pub(crate) const SIZED: [&str; 10] =
    ["body", "disk", "download", "file", "heap", "memory", "payload", "storage", "upload", "volume"];

/// Words that are amounts of data by themselves.
pub(crate) const AMOUNTS: [&str; 3] = ["disk", "memory", "storage"];

/// Words that are units.
pub(crate) const UNITS: [&str; 32] = [
    "bit",
    "bits",
    "byte",
    "bytes",
    "count",
    "days",
    "gb",
    "gi",
    "gib",
    "gigabytes",
    "hours",
    "kb",
    "ki",
    "kib",
    "kilobytes",
    "mb",
    "mbps",
    "megabytes",
    "mi",
    "mib",
    "microseconds",
    "millis",
    "milliseconds",
    "minutes",
    "nanoseconds",
    "percent",
    "percentage",
    "pages",
    "ratio",
    "seconds",
    "sectors",
    "tib",
];

#[cfg(test)]
mod tests;
