//! Clients that list everything in every encoding and read slowly.

use std::time::{Duration, Instant};

use tokio::{io::AsyncReadExt, net::TcpStream};

use super::{Bounds, Observation, Setup, Target, size, wire};

const PATH: &str = "/api/v1/namespaces/default/configmaps";

/// The encodings, with their query and headers.
const FORMS: [(&str, &str, &str); 8] = [
    ("slow lists, JSON", "", "accept: application/json\r\n"),
    ("slow lists, pretty JSON", "?pretty=1", "accept: application/json\r\n"),
    ("slow lists, YAML", "", "accept: application/yaml\r\n"),
    ("slow lists, CBOR", "", "accept: application/cbor\r\n"),
    ("slow lists, Protobuf", "", "accept: application/vnd.kubernetes.protobuf\r\n"),
    ("slow lists, Table", "?includeObject=Object", "accept: application/json;as=Table;g=meta.k8s.io;v=v1\r\n"),
    (
        "slow lists, partial metadata",
        "",
        "accept: application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1\r\n",
    ),
    ("slow lists, gzip of YAML", "", "accept: application/yaml\r\naccept-encoding: gzip\r\n"),
];

/// 64 clients list 20,000 objects of 2 KB (24 clients 3,000 in an ordinary run) in each encoding.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_that_are_read_slowly_take_little_memory() {
    let target = Target::start(Setup::default());
    target.fill(size(20_000, 3_000), 1_700).await;
    for (name, query, headers) in FORMS {
        let observation = Observation::begin(name, &target).await;
        let head = wire::head("GET", &format!("{PATH}{query}"), headers);
        let mut readers = Vec::new();
        for _ in 0..size(64, 24) {
            let stream = wire::send(&target, head.as_bytes()).await.unwrap();
            // A compressed piece has only a few bytes.
            let least = if headers.contains("gzip") { 1 } else { 100_000 };
            readers.push((least, tokio::spawn(read_slowly(stream, Duration::from_secs(3), least))));
        }
        for (least, reader) in readers {
            let (begin, read) = reader.await.unwrap();
            assert!(begin.starts_with("HTTP/1.1 200"), "{begin}");
            assert!(read >= least, "{name}: the answer goes on while it is read: {read} bytes");
        }
        observation.end(&target, Bounds::default()).await;
    }
}

/// The beginning of the answer, and how much of it was read slowly: for some time, and ten times as long, for a server
/// that gets little of the processors, until `least` bytes have come.
async fn read_slowly(mut stream: TcpStream, time: Duration, least: usize) -> (String, usize) {
    let (mut begin, mut read, mut buffer) = (String::new(), 0, vec![0; 16 << 10]);
    let start = Instant::now();
    let reading = async {
        while read < least || start.elapsed() < time {
            let count = stream.read(&mut buffer).await.unwrap();
            if read == 0 {
                begin = String::from_utf8_lossy(&buffer[..count.min(20)]).into_owned();
            }
            read += count;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let _ = tokio::time::timeout(10 * time, reading).await;
    (begin, read)
}
