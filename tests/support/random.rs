//! Seeded random numbers, so that a failing run can be repeated: `KINDSMITH_SEED=… cargo test …`.

/// A small generator (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with the seed in the environment variable `KINDSMITH_SEED`, or with a new one, which is printed.
    pub fn from_environment() -> Self {
        let given = std::env::var("KINDSMITH_SEED").ok().and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(|| {
            let mut bytes = [0; 8];
            getrandom::fill(&mut bytes).expect("the operating system has random bytes");
            u64::from_le_bytes(bytes)
        });
        eprintln!("KINDSMITH_SEED={seed}");
        Self(seed)
    }

    /// A generator with a seed.
    pub fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// Another generator that is independent from here on.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self(self.number())
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).expect("a bound fits");
        usize::try_from(self.number() % bound).expect("below the bound, which fitted")
    }

    /// A random item.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// True with a probability of one in `times`.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}
