//! Metrics in the shapes of the crate `prometheus`: families declared as constants, and filled when they are gathered.

use prometheus::{
    core::{Collector, Desc},
    proto::{Bucket, Counter, Gauge, Histogram, LabelPair, Metric, MetricFamily, MetricType},
};

use crate::metrics::Totals;

/// A metric by its name, and the names of its labels.
pub(super) struct Family {
    pub name: &'static str,
    /// The description.
    pub help: &'static str,
    /// The type.
    pub kind: MetricType,
    /// Its labels' names.
    pub labels: &'static [&'static str],
}

/// Nanoseconds of a second, by which a histogram of them is shown in seconds.
pub(super) const NANOSECONDS: f64 = 1e9;

impl Family {
    /// A number that only grows.
    pub(super) const fn counter(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self { name, help, kind: MetricType::COUNTER, labels }
    }

    /// A number that grows and shrinks.
    pub(super) const fn gauge(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self { name, help, kind: MetricType::GAUGE, labels }
    }

    /// Values in buckets.
    pub(super) const fn histogram(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Self {
        Self { name, help, kind: MetricType::HISTOGRAM, labels }
    }

    fn desc(&self) -> Desc {
        let labels = self.labels.iter().map(|name| (*name).to_owned()).collect();
        let desc = Desc::new(self.name.to_owned(), self.help.to_owned(), labels, std::collections::HashMap::new());
        desc.expect("declared names are of the form that Prometheus asks for")
    }

    /// The family, to be filled.
    fn fill(&'static self) -> FamilySamples {
        FamilySamples { family: self, metrics: Vec::new() }
    }
}

/// A family with the samples that were gathered.
#[derive(Clone)]
pub(super) struct FamilySamples {
    family: &'static Family,
    metrics: Vec<Metric>,
}

impl FamilySamples {
    /// Adds a number under labels, in the order of the family's.
    pub(super) fn number(&mut self, labels: &[&str], value: f64) {
        let mut metric = self.metric(labels);
        if self.family.kind == MetricType::COUNTER {
            let mut counter = Counter::default();
            counter.set_value(value);
            metric.set_counter(counter);
        } else {
            let mut gauge = Gauge::default();
            gauge.set_value(value);
            metric.set_gauge(gauge);
        }
        self.metrics.push(metric);
    }

    /// Adds a histogram under labels; its values are divided by the unit.
    pub(super) fn histogram(&mut self, labels: &[&str], totals: &Totals, unit: f64) {
        let mut below = 0;
        let buckets = totals.bounds.iter().zip(&totals.buckets).map(|(bound, count)| {
            below += count;
            let mut bucket = Bucket::default();
            bucket.set_upper_bound(real(*bound) / unit);
            bucket.set_cumulative_count(below);
            bucket
        });
        let mut histogram = Histogram::default();
        histogram.set_bucket(buckets.collect());
        histogram.set_sample_count(totals.count());
        histogram.set_sample_sum(real(totals.sum) / unit);
        let mut metric = self.metric(labels);
        metric.set_histogram(histogram);
        self.metrics.push(metric);
    }

    fn metric(&self, labels: &[&str]) -> Metric {
        debug_assert_eq!(labels.len(), self.family.labels.len(), "{}", self.family.name);
        let pairs = self.family.labels.iter().zip(labels).map(|(name, value)| {
            let mut pair = LabelPair::default();
            pair.set_name((*name).to_owned());
            pair.set_value((*value).to_owned());
            pair
        });
        Metric::from_label(pairs.collect())
    }

    /// The family in the crate's shape.
    pub(super) fn done(self) -> MetricFamily {
        let mut family = MetricFamily::default();
        family.set_name(self.family.name.to_owned());
        family.set_help(self.family.help.to_owned());
        family.set_field_type(self.family.kind);
        family.set_metric(self.metrics);
        family
    }
}

/// A count as Prometheus keeps numbers.
#[expect(clippy::cast_precision_loss, reason = "every number in Prometheus is a double")]
pub(super) fn real(count: u64) -> f64 {
    count as f64
}

type Gather = Box<dyn Fn() -> Vec<FamilySamples> + Send + Sync>;

/// Metrics that are read when they are gathered.
pub(super) struct FamilyCollector {
    descs: Vec<Desc>,
    gather: Gather,
}

impl FamilyCollector {
    /// Families, and what fills them. Those that stay empty are not shown.
    pub(super) fn new<const N: usize>(
        families: &'static [Family; N],
        fill: impl Fn(&mut [FamilySamples; N]) + Send + Sync + 'static,
    ) -> Self {
        let gather = move || {
            let mut samples = families.each_ref().map(Family::fill);
            fill(&mut samples);
            samples.into()
        };
        Self { descs: families.iter().map(Family::desc).collect(), gather: Box::new(gather) }
    }
}

impl Collector for FamilyCollector {
    fn desc(&self) -> Vec<&Desc> {
        self.descs.iter().collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        (self.gather)().into_iter().map(FamilySamples::done).collect()
    }
}
