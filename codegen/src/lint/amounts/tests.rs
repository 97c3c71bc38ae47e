//! Tests of what fields are an amount of.
use super::*;

#[test]
fn lists_are_in_order_so_that_a_word_is_not_in_them_twice() {
    for list in [&TIME[..], &DATA, &OTHER, &COUNTED, &LASTING, &MAYBE_LASTING] {
        assert!(list.is_sorted() && list.windows(2).all(|pair| pair[0] != pair[1]), "{list:?}");
    }
}
