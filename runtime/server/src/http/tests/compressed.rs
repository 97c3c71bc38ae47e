//! Compressed answers: long ones in every encoding, for clients that accept them.
use std::io::Read;

use flate2::read::GzDecoder;

use super::*;

const THRESHOLD: usize = 128 << 10;

/// A server with more config maps than fit into an uncompressed answer.
async fn rig() -> Rig {
    let rig = Rig::with(crate::builtin::kinds()).await;
    for at in 0..20 {
        let map = json!({"metadata": {"name": format!("m{at}")}, "data": {"k": "x".repeat(9_000)}});
        assert_eq!(rig.post(CONFIG_MAPS, &map).await.0, 201);
    }
    rig
}

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut plain).expect("gzip");
    plain
}

#[tokio::test]
async fn long_lists_in_every_encoding() {
    let rig = rig().await;
    let table = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let objects = format!("{CONFIG_MAPS}?includeObject=Object");
    for accept in
        ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor", table]
    {
        let path = if accept == table { &*objects } else { CONFIG_MAPS };
        let plain = rig.answer("GET", path, &[("accept", accept)], "").await;
        assert_eq!(header(plain.headers(), "content-encoding"), "", "not requested");
        let plain = collect(plain).await;
        assert!(plain.len() > THRESHOLD);
        // Kept renderings are compressed like new ones.
        for _ in 0..2 {
            let packed = rig.answer("GET", path, &[("accept", accept), ("accept-encoding", "br, gzip")], "").await;
            let headers = packed.headers();
            assert_eq!(
                (header(headers, "content-encoding"), header(headers, "vary")),
                ("gzip".into(), "Accept-Encoding".into())
            );
            assert_eq!(header(headers, "content-type"), accept.split(';').next().unwrap());
            assert_eq!(header(headers, "content-length"), "");
            let packed = collect(packed).await;
            assert!(packed.len() < plain.len() / 10, "{} of {}", packed.len(), plain.len());
            // The best level has 2 here, the fastest 4.
            assert_eq!((packed[..3].to_vec(), packed[8]), (vec![0x1f, 0x8b, 8], 4));
            let found = unpacked(&packed);
            if accept == table {
                assert_eq!(found.len(), plain.len(), "ages may have grown");
            } else {
                assert_eq!(found, plain, "{accept}");
            }
        }
    }
}

#[tokio::test]
async fn answers_that_are_sent_uncompressed() {
    let rig = rig().await;
    let gzip = ("accept-encoding", "gzip");
    for (path, why) in [
        (&*format!("{CONFIG_MAPS}?limit=3"), "it is short"),
        (&*format!("{CONFIG_MAPS}/missing"), "it is short"),
        (
            &*format!(
                "{CONFIG_MAPS}?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
            ),
            "a watch",
        ),
        ("/openapi/v2", "it is known again by its ETag"),
    ] {
        let answer = rig.answer("GET", path, &[gzip], "").await;
        assert_eq!(header(answer.headers(), "content-encoding"), "", "{why}: {path}");
    }
    for other in ["", "identity", "br", "gzip;q=0", "x-gzip"] {
        let answer = rig.answer("GET", CONFIG_MAPS, &[("accept-encoding", other)], "").await;
        assert_eq!(header(answer.headers(), "content-encoding"), "", "{other}");
        assert!(answer.body().size_hint().exact().is_some());
    }
}

#[tokio::test]
async fn compressed_bodies_are_refused() {
    let rig = rig().await;
    let body = r#"{"metadata":{"name":"p"}}"#;
    for (encoding, code) in [("gzip", 415), ("deflate", 415), ("br", 415), ("gzip, identity", 415), ("identity", 201)] {
        let headers = [("content-type", "application/json"), ("content-encoding", encoding)];
        let (found, status) = rig.json("POST", CONFIG_MAPS, &headers, body).await;
        assert_eq!(found, code, "{encoding}: {status}");
        if code == 415 {
            assert_eq!(status["reason"], "UnsupportedMediaType");
            assert!(status["message"].as_str().unwrap().contains(encoding), "{status}");
        }
    }
}
