//! Tests of content negotiation.
use super::{Encoding::*, *};

const NUMBERED: Offer = Offer { protobuf: true, stream: false, shapeless: false };
const UNNUMBERED: Offer = Offer { protobuf: false, stream: false, shapeless: false };
const WATCH: Offer = Offer { protobuf: true, stream: true, shapeless: false };

fn objects(accept: Option<&str>) -> Result<ResponseFormat, NotAcceptable> {
    super::objects(accept, UNNUMBERED)
}

const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";

#[test]
fn clauses_come_by_quality_then_as_written() {
    let found = clauses("text/*;q=0.3, a/b;Q=0.7;X=\"y z\", */*;q=0.7, c/d;q=0, nonsense, e/f;q=7, g/h");
    let types: Vec<&str> = found.iter().map(|c| c.media_type).collect();
    assert_eq!(types, ["e/f", "g/h", "a/b", "*/*", "text/*"]);
    assert_eq!(found[2].param("x"), Some("y z"));
    assert_eq!(found[2].param("q"), None);
}

#[test]
fn shapes() {
    let shape = |accept: &str| objects(Some(accept)).map(|a| (a.shape, a.beta));
    assert_eq!(shape("application/json"), Ok((Shape::Full, false)));
    assert_eq!(shape("*/*"), Ok((Shape::Full, false)));
    assert_eq!(shape("application/*"), Ok((Shape::Full, false)));
    assert_eq!(shape("APPLICATION/*"), Ok((Shape::Full, false)));
    assert_eq!(shape(TABLE), Ok((Shape::Table, false)));
    assert_eq!(shape("Application/JSON; AS=Table; G=meta.k8s.io; V=v1"), Ok((Shape::Table, false)));
    assert_eq!(shape("application/json;as=Table;v=v1beta1;g=meta.k8s.io"), Ok((Shape::Table, true)));
    assert_eq!(shape("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"), Ok((Shape::Partial, false)));
    assert_eq!(
        shape("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
        Ok((Shape::PartialList, false))
    );
    assert_eq!(shape("application/json;stream=watch"), Ok((Shape::Full, false)));
    assert_eq!(objects(None), Ok(ResponseFormat::default()));
    assert_eq!(objects(Some("  ")), Ok(ResponseFormat::default()));
}

#[test]
fn alternatives_are_tried_in_turn() {
    let kubectl = format!("{TABLE},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json");
    assert_eq!(objects(Some(&kubectl)).map(|a| a.shape), Ok(Shape::Table));
    let fallback = "application/json;as=Nothing;g=meta.k8s.io;v=v1, application/json";
    assert_eq!(objects(Some(fallback)).map(|a| a.shape), Ok(Shape::Full));
    let quality = format!("application/json;q=0.9, {TABLE};q=0.95");
    assert_eq!(objects(Some(&quality)).map(|a| a.shape), Ok(Shape::Table));
    let protobuf = "application/vnd.kubernetes.protobuf, application/json";
    assert_eq!(objects(Some(protobuf)).map(|a| a.encoding), Ok(Encoding::Json));
}

#[test]
fn refusals() {
    assert_eq!(objects(Some("text/html")), Err(NotAcceptable::MediaType));
    assert_eq!(objects(Some("application/json;q=0")), Err(NotAcceptable::MediaType));
    assert_eq!(objects(Some("application/json;as=Nothing;g=meta.k8s.io;v=v1")), Err(NotAcceptable::Params));
    assert_eq!(objects(Some("application/json;as=Table;g=other;v=v1")), Err(NotAcceptable::Params));
    assert_eq!(objects(Some("application/json;g=meta.k8s.io")), Err(NotAcceptable::Params));
    assert_eq!(objects(Some("application/json;stream=other")), Err(NotAcceptable::Params));
}

#[test]
fn answers_are_indented_for_some_clients() {
    assert!(pretty(Some(true), None));
    assert!(!pretty(Some(false), Some("curl/8")), "the query wins");
    assert!(pretty(None, Some("Mozilla/5.0 (X11)")) && pretty(None, Some("Wget/1.2")));
    assert!(!pretty(None, Some("kubectl/v1.32 (linux/amd64)")) && !pretty(None, None));
    assert!(objects(Some("application/json;pretty=1")).is_ok_and(|a| a.pretty));
}

#[test]
fn first_of_several_offers() {
    let offers = ["application/json", "application/pb"];
    assert_eq!(first(None, &offers), Some("application/json"));
    assert_eq!(first(Some("application/pb, application/json;q=0.9"), &offers), Some("application/pb"));
    assert_eq!(first(Some("*/*"), &offers), Some("application/json"));
    assert_eq!(first(Some("text/plain"), &offers), None);
}

#[test]
fn encodings() {
    let encoding = |accept, offer| super::objects(Some(accept), offer).map(|format| format.encoding);
    assert_eq!(encoding("application/yaml", UNNUMBERED), Ok(Yaml));
    assert_eq!(encoding("application/cbor", UNNUMBERED), Ok(Cbor));
    assert_eq!(encoding("application/vnd.kubernetes.protobuf", NUMBERED), Ok(Protobuf));
    assert_eq!(encoding("application/vnd.kubernetes.protobuf", UNNUMBERED), Err(NotAcceptable::Params));
    assert_eq!(encoding("application/vnd.kubernetes.protobuf, application/json", UNNUMBERED), Ok(Json));
    assert_eq!(encoding("application/vnd.kubernetes.protobuf, application/json", NUMBERED), Ok(Protobuf));
    assert_eq!(encoding("application/json;q=0.5, application/yaml", NUMBERED), Ok(Yaml));
    assert_eq!(encoding("application/*", NUMBERED), Ok(Json));
    assert_eq!(encoding("application/*, application/cbor;q=0.9", NUMBERED), Ok(Json));
    assert_eq!(encoding("application/cbor-seq", NUMBERED), Err(NotAcceptable::MediaType));
}

#[test]
fn shapes_in_encodings() {
    let form = |accept: &str, name: &str| {
        let accept = format!("{accept};as={name};g=meta.k8s.io;v=v1");
        super::objects(Some(&accept), UNNUMBERED).map(|format| format.encoding)
    };
    assert_eq!(form("application/yaml", "Table"), Ok(Yaml));
    assert_eq!(form("application/*", "Table"), Ok(Json));
    for binary in [Protobuf, Cbor] {
        assert_eq!(form(binary.media_type(), "Table"), Err(NotAcceptable::Params));
        assert_eq!(form(binary.media_type(), "PartialObjectMetadata"), Ok(binary));
        assert_eq!(form(binary.media_type(), "PartialObjectMetadataList"), Ok(binary));
    }
}

#[test]
fn streams() {
    let stream = |accept: &str| super::objects(Some(accept), WATCH).map(|format| format.encoding);
    assert_eq!(stream("application/json;stream=watch"), Ok(Json));
    assert_eq!(stream("application/vnd.kubernetes.protobuf;stream=watch"), Ok(Protobuf));
    assert_eq!(stream("application/cbor"), Ok(Cbor));
    assert_eq!(stream("application/cbor-seq"), Ok(Cbor));
    assert_eq!(stream("application/yaml"), Err(NotAcceptable::Stream));
    assert_eq!(stream("application/yaml, application/json"), Err(NotAcceptable::Stream));
    assert_eq!(stream("application/yaml;stream=watch, application/json"), Ok(Json));
    assert_eq!(super::objects(Some("application/yaml;stream=watch"), NUMBERED), Err(NotAcceptable::Params));
}

#[test]
fn the_form_of_a_status() {
    let form = |accept| (plain(Some(accept), false).encoding, plain(Some(accept), false).pretty);
    assert_eq!(form("application/json"), (Json, false));
    assert_eq!(form("application/vnd.kubernetes.protobuf, application/json"), (Protobuf, false));
    assert_eq!(form("application/cbor"), (Cbor, false));
    assert_eq!(form("application/yaml"), (Yaml, false));
    assert_eq!(form(TABLE), (Json, true), "a Status is no Table");
    assert_eq!(form("text/html"), (Json, true));
    let metadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json";
    assert_eq!(form(metadata), (Json, false));
    assert!(plain(None, true).pretty && !plain(None, false).pretty);
}
