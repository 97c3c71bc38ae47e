//! Regular expressions as Go has them (RE2), in rules and in schemas: judged and measured when they are declared, compiled when the
//! first text is matched, and shared where equal.
//!
//! A declaration costs the reading of its text. What is compiled is bounded in sum for the whole process, see `compilation`.
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
};

use self::{compilation::Compilation, size::Size};

mod compilation;
mod go;
mod search;
mod size;
#[cfg(test)]
mod tests;

pub use self::go::{classes, read, read_with_groups};

/// A pattern and its source text. Cloning it is cheap.
#[derive(Clone)]
pub struct Pattern(Arc<Program>);

/// The syntax in which a pattern is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// The dialect of Go, in which documents declare patterns.
    Go,
    /// The dialect of the `regex` crate, in which Rust declares them.
    Rust,
}

/// The state that equal patterns share.
struct Program {
    dialect: Dialect,
    /// As declared.
    text: String,
    /// In the syntax of the `regex` crate.
    syntax: String,
    size: Size,
    compilation: Compilation,
}

/// Patterns by their text.
type Programs = HashMap<String, Weak<Program>>;

/// The patterns in use, for each dialect.
static ALL: LazyLock<Mutex<[Programs; 2]>> = LazyLock::new(Mutex::default);

impl Pattern {
    /// The pattern of quantities, as controller-gen writes them: kube-apiserver knows no format of that name.
    pub const QUANTITY: &str = "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

    /// A pattern in the syntax of the `regex` crate. It is compiled when it is first used.
    ///
    /// # Errors
    /// The error of the pattern.
    ///
    /// ```
    /// use kindsmith_cel::re2::Pattern;
    ///
    /// let pattern = Pattern::new("^[a-z]+$")?;
    /// assert!(pattern.is_match("abc") && !pattern.is_match("42"));
    /// # Ok::<_, String>(())
    /// ```
    pub fn new(text: &str) -> Result<Self, String> {
        Self::translated(text, Dialect::Rust, |text| Ok(text.to_owned()))
    }

    /// A pattern of a dialect, which the function translates into the syntax of the `regex` crate.
    ///
    /// # Errors
    /// The error of the pattern.
    fn translated(
        text: &str,
        dialect: Dialect,
        translate: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<Self, String> {
        let known = || ALL.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = known()[dialect as usize].get(text).and_then(Weak::upgrade) {
            return Ok(Self(program));
        }
        let syntax = translate(text)?;
        let hir = regex_syntax::parse(&syntax).map_err(|error| refused(&error, text))?;
        let (text, size) = (text.to_owned(), Size::of(&compilation::without_captures(&hir)));
        let program = Arc::new(Program { dialect, text, syntax, size, compilation: Compilation::default() });
        known()[dialect as usize].insert(program.text.clone(), Arc::downgrade(&program));
        Ok(Self(program))
    }

    /// True for the pattern of [quantities](Self::QUANTITY) in definitions.
    pub fn is_quantity(&self) -> bool {
        self.text() == Self::QUANTITY
    }

    /// As declared.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// In the syntax of the `regex` crate.
    pub fn syntax(&self) -> &str {
        &self.0.syntax
    }

    /// The most memory that it takes when it is compiled, in bytes. It is estimated without compiling it.
    pub fn size(&self) -> u64 {
        self.0.size.bytes
    }

    /// The most steps that a match with a text of this many bytes takes, about 10 ns each.
    pub fn cost(&self, text_length: usize) -> u64 {
        let bytes = u64::try_from(text_length).unwrap_or(u64::MAX);
        let compiling = if self.0.compilation.is_ready() { 0 } else { self.0.size.bytes };
        self.0.size.positions.saturating_mul(bytes).saturating_add(compiling)
    }
}

/// The steps that it takes to read a pattern. What takes longest are the names of classes.
pub(crate) const fn steps_to_read(text: &str) -> usize {
    500_usize.saturating_add(text.len().saturating_mul(64))
}

/// The error of a pattern, in one line.
fn refused(error: &regex_syntax::Error, text: &str) -> String {
    let what = match error {
        regex_syntax::Error::Parse(error) => match error.kind() {
            regex_syntax::ast::ErrorKind::NestLimitExceeded(_) => "expression nests too deeply".to_owned(),
            other => other.to_string(),
        },
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        other => other.to_string(),
    };
    format!("error parsing regexp: {what}: `{text}`")
}

impl PartialEq for Pattern {
    /// Patterns of the same text are compiled the same.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.text == other.0.text
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.0.text).finish()
    }
}

impl Drop for Program {
    /// Forgets a pattern that is no longer declared, unless it is declared anew meanwhile.
    fn drop(&mut self) {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let known = &mut all[self.dialect as usize];
        if known.get(&self.text).is_some_and(|program| program.strong_count() == 0) {
            known.remove(&self.text);
        }
        let few = known.len() * 4 < known.capacity();
        if few {
            known.shrink_to_fit();
        }
        drop(all);
        self.release();
    }
}
