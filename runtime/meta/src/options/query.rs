//! The query of a request, read strictly. No part is ever dropped: an unreadable query is refused as a whole, so that a
//! damaged selector or `dryRun` never widens the effect of a request.

use std::{fmt, str::FromStr};

use super::OptionsError;
use crate::{go, percent};

/// The maximum number of characters of client text quoted in a message.
const QUOTED: usize = 64;

/// The parameters of a query: decoded pairs in the given order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Parses a query: pairs separated by `&`, each a name and, after `=`, a value. Empty pairs are ignored.
    ///
    /// kube-apiserver drops pairs that it cannot decode. That widens the effect of a request, so they are refused here.
    ///
    /// # Errors
    /// 400 for invalid percent-encoding, text that is not UTF-8, and `;`, which some parsers treat as `&`.
    pub fn parse(text: &str) -> Result<Self, OptionsError> {
        let pairs = || text.split('&').filter(|pair| !pair.is_empty());
        // A request may last long, so it holds no more than it needs.
        let mut all = Vec::with_capacity(pairs().count());
        for text in pairs() {
            all.push(pair(text)?);
        }
        Ok(Self(all))
    }

    /// A parameter that may occur once; `None` if it is absent.
    ///
    /// # Errors
    /// 400 if it is repeated.
    pub fn single(&self, name: &str) -> Result<Option<&str>, OptionsError> {
        let mut values = self.all(name);
        let first = values.next();
        if values.next().is_some() {
            return Err(OptionsError::BadRequest(format!("the query parameter {name:?} may be given only once")));
        }
        Ok(first)
    }

    /// The values of a repeatable parameter.
    pub fn all<'q>(&'q self, name: &str) -> impl Iterator<Item = &'q str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// True if a parameter is present, with or without a value.
    pub fn has(&self, name: &str) -> bool {
        self.all(name).next().is_some()
    }

    /// A boolean parameter as kube-apiserver's options read it: everything except `0` and `false` is true, even empty
    /// text.
    ///
    /// # Errors
    /// Like [`Query::single`].
    pub fn switch(&self, name: &str) -> Result<Option<bool>, OptionsError> {
        Ok(self.single(name)?.map(switch))
    }

    /// A boolean parameter that kube-apiserver reads with Go's `strconv.ParseBool`. Unknown values are false; empty
    /// text is `None`.
    ///
    /// # Errors
    /// Like [`Query::single`].
    pub fn strict_switch(&self, name: &str) -> Result<Option<bool>, OptionsError> {
        let value = self.single(name)?.filter(|value| !value.is_empty());
        Ok(value.map(|value| matches!(value, "1" | "t" | "T" | "true" | "TRUE" | "True")))
    }

    /// An integer parameter.
    ///
    /// # Errors
    /// Like [`Query::single`]; 400 if it is not a 64-bit integer.
    pub fn number(&self, name: &str) -> Result<Option<i64>, OptionsError> {
        self.single(name)?.map(|value| integer(value).map_err(OptionsError::BadRequest)).transpose()
    }
}

/// Collects decoded pairs.
impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Query {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// True if the text of a boolean parameter means true; see [`Query::switch`].
pub fn switch(text: &str) -> bool {
    text != "0" && !text.eq_ignore_ascii_case("false")
}

fn pair(text: &str) -> Result<(String, String), OptionsError> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let refuse = |why: &dyn fmt::Display| {
        // Show the decoded name if it can be decoded.
        let shown = decode(name).unwrap_or_else(|_| name.to_owned());
        let shown: String = shown.chars().take(QUOTED).collect();
        OptionsError::BadRequest(format!("the query parameter {shown:?} cannot be read: {why}"))
    };
    if text.contains(';') {
        return Err(refuse(&"\";\" does not separate parameters; write it as \"%3B\" in a value"));
    }
    let decoded = decode(name).and_then(|name| Ok((name, decode(value)?)));
    decoded.map_err(|why| refuse(&why))
}

fn decode(text: &str) -> Result<String, percent::DecodeError> {
    if text.contains('+') { percent::decode(&text.replace('+', " ")) } else { percent::decode(text) }
}

fn integer(value: &str) -> Result<i64, String> {
    parsed("strconv.ParseInt", value, value.strip_prefix(['+', '-']).unwrap_or(value))
}

/// The number in a text with these digits, or the error of Go's function.
pub(super) fn parsed<N: FromStr>(function: &str, value: &str, digits: &str) -> Result<N, String> {
    let shape = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let why = if shape { "value out of range" } else { "invalid syntax" };
    let number = if shape { value.parse().ok() } else { None };
    number.ok_or_else(|| format!("{function}: parsing {}: {why}", go::quoted(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        match Query::parse(text) {
            Err(OptionsError::BadRequest(message)) => message,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn pairs_are_decoded_in_order() {
        let query = Query::parse("a=1&b=x%20y+z&&c&=&a=2&d=%c3%A4&e=x=y&").unwrap();
        let want = [("a", "1"), ("b", "x y z"), ("c", ""), ("", ""), ("a", "2"), ("d", "ä"), ("e", "x=y")];
        assert_eq!(query, want.into_iter().collect());
        assert_eq!(Query::parse(""), Ok(Query::default()));
        assert!(query.has("c") && !query.has("f"));
        assert_eq!(query.all("a").collect::<Vec<_>>(), ["1", "2"]);
    }

    #[test]
    fn unreadable_parameters_are_refused_by_name() {
        for (text, name, why) in [
            ("labelSelector=a%3Dc%ff", "labelSelector", "UTF-8"),
            ("limit=1&dryRun=All%ff", "dryRun", "UTF-8"),
            ("limit=%zz", "limit", "percent-encoding"),
            ("limit=1%f", "limit", "percent-encoding"),
            ("limit=1%", "limit", "percent-encoding"),
            ("dry%52un=%ff", "dryRun", "UTF-8"),
            ("%ff=1", "%ff", "UTF-8"),
            ("a=1;dryRun=All", "a", "\";\""),
            ("dryRun;x", "dryRun;x", "\";\""),
            ("unknown=%ff", "unknown", "UTF-8"),
        ] {
            let message = refused(text);
            assert!(message.contains(&format!("{name:?}")) && message.contains(why), "{text}: {message}");
        }
        assert!(Query::parse("a=%3B").is_ok_and(|query| query.single("a") == Ok(Some(";"))));
        assert!(refused(&format!("{}=%ff", "x".repeat(10_000))).len() < 200, "a long name is cut");
    }

    #[test]
    fn a_single_parameter_must_not_be_repeated() {
        let query = Query::parse("limit=1&limit=1&watch=1&watch=0&x=1").unwrap();
        let message = "the query parameter \"limit\" may be given only once".to_owned();
        assert_eq!(query.single("limit"), Err(OptionsError::BadRequest(message.clone())));
        assert_eq!(query.number("limit"), Err(OptionsError::BadRequest(message)));
        assert!(query.switch("watch").is_err());
        assert_eq!((query.single("x"), query.single("y")), (Ok(Some("1")), Ok(None)));
    }

    #[test]
    fn switches_are_read_by_the_rule_of_their_parameter() {
        for (text, by_options, by_parse_bool) in [
            ("x", Some(true), None),
            ("x=", Some(true), None),
            ("x=1", Some(true), Some(true)),
            ("x=t", Some(true), Some(true)),
            ("x=TRUE", Some(true), Some(true)),
            ("x=tRUE", Some(true), Some(false)),
            ("x=yes", Some(true), Some(false)),
            ("x=0", Some(false), Some(false)),
            ("x=f", Some(true), Some(false)),
            ("x=FALSE", Some(false), Some(false)),
            ("x=fALSE", Some(false), Some(false)),
            ("y=1", None, None),
        ] {
            let query = Query::parse(text).unwrap();
            assert_eq!(query.switch("x"), Ok(by_options), "{text}");
            assert_eq!(query.strict_switch("x"), Ok(by_parse_bool), "{text}");
        }
        let repeated = Query::parse("x=1&x=1").unwrap();
        assert!(repeated.switch("x").is_err() && repeated.strict_switch("x").is_err());
    }
}
