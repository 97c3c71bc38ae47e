//! The grammar of our attributes: `flag`, `name = value`, `name(args)`, positional values and dotted paths.
use proc_macro2::Span;
use quote::ToTokens;
use syn::{
    Ident, Lit, LitInt, LitStr, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
    token,
};

/// One argument.
pub(crate) struct Arg {
    /// `name` in `name`, `name = …` and `name(…)`; `None` for a positional value.
    pub name: Option<Ident>,
    /// The value after the name.
    pub value: Value,
}

/// A value.
pub(crate) enum Value {
    /// No value.
    Flag,
    /// `"text"`, `1`, `true`.
    Literal(Lit),
    /// `-1`.
    Negative(Span, Lit),
    /// `spec.author`, or a single name.
    Dotted(Vec<Ident>),
    /// `Book::ready`.
    Path(syn::Path),
    /// `name(…)` without `=`.
    Args(Vec<Arg>),
    /// `= name(…)`.
    Call(Ident, Vec<Arg>),
    /// `spec.writer = spec.author`.
    Pair(Vec<Ident>, Vec<Ident>),
    /// `[…]`.
    List(Span, Vec<Value>),
    /// `{"key": …}`.
    Map(Span, Vec<(LitStr, Value)>),
}

impl Arg {
    /// The span for errors about the argument's name.
    pub(crate) fn span(&self) -> Span {
        self.name.as_ref().map_or_else(|| self.value.span(), Ident::span)
    }

    /// The span for errors about the argument's value.
    pub(crate) fn value_span(&self) -> Span {
        match self.value {
            Value::Flag | Value::Args(_) => self.span(),
            _ => self.value.span(),
        }
    }
}

impl Value {
    /// The span for errors about the value.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Flag | Self::Args(_) => Span::call_site(),
            Self::Literal(lit) => lit.span(),
            Self::Negative(span, _) | Self::List(span, _) | Self::Map(span, _) => *span,
            Self::Dotted(names) | Self::Pair(names, _) => names.last().map_or_else(Span::call_site, Ident::span),
            Self::Path(path) => path.segments.last().map_or_else(Span::call_site, |s| s.ident.span()),
            Self::Call(name, _) => name.span(),
        }
    }

    /// The value, if it is one as in JSON, or a variant.
    pub(crate) fn constant(&self) -> Option<Self> {
        Some(match self {
            Self::Literal(lit) => Self::Literal(lit.clone()),
            Self::Negative(span, lit) => Self::Negative(*span, lit.clone()),
            Self::Path(path) => Self::Path(path.clone()),
            Self::List(span, items) => Self::List(*span, items.iter().map(Self::constant).collect::<Option<_>>()?),
            Self::Map(span, entries) => {
                Self::Map(*span, entries.iter().map(|(k, v)| Some((k.clone(), v.constant()?))).collect::<Option<_>>()?)
            }
            Self::Dotted(names) if names.len() == 1 && names[0] == "null" => Self::Dotted(names.clone()),
            _ => return None,
        })
    }
}

/// The arguments of one attribute.
pub(crate) fn parse_args(input: ParseStream) -> syn::Result<Vec<Arg>> {
    Ok(Punctuated::<Arg, Token![,]>::parse_terminated(input)?.into_iter().collect())
}

fn parenthesized(input: ParseStream) -> syn::Result<Vec<Arg>> {
    let inner;
    syn::parenthesized!(inner in input);
    parse_args(&inner)
}

impl Parse for Arg {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let named =
            input.peek(Ident::peek_any) && !input.peek(Lit) && !input.peek2(Token![.]) && !input.peek2(Token![::]);
        if !named {
            let value = match input.parse()? {
                Value::Dotted(names) if input.peek(Token![=]) => {
                    input.parse::<Token![=]>()?;
                    let other = input.fork().parse();
                    match other {
                        Ok(Value::Dotted(other)) => {
                            input.parse::<Value>()?;
                            Value::Pair(names, other)
                        }
                        _ => return Err(input.error("expected a path, such as `spec.size`")),
                    }
                }
                value => value,
            };
            return Ok(Self { name: None, value });
        }
        let name = Some(Ident::parse_any(input)?);
        let value = if input.peek(token::Paren) {
            Value::Args(parenthesized(input)?)
        } else if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            input.parse()?
        } else {
            Value::Flag
        };
        Ok(Self { name, value })
    }
}

impl Parse for Value {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        if input.peek(Token![-]) {
            let minus: Token![-] = input.parse()?;
            let lit: Lit = input.parse()?;
            let span = minus.span.join(lit.span()).unwrap_or_else(|| lit.span());
            return Ok(Self::Negative(span, lit));
        }
        if input.peek(Lit) {
            return Ok(Self::Literal(input.parse()?));
        }
        if input.peek(token::Bracket) {
            let inner;
            let bracket = syn::bracketed!(inner in input);
            let items = Punctuated::<Value, Token![,]>::parse_terminated(&inner)?;
            return Ok(Self::List(bracket.span.join(), items.into_iter().collect()));
        }
        if input.peek(token::Brace) {
            let inner;
            let brace = syn::braced!(inner in input);
            let entries = Punctuated::<Entry, Token![,]>::parse_terminated(&inner)?;
            return Ok(Self::Map(brace.span.join(), entries.into_iter().map(|e| (e.0, e.1)).collect()));
        }
        if input.peek(Token![::]) || input.peek(Token![<]) || input.peek2(Token![::]) {
            return Ok(Self::Path(input.call(syn::Path::parse)?));
        }
        if !input.peek(Ident::peek_any) {
            return Err(input.error("expected a value: a literal, a path such as `spec.size`, `[…]` or `{…}`"));
        }
        let mut names = vec![Ident::parse_any(input)?];
        if input.peek(token::Paren) {
            let name = names.remove(0);
            return Ok(Self::Call(name, parenthesized(input)?));
        }
        while input.peek(Token![.]) {
            input.parse::<Token![.]>()?;
            if !input.peek(Ident::peek_any) {
                return Err(input.error("expected a field name after the dot"));
            }
            names.push(Ident::parse_any(input)?);
        }
        Ok(Self::Dotted(names))
    }
}

/// `"key": value` in a map.
struct Entry(LitStr, Value);

impl Parse for Entry {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let key = input.parse()?;
        input.parse::<Token![:]>()?;
        Ok(Self(key, input.parse()?))
    }
}

/// A number with its sign.
#[derive(Clone)]
pub(crate) struct Number {
    /// Its span.
    pub span: Span,
    /// Its value.
    pub value: f64,
    /// True if it is written without a fraction.
    pub whole: bool,
}

impl Number {
    /// The number in a value, if it is one.
    pub(crate) fn from(value: &Value) -> Option<Self> {
        let (span, lit, sign) = match value {
            Value::Literal(lit) => (lit.span(), lit, 1.0),
            Value::Negative(span, lit) => (*span, lit, -1.0),
            _ => return None,
        };
        let (number, whole) = match lit {
            Lit::Int(int) => (digits(int)?, true),
            Lit::Float(float) => (float.base10_parse::<f64>().ok()?, false),
            _ => return None,
        };
        Some(Self { span, value: sign * number, whole })
    }
}

#[expect(clippy::cast_precision_loss, reason = "bounds are doubles on the wire, too")]
fn digits(int: &LitInt) -> Option<f64> {
    int.base10_parse::<u64>().ok().map(|n| n as f64)
}

/// The tokens of a value, for errors.
pub(crate) fn shown(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string().replace(' ', "")
}
