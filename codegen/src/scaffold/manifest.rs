//! Lines that are added to a Cargo.toml. All other lines stay as they are.

/// A dependency to add.
pub(crate) struct Dependency {
    /// The name of the crate.
    pub name: &'static str,
    /// The value in Cargo.toml.
    pub value: &'static str,
    /// Why it is there, if its use shows nowhere else; may be empty.
    pub reason: &'static str,
}

/// The key of a line: `serde` of `serde = "1"`, `serde.workspace = true` and `"serde" = "1"`.
fn key(line: &str) -> Option<&str> {
    let (key, _) = line.split_once('=')?;
    let key = key.split('.').next().unwrap_or(key).trim_end().trim_matches('"');
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    is_key.then_some(key)
}

/// The lines of the table `dependencies`: where they begin and end.
fn table(lines: &[String]) -> Option<(usize, usize)> {
    let start = 1 + lines.iter().position(|line| line.trim_end() == "[dependencies]")?;
    let length = lines[start..].iter().position(|line| line.starts_with('[')).unwrap_or(lines.len() - start);
    let used = lines[start..start + length].iter().rposition(|line| !line.trim().is_empty());
    Some((start, start + used.map_or(0, |last| last + 1)))
}

/// The text with these dependencies, sorted into the others. Those that are there stay as they are.
pub(crate) fn with_dependencies(text: &str, dependencies: &[Dependency]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for Dependency { name, value, reason } in dependencies {
        if lines.iter().any(|line| line.trim_end() == format!("[dependencies.{name}]")) {
            continue;
        }
        let (start, end) = table(&lines).unwrap_or_else(|| {
            lines.extend([String::new(), "[dependencies]".to_owned()]);
            (lines.len(), lines.len())
        });
        let of_table = &lines[start..end];
        if of_table.iter().any(|line| key(line) == Some(name)) {
            continue;
        }
        let later = of_table.iter().position(|line| key(line).is_some_and(|key| key > *name));
        let mut at = start + later.unwrap_or(end - start);
        // Comments belong to what follows.
        while at > start && lines[at - 1].starts_with('#') && later.is_some() {
            at -= 1;
        }
        let comment = (!reason.is_empty()).then(|| format!("# {reason}"));
        lines.splice(at..at, comment.into_iter().chain([format!("{name} = {value}")]));
    }
    lines.join("\n") + "\n"
}

/// The text with a feature of a dependency. `None` if the dependency is not one line of the table.
pub(crate) fn with_feature(text: &str, dependency: &str, feature: &str) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (start, end) = table(&lines)?;
    let line = lines[start..end].iter_mut().find(|line| key(line) == Some(dependency))?;
    let (_, value) = line.split_once('=')?;
    let (value, quoted) = (value.trim(), format!("{feature:?}"));
    let value = if value.starts_with('"') {
        format!("{{ version = {value}, features = [{quoted}] }}")
    } else {
        let inner = value.strip_prefix('{')?.strip_suffix('}')?.trim();
        match inner.split_once("features = [") {
            Some((before, rest)) => {
                let (features, after) = rest.split_once(']')?;
                if features.split(',').any(|other| other.trim() == quoted) {
                    return Some(text.to_owned());
                }
                let comma = if features.trim().is_empty() { "" } else { ", " };
                format!("{{ {before}features = [{features}{comma}{quoted}]{after} }}")
            }
            None => format!("{{ {inner}, features = [{quoted}] }}"),
        }
    };
    *line = format!("{dependency} = {value}");
    Some(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KUBE: Dependency = Dependency { name: "kube", value: "\"5\"", reason: "" };

    #[test]
    fn a_dependency_is_sorted_into_the_others_and_added_once() {
        let text = "[package]\nname = \"shop\"\n\n[dependencies]\na = \"1\"\n# For it.\nserde = \"1\"\n\n[dev-dependencies]\nkube = \"4\"\n";
        let once = with_dependencies(text, &[KUBE]);
        assert_eq!(once, text.replace("# For it", "kube = \"5\"\n# For it"));
        assert_eq!(with_dependencies(&once, &[KUBE]), once);
        let reason = Dependency { name: "z", value: "\"1\"", reason: "Why." };
        assert!(with_dependencies(text, &[reason]).contains("serde = \"1\"\n# Why.\nz = \"1\"\n\n[dev"));
    }

    #[test]
    fn a_dependency_that_is_written_otherwise_is_left_alone() {
        for text in [
            "[dependencies]\nkube.workspace = true\n",
            "[dependencies]\n\"kube\" = \"4\"\n",
            "[dependencies]\na = \"1\"\n\n[dependencies.kube]\nversion = \"4\"\n",
        ] {
            assert_eq!(with_dependencies(text, &[KUBE]), text);
        }
        assert_eq!(with_dependencies("[package]\n", &[KUBE]), "[package]\n\n[dependencies]\nkube = \"5\"\n");
        assert_eq!(with_dependencies("[dependencies]\n", &[KUBE]), "[dependencies]\nkube = \"5\"\n");
    }

    #[test]
    fn a_feature_is_added_to_one_line() {
        let of = |value: &str| with_feature(&format!("[dependencies]\nk = {value}\n"), "k", "kube");
        for (value, expected) in [
            ("\"1\"", "{ version = \"1\", features = [\"kube\"] }"),
            ("{ path = \"..\" }", "{ path = \"..\", features = [\"kube\"] }"),
            ("{ path = \"..\", features = [] }", "{ path = \"..\", features = [\"kube\"] }"),
            ("{ features = [\"a\"], path = \"..\" }", "{ features = [\"a\", \"kube\"], path = \"..\" }"),
            ("{ features = [\"kube\"] }", "{ features = [\"kube\"] }"),
        ] {
            assert_eq!(of(value), Some(format!("[dependencies]\nk = {expected}\n")));
        }
        assert_eq!(of("{ features = ["), None, "several lines");
        assert_eq!(with_feature("[dependencies]\nk.workspace = true\n", "k", "kube"), None);
    }
}
