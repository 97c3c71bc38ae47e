//! Tests of numbers for people.
use super::*;

#[test]
fn numbers_are_grouped_and_bytes_have_a_unit() {
    assert_eq!([0, 12, 999, 1000, 1_234_567].map(grouped), ["0", "12", "999", "1,000", "1,234,567"]);
    assert_eq!(
        [0, 1023, 1024, 1536, 5 << 20, 3 << 40].map(bytes),
        ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "5.0 MiB", "3.0 TiB"]
    );
    assert_eq!(bytes(u64::MAX), "1,677,721.5 TiB");
}
