//! Fuzz test of definitions together with objects of them: a stranger writes both. Whatever they are, defaulting and checking
//! the object takes time in proportion to the steps that its meter counts, memory within the meter's limit, and ends at
//! the limit.
//!
//! The program counts allocations, which those of other tests would add to, so that it has this test alone. It runs for two
//! seconds; `KINDSMITH_FUZZ_SECONDS=3600 cargo test --release -p kindsmith-tests --test pairs -- --nocapture` runs longer. A
//! failing input is kept as in `tests/fuzz`.

#[path = "../fuzz/engine.rs"]
mod engine;
mod make;
#[path = "../fuzz/mutate.rs"]
mod mutate;

use std::time::{Duration, Instant};

use kindsmith::{
    kind::{Custom, Kind, crd},
    schema::{self, Document, Exceeded, Meter},
};
use kindsmith_tests::Random;
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// The time that anything may take, and further time for each step.
const ANYTHING: Duration = Duration::from_millis(if cfg!(debug_assertions) { 2_000 } else { 100 });
const STEP: Duration = Duration::from_nanos(if cfg!(debug_assertions) { 5_000 } else { 250 });

/// The memory that anything may take, beside what the meter allows: the input itself, errors, and a definition.
const MEMORY: usize = 64 << 20;

struct Pairs;

impl engine::Target for Pairs {
    const WORDS: &'static [&'static str] = &make::WORDS;
    const LONGEST: usize = 64 << 10;
    const PATIENCE: Duration = Duration::from_secs(15);

    fn make(&self, random: &mut Random) -> Vec<u8> {
        make::pair(random).to_string().into_bytes()
    }

    fn attempt(&self, input: &[u8]) -> String {
        let Ok(Document::Array(pair)) = serde_json::from_slice(input) else { return "no pair".to_owned() };
        let [definition, old, new] = &pair[..] else { return "no pair".to_owned() };
        let before = ALLOCATED.current_usage();
        ALLOCATED.reset_peak_usage();
        let (start, busy, mut steps) = (Instant::now(), engine::processor_time(), 0);
        let answer = match crd::define(definition) {
            Err(findings) => format!(
                "refused: {:.60}",
                findings.errors.first().map(|fault| fault.error.to_string()).unwrap_or_default()
            ),
            Ok(defined) => {
                let kinds = defined.definition.kinds(&Custom);
                let results = kinds.iter().map(|kind| {
                    let meter = Meter::default();
                    let result = write(kind, old.clone(), new.clone(), &meter);
                    steps += meter.taken();
                    match result {
                        Ok(errors) => format!("{errors} errors"),
                        Err(exceeded) => format!("{exceeded:?}"),
                    }
                });
                results.collect::<Vec<_>>().join(", ")
            }
        };
        // Other load of the machine does not count, if the system reports the time of a thread.
        let busy = engine::processor_time().zip(busy).map(|(now, before)| now.saturating_sub(before));
        let (took, peak) = (busy.unwrap_or_else(|| start.elapsed()), ALLOCATED.peak_usage().saturating_sub(before));
        let allowed = ANYTHING + STEP * u32::try_from(steps).unwrap_or(u32::MAX);
        assert!(took < allowed, "{took:?} for {steps} steps: {answer}");
        assert!(peak < MEMORY + 2 * Meter::BYTES, "{peak} bytes: {answer}");
        answer
    }
}

/// What a write of an object does with it: the number of its errors.
fn write(kind: &Kind, mut old: Document, mut new: Document, meter: &Meter) -> Result<usize, Exceeded> {
    let schema = &kind.version.schema;
    for document in [&mut old, &mut new] {
        schema::prune(schema, document);
        schema::default(schema, document, meter)?;
    }
    let found = schema::validate(schema, &new, meter)?;
    let count = found.len();
    Ok(count + schema::validate_change(schema, found, &new, &old, meter)?.len())
}

#[test]
fn work_of_a_definition_and_an_object_is_counted() {
    engine::fuzz("pairs", &Pairs);
}
