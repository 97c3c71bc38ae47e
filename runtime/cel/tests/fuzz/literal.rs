//! Random literals: arguments of functions, and others.
use kindsmith_cel::Type;

use crate::random::Random;

/// Functions whose text arguments at a position have a form, with texts of that form.
const FORMS: [(&[&str], usize, &[&str]); 18] = [
    (&["duration"], 0, &["1h", "-1.5s", "0", "1h2m3ms", "9223372036s"]),
    (&["timestamp"], 0, &["2009-02-13T23:31:30Z", "2024-02-29T00:00:00.5+01:00", "0001-01-01T00:00:00Z"]),
    (
        &["matches", "find", "findAll", "regex.extract", "regex.extractAll", "regex.replace"],
        1,
        &["a", "[a-c]+", "^(a|b)*$", r"\\d{2,3}", "(?i)A.", "", r"\\b\\w+", "(a)(b)?", "x{0,100}"],
    ),
    (&["format"], 0, &["%s", "%d", "%s-%s", "%.2f", "%x", "%b %o", "%e", "%%", "%X"]),
    (&["quantity", "isQuantity"], 0, &["1", "1Gi", "-0.5m", "1e3", "12Mi", "0.1", "x"]),
    (&["url", "isURL"], 0, &["https://a.example:80/p?q=1&q=2", "/a/b", "http://[::1]/", "a b"]),
    (&["ip", "isIP", "ip.isCanonical"], 0, &["10.0.0.1", "::1", "fe80::1", "::ffff:1.2.3.4", "1.2.3"]),
    (&["cidr", "isCIDR"], 0, &["10.0.0.0/8", "::/0", "10.0.0.1/24", "fe80::/64", "1/2"]),
    (&["containsIP"], 1, &["10.0.0.1", "::1"]),
    (&["containsCIDR"], 1, &["10.0.0.0/16", "::/0"]),
    (&["semver", "isSemver"], 0, &["1.2.3", "1.0.0-alpha.1+b", "v1.2", "01.2.3"]),
    (&["format.named"], 0, &["dns1123Label", "uuid", "date", "none", "qualifiedName"]),
    (&["bool"], 0, &["true", "f", "1", "x"]),
    (&["int", "uint", "double"], 0, &["1", "-1", "1.5", "NaN", "1e400", "9223372036854775808"]),
    (&["base64.decode"], 0, &["aGVsbG8=", "aA", "!"]),
    (&["strings.quote"], 0, &["a", r"\\n"]),
    (&["jsonpatch.escapeKey"], 0, &["a/b~c"]),
    (
        &[
            "getFullYear",
            "getMonth",
            "getDate",
            "getDayOfMonth",
            "getDayOfWeek",
            "getDayOfYear",
            "getHours",
            "getMinutes",
            "getSeconds",
            "getMilliseconds",
        ],
        1,
        &["UTC", "Europe/Berlin", "+01:30", "-2:0", "x"],
    ),
];

fn form(function: &str) -> Option<(usize, &'static [&'static str])> {
    let row = FORMS.iter().find(|(names, _, _)| names.contains(&function));
    row.map(|(_, position, texts)| (*position, *texts))
}

/// True if an argument of a function has a form.
pub(crate) fn is_special(function: &str, position: usize) -> bool {
    form(function).is_some_and(|(own, _)| own == position)
        // Counts, which are small.
        || (position > 0 && ["lists.range", "split", "splitN", "replace", "substring", "flatten"].contains(&function))
        || (position == 0 && function == "lists.range")
}

/// A literal of a type, for a function if it has a form.
pub(crate) fn of(kind: &Type, function: &str, random: &mut Random) -> String {
    let pick = |texts: &[&str], random: &mut Random| (*random.pick(texts)).to_owned();
    match kind {
        Type::Null => "null".to_owned(),
        Type::Bool => pick(&["true", "false"], random),
        Type::Int if !function.is_empty() => pick(&["0", "1", "2", "3", "5", "-1"], random),
        Type::Int => pick(
            &["0", "1", "2", "3", "-1", "10", "100", "9223372036854775807", "-9223372036854775808", "0x1F"],
            random,
        ),
        Type::Uint => pick(&["0u", "1u", "2u", "18446744073709551615u", "9007199254740993u"], random),
        Type::Double => pick(&["0.0", "1.0", "-0.5", "1e10", "1.5e300", "9007199254740993.0", "-0.0"], random),
        Type::String => {
            let texts = form(function).map_or(&crate::schema::TEXTS[..], |(_, texts)| texts);
            format!("'{}'", random.pick(texts))
        }
        Type::Bytes => pick(&["b''", "b'a'", r"b'\xff'", "b'abc'"], random),
        Type::Duration => pick(&["duration('1h')", "duration('-1.5s')", "duration('0')"], random),
        Type::Timestamp => pick(&["timestamp('2009-02-13T23:31:30Z')", "timestamp(0)"], random),
        Type::Type(_) => pick(&["int", "type('a')", "list", "type(null)", "google.protobuf.Duration"], random),
        kind => match kind.name() {
            "net.IP" => pick(&["ip('10.0.0.1')", "ip('::1')"], random),
            "net.CIDR" => pick(&["cidr('10.0.0.0/8')", "cidr('::/0')"], random),
            "kubernetes.URL" => pick(&["url('https://a.example/p?q=1')"], random),
            "kubernetes.Quantity" => pick(&["quantity('1Gi')", "quantity('-0.5')"], random),
            "kubernetes.Semver" => pick(&["semver('1.2.3')"], random),
            "kubernetes.NamedFormat" => pick(&["format.dns1123Label()", "format.date()"], random),
            _ => "null".to_owned(),
        },
    }
}
