//! Tests of `kindsmith add version`, `add subresource` and `add controller`: the lines that they add, and what they refuse.

use std::{fs, path::Path};

use kindsmith_tests::Folder;

use crate::{done, files, refused, shop};

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// The lines of a text that are not in another one.
fn new_lines(before: &str, after: &str) -> Vec<String> {
    let mut left = before.lines().peekable();
    let lines = after.lines().filter(|line| left.next_if_eq(line).is_none());
    let lines: Vec<String> = lines.map(|line| line.trim().to_owned()).collect();
    assert!(left.next().is_none(), "a line is gone:\n{after}");
    lines
}

#[test]
fn a_version_is_a_copy_that_is_served_beside_the_stored_one() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    let (library, order) = (text(&shop.join("src/lib.rs")), text(&shop.join("src/order.rs")));
    let out = done(&shop, &["add", "version", "Order", "v2"]);
    assert!(out.contains("note: objects stay stored in v1; --storage stores them in the new version"), "{out}");
    assert!(text(&shop.join("src/lib.rs")).contains(".kind::<order::v2::Order>()"), "{library}");
    assert_eq!(new_lines(&order, &text(&shop.join("src/order.rs"))), ["pub mod v2;", ""]);
    let copy = text(&shop.join("src/order/v2.rs"));
    for line in [
        "//! Orders in the version v2. Objects are stored in v1.",
        "use super::Order as Stored;",
        "#[resource(version = \"v2\", storage = Stored)]",
        "#[resource(column(\"Customer\", path = spec.customer))]",
        "    const ORDERS: &str = \"/apis/shop.example.com/v2/namespaces/default/orders\";",
        "    async fn an_order_is_the_same_in_v1_and_v2() {",
    ] {
        assert!(copy.lines().any(|found| found == line), "{line}\n{copy}");
    }
    assert!(!copy.contains("\n#[resource(convert") && !copy.contains("shortname"), "{copy}");
}

#[test]
fn a_third_version_is_a_copy_of_the_stored_one() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    done(&shop, &["add", "version", "Order", "v2"]);
    done(&shop, &["add", "version", "Order", "v3alpha1"]);
    let copy = text(&shop.join("src/order/v3alpha1.rs"));
    assert!(copy.contains("spec.customer") && !copy.contains("mod v2"), "{copy}");
    assert!(
        copy.contains("use super::Order as Stored;") && copy.contains("version = \"v3alpha1\", storage = Stored"),
        "{copy}"
    );
}

#[test]
fn with_storage_the_new_version_is_stored_and_the_old_one_is_served_from_it() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    let out = done(&shop, &["add", "version", "Order", "v2", "--storage"]);
    assert!(out.contains("objects are stored in v2 from now on; objects stored in v1 are still read"), "{out}");
    let (old, new) = (text(&shop.join("src/order.rs")), text(&shop.join("src/order/v2.rs")));
    assert!(new.contains("#[resource(group = \"shop.example.com\", version = \"v2\", shortname = \"ord\")]"), "{new}");
    assert!(!new.contains("as Stored"), "{new}");
    assert!(old.contains("#[resource(version = \"v1\", storage = v2::Order)]"), "{old}");
    let error = refused(&shop, &["add", "version", "Order", "v3", "--storage"]);
    assert!(
        error.contains("src/order.rs:13: v1 says how it differs from v2, which would no longer be stored"),
        "{error}"
    );
}

#[test]
fn versions_that_cannot_be_added_are_refused() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    done(&shop, &["add", "version", "Order", "v2"]);
    let before = files(folder.path());
    for (arguments, expected) in [
        (&["Order", "2"][..], "a version is one like v1, v1beta2 or v1alpha1, not \"2\""),
        (&["Order", "v1"], "src/order.rs:13: Order has the version v1 already"),
        (&["Order", "v2"], "src/order/v2.rs:16: Order has the version v2 already"),
        (
            &["Parcel", "v2"],
            "there is no kind Parcel, but Invoice, Item, Order; `kindsmith add kind Parcel FIELD:TYPE` adds it",
        ),
    ] {
        let error = refused(&shop, &[&["add", "version"][..], arguments].concat());
        assert!(error.starts_with("error: ") && error.contains(expected), "{error}");
    }
    assert_eq!(files(folder.path()), before);
}

#[test]
fn a_kind_beside_serve_has_no_file_to_copy() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    let (library, item) = (shop.join("src/lib.rs"), text(&shop.join("src/item.rs")));
    let kept = item.split("#[cfg(test)]").next().unwrap().replace("//! Items.", "").replace("Item", "Box");
    fs::write(&library, text(&library) + &kept.replace("use serde::{Deserialize, Serialize};", "")).unwrap();
    for arguments in [&["version", "Box", "v2"][..], &["subresource", "Box", "open"], &["controller", "Box"]] {
        let error = refused(&shop, &[&["add"][..], arguments].concat());
        assert!(error.contains("Box is declared beside `serve`; move it to a file of its own, src/box_.rs"), "{error}");
    }
}

#[test]
fn an_action_has_a_file_and_a_line_in_serve() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    let (library, order) = (text(&shop.join("src/lib.rs")), text(&shop.join("src/order.rs")));
    let out =
        done(&shop, &["add", "subresource", "Order", "ship", "carrier:String", "weights:BTreeMap<String,Quantity>"]);
    let next = "next: write in src/order/ship.rs what ship does; `cargo test` tests it, and it is at \
                /apis/shop.example.com/v1/namespaces/default/orders/NAME/ship";
    assert!(out.lines().any(|line| line == next), "{out}");
    assert_eq!(new_lines(&order, &text(&shop.join("src/order.rs"))), ["pub mod ship;", ""]);
    assert!(text(&shop.join("src/lib.rs")).contains("use kindsmith::handlers::post;\n"), "{library}");
    assert!(text(&shop.join("src/lib.rs")).contains(".subresource(\"ship\", post(order::ship::ship))"), "{library}");
    let ship = text(&shop.join("src/order/ship.rs"));
    assert!(
        ship.contains("ApiType, ObjectMeta, Quantity, Resource, Time,") && ship.contains("pub carrier: String,"),
        "{ship}"
    );
    assert!(
        ship.contains("pub async fn ship(order: Parent<Order>, mut request: OrderShip) -> Result<OrderShip>"),
        "{ship}"
    );
    let out = done(&shop, &["add", "subresource", "Order", "take-back"]);
    assert!(out.contains("src/order/take_back.rs"), "{out}");
    assert!(text(&shop.join("src/order/take_back.rs")).contains("pub struct OrderTakeBack {"));
    done(&shop, &["add", "subresource", "Invoice", "summary", "--get"]);
    let billing = text(&shop.join("src/billing.rs"));
    assert!(
        billing.contains("use kindsmith::handlers::get;") && billing.contains("get(invoice::summary::summary)"),
        "{billing}"
    );
}

#[test]
fn an_action_is_served_in_every_version() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    let ship = ["add", "subresource", "Order", "ship", "--dry-run"];
    assert!(!done(&shop, &ship).contains("note: "));
    done(&shop, &["add", "version", "Order", "v2"]);
    let note = "note: ship is served in every version of Order; its handler gets the object in v1";
    let out = done(&shop, &ship);
    assert!(out.lines().any(|line| line == note), "{out}");
}

#[test]
fn an_import_that_means_something_else_is_not_used() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    let library = shop.join("src/lib.rs");
    fs::write(&library, text(&library).replace("pub mod item;", "pub mod item;\n\nfn text() {}")).unwrap();
    done(&shop, &["add", "subresource", "Order", "log", "--text"]);
    let edited = text(&library);
    assert!(
        edited.contains("kindsmith::handlers::text(order::log::log)") && !edited.contains("use kindsmith::handlers"),
        "{edited}"
    );
}

#[test]
fn status_and_scale_are_lines_of_each_version() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    done(&shop, &["add", "version", "Order", "v2"]);
    let out = done(&shop, &["add", "subresource", "Order", "status", "copies:Option<i32>", "seen:Option<Time>"]);
    assert!(out.contains("changed  src/order.rs (") && out.contains("changed  src/order/v2.rs ("), "{out}");
    let scale = ["add", "subresource", "Order", "scale", "--replicas", "spec.copies", "--observed", "status.copies"];
    done(&shop, &scale);
    for file in ["src/order.rs", "src/order/v2.rs"] {
        let order = text(&shop.join(file));
        for line in [
            "use kindsmith::{ApiType, Condition, ObjectMeta, Resource, Time};",
            "#[resource(status)]",
            "#[resource(scale(replicas = spec.copies, status = status.copies))]",
            "    pub status: Option<OrderStatus>,",
            "    pub seen: Option<Time>,",
            "    async fn an_order_is_scaled() {",
            "    async fn the_status_of_an_order_has_a_writer_of_its_own() {",
        ] {
            assert!(order.lines().any(|found| found == line), "{line}\n{order}");
        }
    }
    let error = refused(&shop, &scale);
    assert!(error.contains("src/order.rs:14: `Order` has the subresource scale already"), "{error}");
}

#[test]
fn subresources_that_cannot_be_added_are_refused() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    done(&shop, &["add", "subresource", "Order", "ship"]);
    let before = files(folder.path());
    for (arguments, expected) in [
        (&["Order", "Ship"][..], "a subresource is called by lower-case letters, digits and dashes"),
        (&["Order", "finalize"], "cannot be called finalize; choose another name"),
        (&["Order", "ship"], "src/order.rs:6: there is a module ship already, and nothing was written"),
        (&["Order", "log", "--text", "a:String"], "fields are those of the request of an action"),
        (&["Order", "log", "--text", "--get"], "cannot be used with"),
        (&["Order", "log", "--replicas", "spec.copies"], "are for `scale`, not for `log`"),
        (&["Order", "status", "--get"], "`status` is answered by the server itself"),
        (&["Invoice", "status"], "src/billing/invoice.rs:8: `Invoice` has the subresource status already"),
        (
            &["Order", "scale"],
            "src/order.rs:23: --replicas spec.replicas: `OrderSpec` has no field `replicas`, but `customer`, `copies`",
        ),
        (
            &["Order", "scale", "--replicas", "spec.copies"],
            "src/order.rs:13: --observed status.replicas: `Order` has no field `status`; `kindsmith add subresource KIND status NAME:TYPE` adds it",
        ),
        (&["Order", "scale", "--replicas", "metadata.name"], "`ObjectMeta` is not declared in this file"),
    ] {
        let error = refused(&shop, &[&["add", "subresource"][..], arguments].concat());
        assert!(error.starts_with("error: ") && error.contains(expected), "{error}");
    }
    assert_eq!(files(folder.path()), before);
}

#[test]
fn tests_without_an_example_are_named_with_their_line() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    let order = shop.join("src/order.rs");
    let whole = text(&order);
    let signature = "write `pub(super) fn example() -> serde_json::Value`, an object that tests create";
    fs::write(&order, whole.replace("pub(super) fn example", "fn example")).unwrap();
    let error = refused(&shop, &["add", "subresource", "Order", "ship"]);
    assert!(
        error.contains(&format!("src/order.rs:41: `example` is private, and another test needs it; {signature}")),
        "{error}"
    );
    fs::write(&order, whole.replace("fn example", "fn sample")).unwrap();
    let error = refused(&shop, &["add", "controller", "Order"]);
    assert!(
        error.contains(&format!("src/order.rs:35: the module `tests` has no function `example`; {signature}")),
        "{error}"
    );
    let out = done(&shop, &["add", "version", "Order", "v2"]);
    assert!(out.contains("no function `example` is in its tests, so that no test of both versions was added"), "{out}");
}

#[test]
fn a_controller_has_a_file_and_its_kind_a_status() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    let out = done(&shop, &["add", "controller", "Order"]);
    assert!(out.contains("note: Order has a status with conditions now, in which the controller reports"), "{out}");
    let library = text(&shop.join("src/lib.rs"));
    assert!(library.contains(".controller(\"orders\", order::controller::run)"), "{library}");
    assert!(text(&shop.join("src/order.rs")).contains("    pub status: Option<OrderStatus>,"));
    let manifest = text(&shop.join("Cargo.toml"));
    assert!(manifest.contains("features = [\"settings\", \"kube\"]") && manifest.contains("\nkube = {"), "{manifest}");
    let out = done(&shop, &["add", "controller", "Invoice"]);
    assert_eq!(text(&shop.join("Cargo.toml")), manifest, "everything is there already");
    assert!(!out.contains("note: ") && out.contains("changed  src/billing.rs"), "{out}");
    let error = refused(&shop, &["add", "controller", "Order"]);
    assert!(error.contains("src/order.rs:6: there is a module controller already"), "{error}");
}

#[test]
fn a_dependency_that_is_not_one_line_is_left_to_the_user() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    let path = shop.join("Cargo.toml");
    let manifest = text(&path);
    let line = manifest.lines().find(|line| line.starts_with("kindsmith = ")).unwrap();
    fs::write(&path, manifest.replace(line, "") + "\n[dependencies.kindsmith]\nversion = \"0.1\"\n").unwrap();
    let out = done(&shop, &["add", "controller", "Order"]);
    assert!(out.contains("note: add the feature `kube` to kindsmith in Cargo.toml by hand"), "{out}");
}

#[test]
fn a_controller_of_a_kind_whose_name_it_imports_names_the_module() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    done(&shop, &["add", "kind", "Client", "--status"]);
    done(&shop, &["add", "controller", "Client"]);
    let controller = text(&shop.join("src/client/controller.rs"));
    assert!(
        controller.contains("object: Arc<Kube<super::Client>>") && !controller.contains("use super::"),
        "{controller}"
    );
}

#[test]
fn a_controller_needs_conditions_to_report_in() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    let invoice = shop.join("src/billing/invoice.rs");
    let whole = text(&invoice);
    fs::write(&invoice, whole.replace("pub conditions: Vec<Condition>", "pub notes: Vec<Condition>")).unwrap();
    let error = refused(&shop, &["add", "controller", "Invoice"]);
    assert!(
        error.contains("src/billing/invoice.rs:61: `InvoiceStatus` has no conditions, in which a controller reports"),
        "{error}"
    );
    fs::write(&invoice, whole.replace("Debug, Default,", "Debug,")).unwrap();
    let error = refused(&shop, &["add", "controller", "Invoice"]);
    assert!(error.contains("a controller begins with an empty `InvoiceStatus`; derive `Default` for it"), "{error}");
}

#[test]
fn a_dry_run_of_each_command_writes_nothing() {
    let folder = Folder::new("scaffold");
    let shop = shop(folder.path());
    let before = files(folder.path());
    for command in super::FURTHER.iter().filter(|command| !command.contains(&"scale")) {
        let out = done(&shop, &[*command, &["--dry-run"]].concat());
        assert!(out.contains("would change src/"), "{out}");
    }
    assert_eq!(files(folder.path()), before);
}
