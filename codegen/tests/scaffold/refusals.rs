//! Tests of refusals: each error names the file or the argument and a way out, and nothing is written.

use std::fs;

use kindsmith_tests::Folder;

use crate::{done, files, refused, shop};

#[test]
fn nothing_is_overwritten_without_being_asked_for() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    let before = files(folder.path());
    let error = refused(folder.path(), &["new", "shop"]);
    assert!(error.contains("shop exists and is not empty, and nothing was written"), "{error}");
    let error = refused(&shop, &["add", "kind", "Order", "customer:String"]);
    assert!(error.contains("src/lib.rs: there is a module order, and nothing was written"), "{error}");
    let error = refused(&shop, &["add", "group", "billing.example.com"]);
    assert!(error.contains("there is a group billing.example.com already"), "{error}");
    let error = refused(&shop, &["add", "group", "order.example.com"]);
    assert!(error.contains("src/lib.rs: there is a module order"), "{error}");
    assert_eq!(files(folder.path()), before);
    fs::write(shop.join("samples/parcel.yaml"), "mine").unwrap();
    let error = refused(&shop, &["add", "kind", "Parcel", "weight:Quantity"]);
    assert!(error.contains("samples/parcel.yaml exists, and nothing was written; --overwrite replaces it"), "{error}");
    assert!(!shop.join("src/parcel.rs").exists());
    done(&shop, &["add", "kind", "Order", "buyer:String", "--overwrite"]);
    let order = fs::read_to_string(shop.join("src/order.rs")).unwrap();
    assert!(order.contains("pub buyer: String"), "{order}");
    let library = fs::read_to_string(shop.join("src/lib.rs")).unwrap();
    assert_eq!(library.matches("order").count(), 2, "served once: {library}");
}

#[test]
fn names_that_do_not_fit_are_refused() {
    let folder = Folder::new("scaffold");
    for (arguments, expected) in [
        (&["new", "Shop"][..], "a crate is called by lower-case letters, digits and dashes"),
        (&["new", "serde"], "choose another name"),
        (&["new", "gen"], "choose another name"),
        (&["new", "shop", "--kind", "Self"], "a kind cannot be called Self, which is a word of Rust"),
        (&["new", "shop", "apiURL:String", "apiUrl:String"], "there is a field apiURL already"),
        (&["new", "shop", "--group", "shop"], "a group is a domain name in lower case"),
        (&["new", "shop", "--kind", "order_item"], "did you mean OrderItem?"),
        (&["new", "shop", "title"], "a field is NAME:TYPE"),
        (&["new", "shop", "--kindsmith", "/nowhere"], "/nowhere: no crate kindsmith is there"),
        (&["add", "kind", "Order", "a:String"], "no Cargo.toml is here or above; `kindsmith new NAME` makes a crate"),
    ] {
        let error = refused(folder.path(), arguments);
        assert!(error.starts_with("error: ") && error.contains(expected), "{error}");
    }
    assert!(files(folder.path()).is_empty());
}

#[test]
fn a_kind_that_cannot_be_added_is_refused_with_file_and_line() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    let (library, sample) = (shop.join("src/lib.rs"), folder.path().join("parcel.yaml"));
    let error = refused(&shop, &["add", "kind", "Parcel", "weight:f64"]);
    assert!(error.contains("field \"weight:f64\": f64: the API conventions have no floating-point numbers"), "{error}");
    let error = refused(&shop, &["add", "kind", "Parcel", "weight:Quantity", "--group", "post.example.com"]);
    assert!(error.contains("`kindsmith add group post.example.com` adds it"), "{error}");
    fs::write(&sample, "kind: Parcel\nspec:\n  weight: 0.5\n").unwrap();
    let from = ["add", "kind", "Parcel", "--from", sample.to_str().unwrap()];
    let error = refused(&shop, &from);
    assert!(error.contains("parcel.yaml:3: weight: the API conventions have no floating-point numbers"), "{error}");
    fs::write(&library, "pub const GROUP: &str = \"shop.example.com\";\n\nfn serve( {}\n").unwrap();
    let error = refused(&shop, &["add", "kind", "Parcel", "weight:Quantity"]);
    assert!(error.contains("src/lib.rs:3: ") && error.contains("mend it and run the command again"), "{error}");
    fs::write(&library, "pub const GROUP: &str = \"shop.example.com\";\n").unwrap();
    let error = refused(&shop, &["add", "kind", "Parcel", "weight:Quantity"]);
    assert!(error.contains("src/lib.rs: there is no function `serve` of a builder; write `pub fn serve("), "{error}");
    assert!(!shop.join("src/parcel.rs").exists());
}
