//! URLs: `url`, `isURL` and their parts.

pub use self::parse::{Url, check_request_uri};
use crate::{
    Cost, Error, Function, Library, Type, Value,
    cost::shared::TRANSFORM,
    library::arguments::{accessor, opaque, read_text, texts},
    value::{Entries, Opaque},
};

mod escape;
mod parse;
#[cfg(test)]
mod tests;

/// The library of URLs.
pub static URLS: Library =
    Library { name: "kubernetes.urls", functions, macros: &[], types: Vec::new, validators: &[] };

impl Opaque for Url {
    fn type_name(&self) -> &'static str {
        "kubernetes.URL"
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.downcast::<Self>().is_some_and(|other| self.printed() == other.printed())
    }

    fn bytes(&self) -> usize {
        self.length() * 8
    }
}

/// Reads a URL that a request may have.
fn read(text: &str) -> Result<Url, Error> {
    let url = check_request_uri(text).and_then(|()| Url::parse(text));
    url.map_err(|message| Error::new(format!("URL parse error during conversion from string: {message}")))
}

fn functions() -> Vec<Function> {
    let url = || Type::Struct("kubernetes.URL".into());
    let part = |name: &str, id: &str, get: fn(&Url) -> Value<'static>| accessor(name, id, url(), Type::String, get);
    let lists = Type::map(Type::String, Type::list(Type::String));
    vec![
        Function::new("url")
            .global("string_to_url", &[Type::String], url())
            .does(|args, meter| read(read_text(args, 0, meter)?).map(Value::opaque))
            .costs(TRANSFORM),
        Function::new("isURL")
            .global("is_url_string", &[Type::String], Type::Bool)
            .does(|args, meter| Ok(Value::Bool(check_request_uri(read_text(args, 0, meter)?).is_ok())))
            // Not as `url`: kube-apiserver has no other cost for it.
            .costs(Cost::ONE),
        part("getScheme", "url_get_scheme", |url| url.scheme.clone().into()),
        part("getHost", "url_get_host", |url| url.host().into_owned().into()),
        part("getHostname", "url_get_hostname", |url| url.host_and_port().0.into_owned().into()),
        part("getPort", "url_get_port", |url| url.host_and_port().1.into_owned().into()),
        part("getEscapedPath", "url_get_escaped_path", |url| url.escaped_path().into_owned().into()),
        Function::new("getQuery").member("url_get_query", &[url()], lists).does(|args, meter| {
            let url: &Url = opaque(args, 0)?;
            meter.spend(1 + url.bytes() / 32)?;
            let parameters = url.parameters();
            let count = parameters.iter().map(|(_, values)| 1 + values.len()).sum::<usize>();
            meter.spend(count.saturating_mul(16))?;
            meter.reserve(count.saturating_mul(Entries::BYTES).saturating_add(url.bytes()))?;
            Ok(Value::map(parameters.into_iter().map(|(key, values)| (Value::from(key), texts(values)))))
        }),
    ]
}
