use super::*;

fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn quantities_are_read() {
    for (text, sign, integer, approximate) in [
        ("0", 0, Some(0), 0.0),
        ("50k", 1, Some(50_000), 50_000.0),
        ("-1.5Ki", -1, None, -1536.0),
        ("1.5Gi", 1, None, 1_610_612_736.0),
        ("1Pi", 1, None, 1_125_899_906_842_624.0),
        ("1Ti", 1, Some(1 << 40), 1_099_511_627_776.0),
        ("2Ei", 1, None, 2_305_843_009_213_693_952.0),
        ("9Ei", 1, None, 9_223_372_036_854_775_807.0),
        ("1e3", 1, Some(1000), 1000.0),
        ("1E3", 1, Some(1000), 1000.0),
        ("12E", 1, None, 12e18),
        ("1.5", 1, None, 1.5),
        ("50.703k", 1, Some(50_703), 50_703.0),
        ("0.1n", 1, None, 1e-9),
        ("1e-10", 1, None, 1e-9),
        ("9223372036854775807", 1, None, 9_223_372_036_854_775_807.0),
        ("999999999999999999", 1, Some(999_999_999_999_999_999), 999_999_999_999_999_999.0),
        ("9999999999999999999999999999999999999G", 1, None, 1.000_000_000_000_000_1e46),
        ("1e400", 1, None, f64::INFINITY),
        ("-1e400", -1, None, f64::NEG_INFINITY),
        ("1e4294967296", 1, Some(1), 1.0),
        ("+", 0, Some(0), 0.0),
        (".", 0, Some(0), 0.0),
        ("k", 0, Some(0), 0.0),
        ("1.k", 1, Some(1000), 1000.0),
        (".5", 1, None, 0.5),
    ] {
        let amount = amount(text);
        assert_eq!((amount.sign(), amount.integer(), amount.approximate()), (sign, integer, approximate), "{text}");
    }
    assert!(amount("0e400").approximate().is_nan());
}

#[test]
fn what_is_no_quantity_is_refused_as_apimachinery_words_it() {
    let format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    for (text, message) in [
        ("", format),
        ("10Mo", format),
        ("1.1.M", format),
        (" 1", format),
        ("1 ", format),
        ("1+1.0M", format),
        ("10Mm", "unable to parse quantity's suffix"),
        ("1e", "unable to parse quantity's suffix"),
        ("1e+", "unable to parse quantity's suffix"),
        (".5i", "unable to parse quantity's suffix"),
        ("+Ei", "unable to parse numeric part of quantity"),
        ("1234567890123456789e1000000000", "unable to parse numeric part of quantity"),
    ] {
        assert_eq!(Amount::parse(text).unwrap_err().message, message, "{text}");
    }
}

#[test]
fn quantities_are_compared() {
    use Ordering::{Equal, Greater, Less};
    for (left, right, order) in [
        ("200M", "0.2G", Equal),
        ("50M", "50Mi", Less),
        ("1e100", "1e99", Greater),
        ("-1e100", "1", Less),
        ("1e2000000000", "1", Greater),
        ("0.5", "500m", Equal),
        ("0", "-0", Equal),
        ("-2", "-3", Greater),
        ("9223372036854775808", "9223372036854775807", Greater),
        ("1.000000001", "1", Greater),
        ("9Ei", "9223372036854775807", Equal),
        ("9999999999999999999999999999999999999G", "9999999999999999999999999999999999998G", Greater),
    ] {
        assert_eq!(amount(left).order(&amount(right)), order, "{left} {right}");
        assert_eq!(amount(right).order(&amount(left)), order.reverse(), "{right} {left}");
    }
}

#[test]
fn quantities_are_added() {
    for (left, right, sum, difference) in [
        ("50k", "20", "50.02k", "49.98k"),
        ("1", "1m", "1001m", "999m"),
        ("1.5Ki", "0.5Ki", "2Ki", "1Ki"),
        ("9223372036854775807", "1", "9223372036854775808", "9223372036854775806"),
        ("999999999999999999", "1e18", "1999999999999999999", "-1"),
        ("0.1", "0.2", "0.3", "-0.1"),
        (
            "1e50",
            "1",
            "100000000000000000000000000000000000000000000000001",
            "99999999999999999999999999999999999999999999999999",
        ),
        ("-5", "0", "-5", "-5"),
        ("0", "7", "7", "-7"),
    ] {
        let (left, right) = (amount(left), amount(right));
        assert_eq!(left.plus(&right).unwrap().order(&amount(sum)), Ordering::Equal, "{sum}");
        assert_eq!(left.minus(&right).unwrap().order(&amount(difference)), Ordering::Equal, "{difference}");
    }
    assert!(amount("1e2000000000").plus(&amount("1")).is_err());
    assert_eq!(Amount::of(i64::MIN).minus(&Amount::of(-1)).unwrap().integer(), Some(i64::MIN + 1));
}
