//! Invalid bodies in each encoding.
use crate::Bomb;

const BODY: usize = (3 << 20) - 100;

/// Repeats a text up to the maximum body size.
fn full(part: &[u8]) -> Vec<u8> {
    part.repeat(BODY / part.len())
}

fn around(before: &str, part: &str, after: &str) -> Vec<u8> {
    let times = (BODY - before.len() - after.len()) / part.len();
    [before, &part.repeat(times), after].concat().into_bytes()
}

fn json() -> Vec<Bomb> {
    let raw = |part: &str| around("{\"metadata\":{\"name\":\"a\"},\"spec\":{\"raw\":[", part, "0]}}");
    let spec = |part: &str| around("{\"metadata\":{\"name\":\"a\"},\"spec\":{", part, "\"text\":\"\"}}");
    let deep = "[".repeat(250) + &"]".repeat(250) + ",";
    let rows = [
        ("lists in lists", full(b"["), 400),
        ("objects in objects", full(b"{\"a\":"), 400),
        ("both in turn", full(b"[{\"a\":"), 400),
        ("nearly too deep", raw(&deep), 400),
        ("empty lists", raw("[],"), 400),
        ("lists of one", raw("[0],"), 400),
        ("zeros", raw("0,"), 400),
        ("objects of one field", raw("{\"a\":0},"), 400),
        ("empty texts", raw("\"\","), 400),
        ("escapes", around("{\"metadata\":{\"name\":\"", "\\u0061", "\"}}"), 422),
        ("digits", around("{\"spec\":{\"raw\":", "9", "}}"), 400),
        ("digits after the point", around("{\"metadata\":{\"name\":\"a\"},\"spec\":{\"raw\":0.", "9", "}}"), 201),
        ("an exponent", b"{\"spec\":{\"raw\":1e999999999}}".to_vec(), 400),
        ("an exponent of digits", around("{\"spec\":{\"raw\":1e", "9", "}}"), 400),
        ("a small exponent of digits", around("{\"metadata\":{\"name\":\"a\"},\"spec\":{\"raw\":1e-", "9", "}}"), 201),
        ("fields given again", spec("\"text\":\"\","), 400),
        ("unknown fields", spec("\"unknown\":0,"), 400),
        ("white space", around("{\"metadata\":{\"name\":\"a\"},\"spec\":{}", " \n", "}"), 201),
        ("bytes that are no text", full(b"\xff"), 400),
    ];
    rows.into_iter()
        .map(|(name, body, status)| Bomb::post(format!("json: {name}"), "application/json", body, status))
        .collect()
}

fn many_names() -> Vec<u8> {
    let fields: String = (0..200_000).map(|number| format!("\"u{number}\":0,")).collect();
    format!("{{\"metadata\":{{\"name\":\"a\"}},\"spec\":{{{fields}\"text\":\"\"}}}}").into_bytes()
}

fn yaml() -> Vec<Bomb> {
    let mut laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    let mut merges = "a0: &a0 {k0: 0}\n".to_owned();
    for line in 1..=60 {
        let before = format!("*a{}, ", line - 1).repeat(9);
        laughs.push_str(&format!("a{line}: &a{line} [{before}]\n"));
        merges.push_str(&format!("a{line}: &a{line} {{k{line}: 0, <<: [{before}]}}\n"));
    }
    let mut chain = "a0: &a0 {k0: 0}\n".to_owned();
    for line in 1..50_000 {
        chain.push_str(&format!("a{line}: &a{line} {{k{line}: 0, <<: *a{}}}\n", line - 1));
    }
    let ladder: String = (0..2_400).map(|depth| " ".repeat(depth) + "a:\n").collect();
    let anchors: String = (0..150_000).map(|number| format!("- &a{number} x\n")).collect();
    let wide = format!(
        "a: &a {{{}}}\nb:\n{}",
        (0..5_000).map(|n| format!("k{n}: 0, ")).collect::<String>(),
        "- <<: *a\n".repeat(200_000)
    );
    let rows = [
        ("lists in lists", full(b"["), 400),
        ("maps in maps", full(b"{a: "), 400),
        ("dashes", full(b"- "), 400),
        ("question marks", full(b"? "), 400),
        ("a ladder of maps", ladder.into_bytes(), 400),
        ("a billion laughs", laughs.into_bytes(), 400),
        ("a billion laughs of merged maps", merges.into_bytes(), 400),
        ("a chain of merged maps", chain.into_bytes(), 400),
        ("a wide map merged often", wide.into_bytes(), 400),
        ("an alias again and again", around("a: &a [x, x, x, x, x, x, x, x]\nb: [", "*a,", "]"), 400),
        ("anchors", anchors.into_bytes(), 400),
        ("empty items", full(b"-\n"), 400),
        ("documents", full(b"---\n"), 400),
        ("directives", full(b"%YAML 1.1\n"), 400),
        ("comments", full(b"#\n"), 400),
        ("line breaks", full(b"\n"), 400),
        ("lines of a text", around("a: |\n", "  x\n", ""), 422),
        ("a text in quotes without an end", around("a: \"", "\\x41", ""), 400),
        ("a plain text over lines", around("a:\n", " b\n", ""), 422),
        ("digits", around("a: ", "9", ""), 422),
        ("digits by sixties", around("a: 1", ":59", ""), 422),
        ("a long key", around("", "a", ": 0"), 400),
        ("a key given again", full(b"a: 0\n"), 400),
        ("keys that are maps", full(b"? {a: b}\n: 0\n"), 400),
        ("tags", around("a: ", "!!str ", ""), 400),
        ("spaces", around("a:", " ", "0"), 422),
        ("flow in flow without commas", full(b"[a [b "), 400),
        ("JSON up to the last byte", around("[", "[],", "&a"), 400),
    ];
    rows.into_iter()
        .map(|(name, body, status)| Bomb::post(format!("yaml: {name}"), "application/yaml", body, status))
        .collect()
}

fn cbor() -> Vec<Bomb> {
    let after = |head: &[u8], part: &[u8]| [head, &full(part)].concat();
    let spec = |head: &[u8], part: &[u8], end: &[u8]| {
        let object = b"\xa2\x68metadata\xa1\x64name\x61a\x64spec\xa1\x63raw";
        [&object[..], head, &part.repeat((BODY - 100) / part.len()), end].concat()
    };
    let rows = [
        ("lists in lists", full(b"\x81"), 400),
        ("endless lists in lists", full(b"\x9f"), 400),
        ("maps in maps", full(b"\xa1\x61a"), 400),
        ("tags in tags", full(b"\xc1"), 400),
        ("a list of 2^64 items", b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(), 400),
        ("a list of 2^31 items", after(b"\x9a\x7f\xff\xff\xff", b"\x00"), 400),
        ("a map of 2^64 fields", b"\xbb\xff\xff\xff\xff\xff\xff\xff\xff\x61a\x00".to_vec(), 400),
        ("a text of 2^64 bytes", b"\x7b\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(), 400),
        ("empty lists", spec(b"\x9f", b"\x80", b"\xff"), 400),
        ("empty maps", spec(b"\x9f", b"\xa0", b"\xff"), 400),
        ("empty texts", spec(b"\x9f", b"\x60", b"\xff"), 400),
        ("zeros", spec(b"\x9f", b"\x00", b"\xff"), 400),
        ("maps of one field", spec(b"\x9f", b"\xa1\x60\x00", b"\xff"), 400),
        ("a text in empty parts", spec(b"\x7f", b"\x60", b"\xff"), 201),
        ("bytes in empty parts", spec(b"\x5f", b"\x40", b"\xff"), 201),
        ("a field given again", spec(b"\xbf", b"\x60\x00", b"\xff"), 400),
        ("a whole number of 3 MB", spec(b"\xc2\x5a\x00\x2f\xff\x38", b"\xff", b""), 400),
        ("whole numbers", spec(b"\x9f", b"\xc2\x41\x01", b"\xff"), 400),
        ("times", spec(b"\x9f", b"\xc1\x00", b"\xff"), 400),
    ];
    rows.into_iter()
        .map(|(name, body, status)| Bomb::post(format!("cbor: {name}"), "application/cbor", body, status))
        .collect()
}

/// A field of a message: its number and bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length > 0x7f {
        out.push(u8::try_from(length & 0x7f).expect("seven bits") | 0x80);
        length >>= 7;
    }
    out.push(u8::try_from(length).expect("seven bits"));
    [&out[..], bytes].concat()
}

fn protobuf() -> Vec<Bomb> {
    let sealed = |api_version: &str, kind: &str, message: &[u8]| {
        let type_meta = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
        [b"k8s\0".to_vec(), field(1, &type_meta), field(2, message)].concat()
    };
    let map = |message: &[u8]| sealed("v1", "ConfigMap", message);
    let metadata = |bytes: &[u8]| map(&field(1, &[field(1, b"a"), bytes.to_vec()].concat()));
    let sample = |bytes: &[u8]| {
        let message = [field(1, &field(1, b"a")), field(2, bytes)].concat();
        sealed("fuzz.example.com/v1", "Sample", &message)
    };
    let part = |bytes: &[u8]| bytes.repeat((BODY - 200) / bytes.len());
    let rows = [
        ("a length of 2^63", b"k8s\0\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f".to_vec(), 400),
        ("a number without an end", [&b"k8s\0"[..], &full(b"\xff")].concat(), 400),
        ("envelopes in the envelope", [&b"k8s\0"[..], &full(b"\x12\x00")].concat(), 422),
        ("groups in groups", map(&part(b"\x0b")), 400),
        ("metadata again and again", map(&part(b"\x0a\x00")), 422),
        ("empty entries of a map", map(&part(b"\x12\x00")), 400),
        ("fields that are unknown", map(&part(b"\xf8\x01\x00")), 422),
        ("empty finalizers", metadata(&part(b"\x72\x00")), 400),
        ("empty owners", metadata(&part(b"\x6a\x00")), 400),
        ("empty managers", metadata(&part(b"\x8a\x01\x00")), 400),
        ("empty labels", metadata(&part(b"\x5a\x00")), 400),
        ("empty parts", sample(&part(b"\x5a\x00")), 400),
        ("empty texts", sample(&part(b"\x62\x00")), 400),
        ("a nested map's entries", sample(&part(b"\x7a\x00")), 400),
        ("raw JSON in JSON", sample(&field(10, &field(1, &part(b"[")))), 400),
        ("raw JSON of empty lists", sample(&field(10, &field(1, &[b"[", &part(b"[],")[..], b"0]"].concat()))), 400),
        ("a quantity of digits", sample(&field(5, &field(1, &part(b"9")))), 413),
    ];
    let bomb = |(name, body, status): (&str, Vec<u8>, u16)| {
        let path = if name.contains("text") || body.windows(6).take(60).any(|six| six == b"Sample") {
            crate::SAMPLES
        } else {
            crate::CONFIG_MAPS
        };
        let post = Bomb::post(format!("protobuf: {name}"), "application/vnd.kubernetes.protobuf", body, status);
        Bomb { path: path.to_owned(), ..post }
    };
    rows.into_iter().map(bomb).collect()
}

pub(crate) fn all() -> Vec<Bomb> {
    let strict = Bomb::post("json: unknown fields of many names", "application/json", many_names(), 400);
    let strict = Bomb { path: format!("{}?fieldValidation=Strict", crate::SAMPLES), ..strict };
    let gzip = Bomb::post("a body that is compressed", "application/json", full(b"\0"), 415);
    let gzip = Bomb {
        headers: vec![("content-type", "application/json".to_owned()), ("content-encoding", "gzip".to_owned())],
        ..gzip
    };
    json().into_iter().chain([strict, gzip]).chain(yaml()).chain(cbor()).chain(protobuf()).collect()
}
