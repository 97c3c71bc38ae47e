//! Environments and the values of their variables, by a seed.
use std::sync::LazyLock;

use kindsmith_cel::{
    Env, Error, Library, Settings, Type, Value, Variables,
    library::{
        extensions::{BINDINGS, COMPREHENSIONS, ENCODERS, LISTS, MATH, REGEX, SETS, STRINGS},
        kubernetes::versions,
        standard::{OPTIONALS, STANDARD},
    },
    value::{Json, Octets, Shape},
};

use crate::{
    random::Random,
    schema::{Schema, TEXTS, provider, variables},
    slow::{self, Names},
};

/// An environment.
pub(crate) struct Setup {
    pub(crate) env: Env,
    pub(crate) names: Names,
    pub(crate) settings: Settings,
    /// `cel.bind` is there.
    pub(crate) binds: bool,
}

impl Setup {
    fn new(settings: Settings, libraries: &[&Library], binds: bool) -> Self {
        let env = Env::new(settings, libraries).types(provider());
        let env = variables().into_iter().fold(env, |env, (name, kind)| env.variable(name, kind));
        Self { env, names: Names::new(libraries), settings, binds }
    }
}

/// Kubernetes' newest version; the same without folded constants; and cel-go with all extensions.
pub(crate) static SETUPS: LazyLock<[Setup; 3]> = LazyLock::new(|| {
    let (kubernetes, settings) = (versions::libraries(versions::LATEST), versions::settings(versions::LATEST));
    let all = [&STANDARD, &OPTIONALS, &BINDINGS, &COMPREHENSIONS, &ENCODERS, &LISTS, &MATH, &REGEX, &SETS, &STRINGS];
    let plain =
        Settings { presence_tests_cost: true, bad_presence_tests_fail: true, fold_constants: false, ..settings };
    [
        Setup::new(settings, &kubernetes, false),
        Setup::new(Settings { fold_constants: false, ..settings }, &kubernetes, false),
        Setup::new(plain, &all, true),
    ]
});

/// The values of the variables.
pub(crate) struct Documents {
    object: Json,
    old: Option<Json>,
    any: Json,
    seed: u64,
}

impl Documents {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::from_seed(seed);
        let depth = random.below(4);
        Self {
            object: Schema::Object.document(&mut random, depth),
            old: random.one_in(2).then(|| Schema::Object.document(&mut random, depth)),
            any: Schema::Dyn.document(&mut random, depth),
            seed,
        }
    }

    pub(crate) fn variables(&self) -> slow::Variables<'_> {
        static OBJECT: Schema = Schema::Object;
        let mut random = Random::from_seed(self.seed ^ 1);
        let below = |random: &mut Random, bound| i64::try_from(random.below(bound)).expect("small");
        let long = TEXTS.join("-").repeat(1 + random.below(8));
        let ints = (0..random.below(6)).map(|_| Value::Int(below(&mut random, 9) - 3)).collect();
        let texts: Vec<_> = (0..random.below(6)).map(|_| Value::from(*random.pick(&TEXTS))).collect();
        let table = [(Value::Int(1), Value::list(texts.clone())), (Value::Int(-1), Value::list(Vec::new()))];
        [
            ("self", OBJECT.read(&self.object).expect("an object")),
            ("any", kindsmith_cel::value::Dynamic.read(&self.any).expect("anything")),
            ("n", Value::Int(below(&mut random, 9) - 3)),
            ("u", Value::Uint(random.number() >> random.below(64))),
            ("f", Value::Double([0.5, -1.0, f64::NAN, 1e300, 3.0][random.below(5)])),
            ("s", Value::from(*random.pick(&TEXTS))),
            ("long", Value::from(long)),
            ("data", Value::Bytes(Octets::Borrowed(b"a\xff\0b"))),
            ("span", constant("duration('1h2m3.004s')")),
            ("time", constant("timestamp('2009-02-13T23:31:30.123Z')")),
            ("maybe", Value::optional(random.one_in(2).then_some(Value::Int(3)))),
            ("old", Value::optional(self.old.as_ref().map(|old| OBJECT.read(old).expect("an object")))),
            ("ints", Value::list(ints)),
            ("texts", Value::list(texts)),
            ("table", Value::map(table)),
        ]
        .into()
    }

    /// The most parts or characters that anything has.
    pub(crate) fn most(&self) -> u64 {
        fn most(json: &Json) -> usize {
            match json {
                Json::String(text) => text.chars().count(),
                Json::Array(items) => items.iter().map(most).max().unwrap_or_default().max(items.len()),
                Json::Object(object) => {
                    let keys = object.keys().map(|key| key.chars().count()).max().unwrap_or_default();
                    object.values().map(most).max().unwrap_or_default().max(object.len()).max(keys)
                }
                _ => 1,
            }
        }
        let own = [&self.object, &self.any].into_iter().chain(&self.old).map(most).max().unwrap_or_default();
        let variables = self.variables().values().map(Value::size).max().unwrap_or_default();
        variables.max(own as u64)
    }
}

/// The value of a constant expression.
fn constant(text: &str) -> Value<'static> {
    let program = kindsmith_cel::Program::compile(&SETUPS[0].env, text).expect("it compiles");
    let value = program.evaluate(&kindsmith_cel::NoVariables, None, &kindsmith_cel::Unmetered).value;
    value.and_then(Value::into_owned).expect("it has a value")
}

/// Variables by their names.
pub(crate) struct Bindings<'s, 'a>(pub(crate) &'s slow::Variables<'a>);

impl<'a> Variables<'a> for Bindings<'_, 'a> {
    fn variable(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
        self.0.get(name).cloned().map(Ok)
    }
}

/// The types of variables, for expressions at random.
pub(crate) fn typed() -> Vec<(String, Type)> {
    variables().into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect()
}
