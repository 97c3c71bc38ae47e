//! Generates inputs, tries them, and reports failures with their input.
use std::{
    cell::Cell,
    collections::HashSet,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    panic::{self, AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Once,
    time::{Duration, Instant},
};

use kindsmith_tests::Random;

use crate::mutate;

/// A fuzz target.
pub(crate) trait Target {
    /// Words that mutations insert into inputs.
    const WORDS: &'static [&'static str] = &[];
    /// The maximum size of an input in bytes.
    const LONGEST: usize = 16 << 10;
    /// The maximum time for an input. Debug builds get ten times that.
    const PATIENCE: Duration = Duration::from_millis(100);

    /// A mostly well-formed input.
    fn make(&self, random: &mut Random) -> Vec<u8>;

    /// Tries an input. Returns a description of the result; inputs with new results are mutated further.
    ///
    /// # Panics
    /// If the input reveals a bug.
    fn attempt(&self, input: &[u8]) -> String;
}

/// The seed of the first half of every run.
const FIXED_SEED: u64 = 0x6b69_6e64;
/// The maximum number of inputs kept for mutation.
const MOST_KEPT: usize = 4_000;

thread_local! {
    /// The number of panics in this thread: a server catches those of its handlers.
    static PANICS: Cell<usize> = const { Cell::new(0) };
}

fn count_panics() {
    static COUNTING: Once = Once::new();
    COUNTING.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            PANICS.set(PANICS.get() + 1);
            before(panic);
        }));
    });
}

/// The CPU time of this thread, if the system reports it.
pub(crate) fn processor_time() -> Option<Duration> {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// Tries the corpus, then random inputs for the configured time.
pub(crate) fn fuzz<T: Target>(name: &str, target: &T) {
    count_panics();
    let start = Instant::now();
    let mut run = Run { name, target, kept: Vec::new(), seen: HashSet::new(), tried: 0, slowest: Duration::ZERO };
    for (path, input) in corpus(name) {
        run.attempt(input, &format!("{}", path.display()));
    }
    let seconds = std::env::var("KINDSMITH_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let half = Duration::from_secs_f64(seconds.unwrap_or(2.0) / 2.0);
    let corpus = run.kept.clone();
    run.random(FIXED_SEED, half);
    run.kept = corpus;
    let seed = std::env::var("KINDSMITH_SEED").ok().and_then(|text| text.parse().ok());
    run.random(seed.unwrap_or_else(|| Random::from_environment().number()), half);
    let (took, busy) = (start.elapsed(), processor_time().unwrap_or_default());
    let (tried, answers, slowest) = (run.tried, run.seen.len(), run.slowest);
    eprintln!(
        "{name}: {tried} inputs in {took:.0?} ({busy:.0?} of a processor), {answers} kinds of answers, at most {slowest:.1?}"
    );
}

/// The inputs kept in the repository.
fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file of the corpus").path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read(path).expect("a file of the corpus"))).collect()
}

/// The run of one target.
struct Run<'t, T> {
    name: &'t str,
    target: &'t T,
    /// Inputs with new results.
    kept: Vec<Vec<u8>>,
    seen: HashSet<u64>,
    tried: usize,
    slowest: Duration,
}

impl<T: Target> Run<'_, T> {
    fn random(&mut self, seed: u64, time: Duration) {
        let mut random = Random::from_seed(seed);
        let end = Instant::now() + time;
        let mut number = 0;
        while Instant::now() < end {
            let mut input = match self.kept.len() {
                0 => self.target.make(&mut random),
                _ if random.one_in(2) => self.target.make(&mut random),
                _ => random.pick(&self.kept).clone(),
            };
            if !random.one_in(4) {
                let other = if self.kept.is_empty() { &[][..] } else { random.pick(&self.kept).as_slice() };
                mutate::change(&mut input, other, T::WORDS, &mut random);
            }
            input.truncate(T::LONGEST);
            number += 1;
            self.attempt(input, &format!("input {number} of seed {seed}"));
        }
    }

    fn attempt(&mut self, input: Vec<u8>, which: &str) {
        self.tried += 1;
        let (start, panics) = (Instant::now(), PANICS.get());
        let Ok(answer) = catch_unwind(AssertUnwindSafe(|| self.target.attempt(&input))) else {
            self.found(&input, which, "shows a mistake: see the panic above");
        };
        if PANICS.get() > panics {
            self.found(&input, which, "led to a panic that was caught: see above");
        }
        let took = start.elapsed();
        let patience = if cfg!(debug_assertions) { 10 * T::PATIENCE } else { T::PATIENCE };
        if took > patience {
            // Other load takes time, too, so CPU time counts, or else the minimum of three tries.
            let again = (0..3).map(|_| {
                let (start, busy) = (Instant::now(), processor_time());
                self.target.attempt(&input);
                let took = start.elapsed();
                let busy = processor_time().zip(busy).map(|(now, before)| now.saturating_sub(before));
                // Far more wall time than CPU time means that it waited.
                busy.filter(|_| took < 20 * patience).unwrap_or(took)
            });
            let least = again.min().unwrap_or_default();
            if least > patience {
                self.found(&input, which, &format!("takes {least:?}"));
            }
            self.slowest = self.slowest.max(least);
        } else {
            self.slowest = self.slowest.max(took);
        }
        if self.seen.insert(kind_of(&answer)) && self.kept.len() < MOST_KEPT {
            self.kept.push(input);
        }
    }

    fn found(&self, input: &[u8], which: &str, what: &str) -> ! {
        // Tests of a program's own modules have no such folder.
        let temporary = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
        let folder = temporary.join(format!("fuzz-{}", self.name));
        let file = folder.join(format!("{:016x}", hash(&input)));
        let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, input));
        let place = written.map_or_else(|error| error.to_string(), |()| file.display().to_string());
        let shown = input.escape_ascii().to_string();
        panic!("{}: {which} {what}\nin {place}: {}", self.name, shown.get(..3_000).unwrap_or(&shown));
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A result without the parts specific to the input: numbers, and everything after the beginning.
fn kind_of(answer: &str) -> u64 {
    let text: String = answer.chars().filter(|c| !c.is_ascii_digit()).take(100).collect();
    hash(&text)
}
