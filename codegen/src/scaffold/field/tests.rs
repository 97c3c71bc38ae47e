//! Tests of fields as the command line gives them.
use super::*;

fn field(text: &str) -> (String, String, Vec<String>, bool) {
    let (field, _) = parse(text).unwrap();
    (field.wire, field.ty, field.api, field.is_required)
}

#[test]
fn fields_are_read_as_they_are_written() {
    let api = |argument: &str| vec![argument.to_owned()];
    for (text, wire, ty, arguments, is_required) in [
        ("title:String", "title", "String", vec![], true),
        ("pageCount:i64", "pageCount", "i64", vec![], true),
        ("tags:Vec<String>", "tags", "Vec<String>", vec![], false),
        ("limits:HashMap<String,Quantity>", "limits", "BTreeMap<String, Quantity>", vec![], false),
        ("author:Option<String>", "author", "Option<String>", vec![], false),
        ("copies:i32=1", "copies", "i32", api("default = 1"), false),
        ("shelf:String=north", "shelf", "String", api("default = \"north\""), false),
        ("pages:u32", "pages", "i32", api("minimum = 0"), true),
        ("pages:Option<u64>", "pages", "Option<i64>", api("minimum = 0"), false),
    ] {
        assert_eq!(field(text), (wire.to_owned(), ty.to_owned(), arguments, is_required), "{text}");
    }
    assert_eq!(parse("page_count:i32").unwrap().0.name, "page_count");
    assert_eq!(
        parse("pages:u32").unwrap().1,
        ["pages: u32 became i32 with a minimum of 0: the API conventions have no unsigned numbers"]
    );
    let named = |text: &str| parse(text).map(|(field, remarks)| (field.name, field.wire, remarks)).unwrap();
    assert_eq!(named("apiURL:String"), ("api_url".to_owned(), "apiURL".to_owned(), vec![]));
    let (_, wire, remarks) = named("page_count:i32");
    assert_eq!((&*wire, &*remarks), ("pageCount", &["page_count is called pageCount on the wire".to_owned()][..]));
}

#[test]
fn fields_that_do_not_fit_are_refused_with_a_way_out() {
    for (text, expected) in [
        ("title", "a field is NAME:TYPE"),
        ("ratio:f64", "use Quantity"),
        ("title:&str", "supported: String"),
        ("title:Str", "Str is not supported; supported: String"),
        ("tags:Vec<Option<String>>", "Option is only for a whole field"),
        ("tags:BTreeMap<i32,String>", "keys of a map are String"),
        ("a-b:String", "is no name of a field"),
        ("copies:i32=many", "\"many\" is no default of i32"),
        ("copies:Option<i32>=1", "leave Option out"),
        ("sizes:Vec<u32>", "use i32 or i64"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.starts_with(&format!("field {text:?}: ")) && error.contains(expected), "{error}");
    }
    let twice = ["apiURL:String", "apiUrl:String"].map(str::to_owned);
    assert_eq!(parse_all(&twice).unwrap_err(), "field \"apiUrl:String\": there is a field apiURL already");
    let twice = ["pageCount:i32", "page_count:i64"].map(str::to_owned);
    assert_eq!(parse_all(&twice).unwrap_err(), "field \"page_count:i64\": there is a field pageCount already");
}
