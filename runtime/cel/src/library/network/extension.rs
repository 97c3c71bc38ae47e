//! cel-go's library `network`, built on those of Kubernetes: it differs in errors, in costs, and in that literals are checked.
use std::net::IpAddr;

use kindsmith_meta::go::quoted;

use super::{Cidr, Ip, address::Prefix, cidr_type, kubernetes};
use crate::{
    Checked, Cost, Error, Function, Issue, Library, Type, Value,
    library::arguments::{opaque, text},
    library::validators::each_literal_argument,
    syntax::ast::Literal,
};

/// The only version.
pub static NETWORK: Library =
    Library { name: "cel.lib.ext.network", functions, macros: &[], types, validators: &[check_ips, check_cidrs] };

fn types() -> Vec<(&'static str, Type)> {
    [(kubernetes::IP.types)(), (kubernetes::CIDR.types)()].concat()
}

fn functions() -> Vec<Function> {
    let mut functions = [(kubernetes::IP.functions)(), (kubernetes::CIDR.functions)()].concat();
    for overload in functions.iter_mut().flat_map(|function| &mut function.overloads) {
        overload.cost = Cost::ONE;
        overload.by_name = false;
    }
    // These take the place of those with the same ids.
    functions.extend([
        Function::new("cidr")
            .global("string_to_cidr", &[Type::String], cidr_type())
            .does(|args, _| parse_cidr(text(args, 0)?).map(Value::opaque)),
        Function::new("containsIP")
            .member("cidr_contains_ip_string", &[cidr_type(), Type::String], Type::Bool)
            .does(|args, _| Ok(Value::Bool(opaque::<Cidr>(args, 0)?.0.contains(Ip::parse(text(args, 1)?)?.0)))),
        Function::new("containsCIDR")
            .member("cidr_contains_cidr_string", &[cidr_type(), Type::String], Type::Bool)
            .does(|args, _| Ok(Value::Bool(opaque::<Cidr>(args, 0)?.0.covers(parse_cidr(text(args, 1)?)?.0)))),
        Function::new("isMask").member("cidr_is_mask", &[cidr_type()], Type::Bool).does(|args, _| {
            let prefix = opaque::<Cidr>(args, 0)?.0;
            Ok(Value::Bool(prefix == prefix.masked()))
        }),
    ]);
    functions
}

fn parse_cidr(text: &str) -> Result<Cidr, Error> {
    let prefix = Prefix::parse(text).map_err(|message| {
        Error::new(format!("CIDR {} parse error during conversion from string: {message}", quoted(text)))
    })?;
    match prefix.ip {
        IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some() => Err(super::mapped(text)),
        _ => Ok(Cidr(prefix)),
    }
}

/// Reports literals that are no addresses.
fn check_ips(checked: &Checked, issues: &mut Vec<Issue>) {
    check(checked, "ip", |text| Ip::parse(text).map(drop), issues);
}

/// Reports literals that are no ranges.
fn check_cidrs(checked: &Checked, issues: &mut Vec<Issue>) {
    check(checked, "cidr", |text| parse_cidr(text).map(drop), issues);
}

fn check(checked: &Checked, name: &str, read: fn(&str) -> Result<(), Error>, issues: &mut Vec<Issue>) {
    each_literal_argument(checked, name, &mut |_, argument, literal| {
        if let Literal::String(text) = literal
            && let Err(error) = read(text.as_ref())
        {
            issues.push(Issue::new(argument.offset, format!("invalid {name} argument: {error}")));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::NETWORK;
    use crate::{
        Env, Program, Unmetered,
        library::{kubernetes::versions, standard::STANDARD},
    };

    struct Nothing;

    impl<'a> crate::Variables<'a> for Nothing {
        fn variable(&self, _name: &str) -> Option<Result<crate::Value<'a>, crate::Error>> {
            None
        }
    }

    #[test]
    fn it_differs_from_what_kubernetes_has() {
        let env = Env::new(versions::settings(versions::LATEST), &[&STANDARD, &NETWORK]);
        for (text, outcome) in [
            ("cidr('1.2.3.0/24').isMask() && !cidr('1.2.3.4/24').isMask()", "Ok(Bool(true))"),
            (
                "cidr('1.2.3.0/24').containsIP('x' + '')",
                "IP Address \"x\" parse error during conversion from string: ParseAddr(\"x\"): unable to parse IP",
            ),
            (
                "cidr('1.2.3.0/24').containsCIDR('x' + '')",
                "CIDR \"x\" parse error during conversion from string: netip.ParsePrefix(\"x\"): no '/'",
            ),
            ("string(cidr('1.2.3.0/24').ip()) == '1.2.3.0' && type(ip('::')) == net.IP", "Ok(Bool(true))"),
        ] {
            let program = Program::new(&env.compile(text).unwrap()).unwrap();
            let value = program.evaluate(&Nothing, None, &Unmetered).value;
            let found = value.map_or_else(|error| error.to_string(), |value| format!("Ok({value:?})"));
            assert_eq!(found, outcome, "{text}");
        }
        let issues = env.compile("ip('x') == ip('::')").unwrap_err();
        let message = "invalid ip argument: IP Address \"x\" parse error during conversion from string: ParseAddr(\"x\"): unable to parse IP";
        assert_eq!(issues.issues[0].message, message);
    }
}
