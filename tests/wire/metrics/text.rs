//! Prometheus' text format, version 0.0.4, read strictly: what this takes, every scraper takes.

use std::collections::{BTreeMap, BTreeSet};

/// The labels of a series, by name.
pub(crate) type Labels = BTreeMap<String, String>;

/// A metric with all of its series.
#[derive(Debug)]
pub(crate) struct Family {
    /// `counter`, `gauge` or `histogram`.
    pub kind: String,
    /// The samples, each under its full name, such as `_bucket` ones.
    pub samples: BTreeMap<(String, Labels), f64>,
}

/// A page of metrics.
#[derive(Debug)]
pub(crate) struct Page(pub BTreeMap<String, Family>);

impl Page {
    /// Reads a page.
    ///
    /// # Panics
    /// Where a scraper would refuse it, or could read it in two ways.
    pub(crate) fn read(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line ends");
        let (mut families, mut helped) = (BTreeMap::<String, Family>::new(), None);
        let mut current = String::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').expect(line);
                assert!(is_name(name) && !help.is_empty() && unescaped(help, false).is_some(), "{line}");
                assert!(!families.contains_key(name), "a second HELP: {line}");
                helped = Some(name.to_owned());
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect(line);
                assert_eq!(helped.take().as_deref(), Some(name), "TYPE comes after HELP: {line}");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert!(*name > *current || current.is_empty(), "families are sorted: {line}");
                name.clone_into(&mut current);
                let family = Family { kind: kind.to_owned(), samples: BTreeMap::new() };
                assert!(families.insert(name.to_owned(), family).is_none(), "a second TYPE: {line}");
            } else {
                let (name, labels, value) = sample(line).unwrap_or_else(|| panic!("no sample: {line}"));
                let family = families.get_mut(&current).expect(line);
                let suffix = name.strip_prefix(current.as_str()).unwrap_or_else(|| panic!("of no family: {line}"));
                let suffixes: &[&str] = if family.kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
                assert!(suffixes.contains(&suffix), "{line}");
                assert!(family.kind == "gauge" || (value.is_finite() && value >= 0.0), "{line}");
                assert!(family.samples.insert((name, labels), value).is_none(), "twice: {line}");
            }
        }
        for (name, family) in &families {
            assert!(!family.samples.is_empty(), "{name} is empty");
            check_labels(name, family);
            if family.kind == "histogram" {
                check_histogram(name, family);
            }
        }
        Self(families)
    }

    /// The value of a series; `None` if the page has no such series.
    pub(crate) fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let family = self.0.iter().find(|(family, _)| name.starts_with(*family) && self.is_of(family, name))?.1;
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        family.samples.get(&(name.to_owned(), labels)).copied()
    }

    fn is_of(&self, family: &str, name: &str) -> bool {
        self.0[family].samples.keys().any(|(sample, _)| sample == name)
    }

    /// How many samples there are.
    pub(crate) fn len(&self) -> usize {
        self.0.values().map(|family| family.samples.len()).sum()
    }
}

fn is_name(text: &str) -> bool {
    let head = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
    text.starts_with(head) && text.chars().all(|c| head(c) || c.is_ascii_digit())
}

/// Text without its escapes; `None` where one is not known, or a quote stands unescaped in a value.
fn unescaped(text: &str, is_value: bool) -> Option<String> {
    let (mut out, mut rest) = (String::new(), text.chars());
    while let Some(c) = rest.next() {
        out.push(match c {
            '\\' => match rest.next()? {
                '\\' => '\\',
                'n' => '\n',
                '"' if is_value => '"',
                _ => return None,
            },
            '"' if is_value => return None,
            c => c,
        });
    }
    Some(out)
}

fn sample(line: &str) -> Option<(String, Labels, f64)> {
    let end = line.find(['{', ' '])?;
    let (name, mut rest) = line.split_at(end);
    let mut labels = Labels::new();
    if let Some(mut inside) = rest.strip_prefix('{') {
        loop {
            let (label, after) = inside.split_once("=\"")?;
            let end = closing_quote(after)?;
            let value = unescaped(&after[..end], true)?;
            let is_sound = is_name(label) && !label.contains(':') && !label.starts_with("__");
            if !is_sound || labels.insert(label.to_owned(), value).is_some() {
                return None;
            }
            let after = &after[end + 1..];
            match after.strip_prefix(',') {
                Some(more) => inside = more,
                None => break rest = after.strip_prefix('}')?,
            }
        }
    }
    let value = rest.strip_prefix(' ')?;
    let value = if value == "+Inf" { f64::INFINITY } else { value.parse().ok()? };
    is_name(name).then(|| (name.to_owned(), labels, value))
}

fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes.then_some(at)
    })
}

/// All series of a family have the same names of labels.
fn check_labels(family: &str, of: &Family) {
    let names = |labels: &Labels| labels.keys().filter(|name| *name != "le").cloned().collect::<BTreeSet<_>>();
    let all: BTreeSet<_> = of.samples.keys().map(|(_, labels)| names(labels)).collect();
    assert_eq!(all.len(), 1, "{family}: {all:?}");
}

/// Buckets are cumulative, the last is `+Inf` and says the count, and each series has a sum.
fn check_histogram(name: &str, family: &Family) {
    let mut series: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
    for ((sample, labels), value) in &family.samples {
        let mut labels = labels.clone();
        if sample.ends_with("_bucket") {
            let bound = labels.remove("le").expect("a bucket has a bound");
            let bound = if bound == "+Inf" { f64::INFINITY } else { bound.parse().expect("a bound is a number") };
            series.entry(labels).or_default().push((bound, *value));
        } else {
            assert!(!labels.contains_key("le"), "{sample}");
        }
    }
    for (labels, mut buckets) in series {
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(buckets.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1), "{name} {buckets:?}");
        let (bound, all) = *buckets.last().expect("a bucket");
        assert!(bound.is_infinite(), "{name} {labels:?}");
        assert_eq!(family.samples.get(&(format!("{name}_count"), labels.clone())), Some(&all), "{name} {labels:?}");
        assert!(family.samples.contains_key(&(format!("{name}_sum"), labels.clone())), "{name} {labels:?}");
    }
    let of = |suffix: &str| family.samples.keys().filter(|(sample, _)| sample.ends_with(suffix)).count();
    assert_eq!(of("_sum"), of("_count"), "{name}");
}

#[test]
fn what_a_scraper_refuses_is_refused() {
    let sound = "# HELP a_total Says \\\\ and \\n.\n# TYPE a_total counter\na_total{x=\"\\\"\\\\\\n,}\"} 1\n";
    let page = Page::read(sound);
    assert_eq!(page.value("a_total", &[("x", "\"\\\n,}")]), Some(1.0));
    let histogram =
        "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 3\nh_sum 4\nh_count 3\n";
    Page::read(histogram);
    for wrong in [
        sound.trim_end().to_owned(),
        sound.replace("\\n,}", "\\t"),
        sound.replace("a_total{", "b_total{"),
        sound.replace(" 1\n", " -1\n"),
        sound.replace("x=", "1x="),
        format!("{sound}a_total{{y=\"\"}} 1\n"),
        format!("{sound}{}", sound.lines().last().map(|line| format!("{line}\n")).unwrap_or_default()),
        sound.replace("# HELP a_total Says \\\\ and \\n.\n", ""),
        histogram.replace("} 2", "} 4"),
        histogram.replace("h_count 3", "h_count 2"),
        histogram.replace("h_sum 4\n", ""),
        histogram.replace("+Inf", "7"),
    ] {
        assert!(std::panic::catch_unwind(|| Page::read(&wrong)).is_err(), "{wrong}");
    }
}
