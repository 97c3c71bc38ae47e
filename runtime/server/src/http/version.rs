//! The version that the server answers with.

/// The answer of `/version`. Clients interpret `major` and `minor` as the version of Kubernetes whose API is served.
#[derive(Clone, Debug)]
pub struct VersionInfo {
    /// Major version of Kubernetes.
    pub major: String,
    /// Minor version of Kubernetes.
    pub minor: String,
    /// The full version, such as `v1.36.0+kindsmith-0.1.0`.
    pub git_version: String,
    /// The platform, such as `linux/amd64`.
    pub platform: String,
}

impl VersionInfo {
    /// Parses a version such as `v1.33.0+library-2.1`, whose numbers are those of Kubernetes. `None` if the text does not
    /// begin with three numbers.
    pub fn parse(version: &str) -> Option<Self> {
        let numbers = version.strip_prefix('v').unwrap_or(version);
        let numbers = numbers.split_once(['-', '+']).map_or(numbers, |(numbers, _)| numbers);
        let mut parts = numbers.split('.');
        let mut number = || parts.next().filter(|part| part.parse::<u32>().is_ok());
        let (major, minor, _) = (number()?.to_owned(), number()?.to_owned(), number()?);
        parts.next().is_none().then(|| Self { major, minor, git_version: version.to_owned(), ..Self::default() })
    }
}

impl Default for VersionInfo {
    fn default() -> Self {
        Self {
            major: "1".to_owned(),
            minor: "36".to_owned(),
            git_version: concat!("v1.36.0+kindsmith-", env!("CARGO_PKG_VERSION")).to_owned(),
            platform: format!("{}/{}", std::env::consts::OS, architecture()),
        }
    }
}

/// The CPU architecture as clients of the API name it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::VersionInfo;

    #[test]
    fn a_version_begins_with_the_numbers_of_kubernetes() {
        for (text, minor) in [("v1.33.0+library-2.1.7", "33"), ("1.30.2", "30"), ("v1.36.0-rc.1", "36")] {
            let version = VersionInfo::parse(text).expect(text);
            assert_eq!(
                (version.major.as_str(), version.minor.as_str(), version.git_version.as_str()),
                ("1", minor, text)
            );
        }
        for text in ["", "v", "v1", "v1.33", "1.x.0", "v1.33.0.1", "library-2", "v-1.2.3"] {
            assert!(VersionInfo::parse(text).is_none(), "{text}");
        }
    }
}
