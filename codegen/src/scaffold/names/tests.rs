//! Tests of names.
use super::*;

#[test]
fn names_are_split_into_words() {
    for (name, expected) in [
        ("pageCount", "page_count"),
        ("page_count", "page_count"),
        ("HTTPRoute", "http_route"),
        ("podIP", "pod_ip"),
        ("Order", "order"),
    ] {
        assert_eq!(snake(name), expected);
    }
    assert_eq!(
        (camel("page_count"), module("Type"), module("Gen"), one("OrderItem")),
        ("pageCount".into(), "type_".into(), "gen_".into(), "an order item".into())
    );
    assert_eq!(["Order", "Box", "Policy", "Key"].map(plural), ["orders", "boxes", "policies", "keys"]);
}

#[test]
fn names_that_do_not_fit_are_refused_with_what_fits() {
    assert_eq!(
        check_kind("order-item").unwrap_err(),
        "a kind is a noun in CamelCase, such as Order, not \"order-item\"; did you mean OrderItem?"
    );
    for used in ["Vec", "Self", "Server", "BTreeMap"] {
        assert!(check_kind(used).unwrap_err().contains("more specific"), "{used}");
    }
    let modules = ["Gen", "Main", "Std", "Kindsmith", "Order"].map(module);
    assert_eq!(modules, ["gen_", "main_", "std_", "kindsmith_", "order"]);
    assert_eq!(["1password", "my-shop", "gen"].map(module_called), ["_1password", "my_shop", "gen_"]);
    for good in ["v1", "v2beta1", "v1alpha12"] {
        assert_eq!(check_version(good), Ok(()));
    }
    for bad in ["1", "v0", "v1gamma1", "v1beta", "v"] {
        check_version(bad).unwrap_err();
    }
    for bad in ["shop", "Shop.example.com", "shop..com", "-a.com", ""] {
        check_group(bad).unwrap_err();
    }
    assert_eq!(check_group("shop.example.com"), Ok(()));
}
