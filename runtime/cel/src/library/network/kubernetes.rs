//! Kubernetes' libraries of addresses: `ip`, and of ranges: `cidr`.
use super::{
    Cidr, Ip,
    address::{is_global_unicast, is_link_local_multicast, is_link_local_unicast},
    cidr_type, ip_type,
};
use crate::{
    Cost, Error, Function, Library, Meter, Range, Type, Value,
    cost::{
        CallCost, TRAVERSAL, scaled,
        shared::{READ, READ_TWICE, charged, read, size},
    },
    library::arguments::{accessor, opaque, read_text},
};

/// `ip`, `isIP` and the properties of addresses.
pub static IP: Library =
    Library { name: "kubernetes.net.ip", functions: ip_functions, macros: &[], types: ip_types, validators: &[] };

/// `cidr`, `isCIDR`, and what ranges contain.
pub static CIDR: Library =
    Library { name: "kubernetes.net.cidr", functions: cidr_functions, macros: &[], types: cidr_types, validators: &[] };

fn ip_types() -> Vec<(&'static str, Type)> {
    vec![("net.IP", ip_type())]
}

fn cidr_types() -> Vec<(&'static str, Type)> {
    vec![("net.CIDR", cidr_type())]
}

fn is_canonical<'a>(args: &[Value<'a>], meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let text = read_text(args, 0, meter)?;
    Ok(Value::Bool(Ip::parse(text)?.0.to_string() == text))
}

/// The functions of addresses alone.
fn ip_functions() -> Vec<Function> {
    let property = |name: &str, id: &str, is: fn(&Ip) -> Value<'static>| accessor(name, id, ip_type(), Type::Bool, is);
    vec![
        Function::new("ip")
            .global("string_to_ip", &[Type::String], ip_type())
            .does(|args, meter| Ip::parse(read_text(args, 0, meter)?).map(Value::opaque))
            .costs(READ),
        Function::new("isIP")
            .global("is_ip", &[Type::String], Type::Bool)
            .does(|args, meter| Ok(Value::Bool(Ip::parse(read_text(args, 0, meter)?).is_ok())))
            .costs(READ),
        Function::new("ip.isCanonical")
            .global("ip_is_canonical", &[Type::String], Type::Bool)
            .does(is_canonical)
            .costs(READ_TWICE),
        Function::new("string")
            .global("ip_to_string", &[ip_type()], Type::String)
            .does(|args, _| Ok(opaque::<Ip>(args, 0)?.0.to_string().into())),
        accessor("family", "ip_family", ip_type(), Type::Int, |ip: &Ip| Value::Int(if ip.0.is_ipv4() { 4 } else { 6 })),
        property("isUnspecified", "ip_is_unspecified", |ip| Value::Bool(ip.0.is_unspecified())),
        property("isLoopback", "ip_is_loopback", |ip| Value::Bool(ip.0.is_loopback())),
        property("isLinkLocalMulticast", "ip_is_link_local_multicast", |ip| Value::Bool(is_link_local_multicast(ip.0))),
        property("isLinkLocalUnicast", "ip_is_link_local_unicast", |ip| Value::Bool(is_link_local_unicast(ip.0))),
        property("isGlobalUnicast", "ip_is_global_unicast", |ip| Value::Bool(is_global_unicast(ip.0))),
    ]
}

/// The sizes of an address in bytes.
const BYTES: Range = Range::new(4, 16);

/// Addresses are compared.
const CONTAINS_IP: Cost = Cost {
    estimate: |_| CallCost::of(BYTES.plus(BYTES).scaled(TRAVERSAL)),
    charge: |args, _| scaled(2 * size(args, 0), TRAVERSAL),
};

/// As [`CONTAINS_IP`], after a text was read.
const CONTAINS_IP_TEXT: Cost = Cost {
    estimate: |call| CallCost::of((CONTAINS_IP.estimate)(call).cost.plus(read(call, 1))),
    charge: |args, result| (CONTAINS_IP.charge)(args, result) + charged(args, 1),
};

/// Addresses are masked, then compared.
const CONTAINS_CIDR: Cost = Cost {
    estimate: |call| CallCost::of((CONTAINS_IP.estimate)(call).cost.plus(BYTES.scaled(TRAVERSAL)).plus(Range::ONE)),
    charge: |args, result| (CONTAINS_IP.charge)(args, result) + charged(args, 0) + 1,
};

/// As [`CONTAINS_CIDR`], after a text was read.
const CONTAINS_CIDR_TEXT: Cost = Cost {
    estimate: |call| CallCost::of((CONTAINS_CIDR.estimate)(call).cost.plus(read(call, 1))),
    charge: |args, result| (CONTAINS_CIDR.charge)(args, result) + charged(args, 1),
};

fn contains_ip(args: &[Value<'_>], ip: Ip) -> Result<Value<'static>, Error> {
    Ok(Value::Bool(opaque::<Cidr>(args, 0)?.0.contains(ip.0)))
}

fn contains_cidr(args: &[Value<'_>], cidr: Cidr) -> Result<Value<'static>, Error> {
    Ok(Value::Bool(opaque::<Cidr>(args, 0)?.0.covers(cidr.0)))
}

/// The functions of ranges.
fn cidr_functions() -> Vec<Function> {
    vec![
        Function::new("cidr")
            .global("string_to_cidr", &[Type::String], cidr_type())
            .does(|args, meter| Cidr::parse(read_text(args, 0, meter)?).map(Value::opaque))
            .costs(READ),
        Function::new("isCIDR")
            .global("is_cidr", &[Type::String], Type::Bool)
            .does(|args, meter| Ok(Value::Bool(Cidr::parse(read_text(args, 0, meter)?).is_ok())))
            .costs(READ),
        Function::new("string")
            .global("cidr_to_string", &[cidr_type()], Type::String)
            .does(|args, _| Ok(opaque::<Cidr>(args, 0)?.0.to_string().into())),
        // For an unknown overload, the costs are those of the first one.
        Function::new("containsIP")
            .member("cidr_contains_ip_ip", &[cidr_type(), ip_type()], Type::Bool)
            .does(|args, _| contains_ip(args, *opaque(args, 1)?))
            .costs(CONTAINS_IP)
            .member("cidr_contains_ip_string", &[cidr_type(), Type::String], Type::Bool)
            // The error of a text that is no address is lost, as in kube-apiserver.
            .does(|args, meter| {
                contains_ip(args, Ip::parse(read_text(args, 1, meter)?).map_err(|_| Error::no_such_overload())?)
            })
            .costs(CONTAINS_IP_TEXT)
            .costs_by_name(),
        Function::new("containsCIDR")
            .member("cidr_contains_cidr", &[cidr_type(), cidr_type()], Type::Bool)
            .does(|args, _| contains_cidr(args, *opaque(args, 1)?))
            .costs(CONTAINS_CIDR)
            .member("cidr_contains_cidr_string", &[cidr_type(), Type::String], Type::Bool)
            .does(|args, meter| contains_cidr(args, Cidr::parse(read_text(args, 1, meter)?)?))
            .costs(CONTAINS_CIDR_TEXT)
            .costs_by_name(),
        accessor("ip", "cidr_ip", cidr_type(), ip_type(), |cidr: &Cidr| Value::opaque(Ip(cidr.0.ip))),
        accessor("masked", "cidr_masked", cidr_type(), cidr_type(), |cidr: &Cidr| Value::opaque(Cidr(cidr.0.masked()))),
        accessor("prefixLength", "cidr_prefix_length", cidr_type(), Type::Int, |cidr: &Cidr| {
            Value::Int(cidr.0.length.into())
        }),
    ]
}
