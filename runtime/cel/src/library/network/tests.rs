use super::*;

fn error(text: &str) -> String {
    let error = if text.contains('/') { Cidr::parse(text).unwrap_err() } else { Ip::parse(text).unwrap_err() };
    error.message.into_owned()
}

#[test]
fn addresses_are_read_and_printed() {
    for (text, printed) in [
        ("192.168.0.1", "192.168.0.1"),
        ("2001:DB8::68", "2001:db8::68"),
        ("0:0::0:1", "::1"),
        ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
        ("1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"),
        ("::", "::"),
        ("::1.2.3.4", "::102:304"),
        ("64:ff9b::192.0.2.1", "64:ff9b::c000:201"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
    ] {
        assert_eq!(Ip::parse(text).unwrap().0.to_string(), printed, "{text}");
    }
    assert_eq!(Cidr::parse("192.168.0.1/24").unwrap().0.to_string(), "192.168.0.1/24");
    assert_eq!(Cidr::parse("2001:db8:1::/32").unwrap().0.masked().to_string(), "2001:db8::/32");
    assert_eq!(Cidr::parse("1.2.3.4/0").unwrap().0.masked().to_string(), "0.0.0.0/0");
    assert_eq!(Cidr::parse("1::/0").unwrap().0.masked().to_string(), "::/0");
}

#[test]
fn what_is_wrong_with_an_address_is_told_in_the_words_of_go() {
    for (text, message) in [
        ("", "unable to parse IP"),
        ("localhost", "unable to parse IP"),
        ("%eth0", "missing IPv6 address"),
        ("192.168.0.1.0", "IPv4 address too long"),
        ("1.2.3", "IPv4 address too short"),
        ("1.2.3.", "IPv4 field must have at least one digit (at \".\")"),
        (".1.2.3", "IPv4 field must have at least one digit (at \".1.2.3\")"),
        ("1..2.3", "IPv4 field must have at least one digit (at \".2.3\")"),
        ("1.2.3.04", "IPv4 field has octet with leading zero"),
        ("1.2.3.256", "IPv4 field has value >255"),
        ("1.2.3.4x", "unexpected character (at \"x\")"),
        ("1.2.3.4%e", "unexpected character (at \"%e\")"),
        ("fe80::1%", "zone must be a non-empty string"),
        ("12345::", "each group must have 4 or less digits (at \"12345::\")"),
        ("2001:db8:::68", "each colon-separated field must have at least one digit (at \":68\")"),
        ("1:2:1.2.3.4", "embedded IPv4 address must replace the final 2 fields of the address (at \"1.2.3.4\")"),
        (
            "::1:2:3:4:5:6:7:1.2.3.4",
            "too many hex fields to fit an embedded IPv4 at the end of the address (at \"1.2.3.4\")",
        ),
        ("::1.2.3", "IPv4 address too short"),
        ("1:2:3:4:5:6:7:8x", "unexpected character, want colon (at \"x\")"),
        ("1:2:", "colon must be followed by more characters (at \":\")"),
        ("1::2::3", "multiple :: in address (at \":3\")"),
        ("1:2:3:4:5:6:7:8:9", "trailing garbage after address (at \"9\")"),
        ("1:2:3", "address string too short"),
        ("1:2:3:4::5:6:7:8", "the :: must expand to at least one field of zeros"),
    ] {
        let text_quoted = quoted(text);
        let expected = format!(
            "IP Address {text_quoted} parse error during conversion from string: ParseAddr({text_quoted}): {message}"
        );
        assert_eq!(error(text), expected);
    }
    assert_eq!(error("fe80::1%eth0"), "IP address \"fe80::1%eth0\" with zone value is not allowed");
    assert_eq!(error("::ffff:1.2.3.4"), "IPv4-mapped IPv6 address \"::ffff:1.2.3.4\" is not allowed");
}

#[test]
fn what_is_wrong_with_a_range_is_told_in_the_words_of_go() {
    for (text, message) in [
        ("1.2.3.4/", "bad bits after slash: \"\""),
        ("1.2.3.4/024", "bad bits after slash: \"024\""),
        ("1.2.3.4/-1", "bad bits after slash: \"-1\""),
        ("1.2.3.4/+1", "bad bits after slash: \"+1\""),
        ("1.2.3.4/99999999999999999999", "bad bits after slash: \"99999999999999999999\""),
        ("1.2.3.4/33", "prefix length out of range"),
        ("::/129", "prefix length out of range"),
        ("fe80::1%a/64", "IPv6 zones cannot be present in a prefix"),
        ("1.2.3/24", "ParseAddr(\"1.2.3\"): IPv4 address too short"),
    ] {
        let begins = "network address parse error during conversion from string: ";
        assert_eq!(error(text), format!("{begins}{begins}netip.ParsePrefix({}): {message}", quoted(text)));
    }
    let mapped = "network address parse error during conversion from string: IPv4-mapped IPv6 address \"::ffff:0:0/96\" is not allowed";
    assert_eq!(error("::ffff:0:0/96"), mapped);
}

#[test]
fn ranges_contain_addresses_and_ranges_of_their_family() {
    let range = |text| Cidr::parse(text).unwrap().0;
    let ip = |text| Ip::parse(text).unwrap().0;
    assert!(range("192.168.0.7/24").contains(ip("192.168.0.255")));
    assert!(!range("192.168.0.0/24").contains(ip("192.168.1.0")));
    assert!(!range("0.0.0.0/0").contains(ip("::1")));
    assert!(range("::/0").contains(ip("::1")));
    assert!(range("192.168.0.0/24").covers(range("192.168.0.0/24")));
    assert!(!range("192.168.0.0/24").covers(range("192.168.0.0/23")));
    assert!(!range("::/0").covers(range("10.0.0.0/8")));
}

#[test]
fn sizes_are_in_bytes() {
    assert_eq!((Ip::parse("1.2.3.4").unwrap().size(), Ip::parse("::").unwrap().size()), (4, 16));
    let size = |text| Cidr::parse(text).unwrap().size();
    assert_eq!((size("::/0"), size("::/1"), size("1.2.3.4/24"), size("::/128")), (0, 1, 3, 16));
}
