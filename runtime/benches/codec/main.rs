//! What each encoding costs: `cargo bench -p kindsmith --bench codec [-- <word of a document>]`.
//!
//! Of each document all encodings are measured by turns, in many short rounds, so that a busy machine slows all of them
//! alike; a row is the median of its rounds, and stands beside serde_json, which reads into a `Value` and writes one. Ends
//! with whether strict decoding stays under one and a half times that, and fails where it does not.
//!
//! `-- bombs` measures hostile bodies in YAML instead.

use std::{
    hint::black_box,
    process::ExitCode,
    time::{Duration, Instant},
};

use documents::Sample;
use kindsmith::schema::Document;
use kindsmith_model::codec::{
    self, Limits, Order, cbor,
    protobuf::{self, Message},
    yaml,
};

mod bombs;
mod documents;

const ROUNDS: usize = 101;
/// How long a round takes, about.
const ROUND: Duration = Duration::from_millis(1);
/// What strict decoding may cost, as a multiple of serde_json.
const MOST: f64 = 1.5;

/// What is measured.
struct Row<'a> {
    name: &'static str,
    bytes: usize,
    call: Box<dyn FnMut() + 'a>,
}

fn row<'a, T>(name: &'static str, bytes: usize, mut call: impl FnMut() -> T + 'a) -> Row<'a> {
    Row { name, bytes, call: Box::new(move || drop(black_box(call()))) }
}

/// The median time of each row.
fn medians(rows: &mut [Row<'_>]) -> Vec<Duration> {
    let mut times = vec![Vec::with_capacity(ROUNDS); rows.len()];
    let began = Instant::now();
    (rows[0].call)();
    let calls = (ROUND.as_nanos() / began.elapsed().as_nanos().max(1)).clamp(1, 1_000);
    let calls = u32::try_from(calls).expect("at most a thousand");
    for round in 0..ROUNDS {
        // Each round begins with another row: what slows a machine down may come as regularly as the rounds do.
        for turn in 0..rows.len() {
            let which = (round + turn) % rows.len();
            let began = Instant::now();
            for _ in 0..calls {
                (rows[which].call)();
            }
            times[which].push(began.elapsed() / calls);
        }
    }
    let median = |mut times: Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    times.into_iter().map(median).collect()
}

/// Prints the rows beside the first of them; gives the most that a strict one costs as a multiple of it.
fn show(mut rows: Vec<Row<'_>>) -> f64 {
    let medians = medians(&mut rows);
    let mut strict = 0_f64;
    for (row, median) in rows.iter().zip(&medians) {
        let ratio = median.as_secs_f64() / medians[0].as_secs_f64();
        let rate = f64::from(u32::try_from(row.bytes).expect("small documents")) / median.as_secs_f64() / 1e6;
        println!("  {:<28} {:>9.2} µs {rate:>6.0} MB/s {ratio:>6.2} x", row.name, median.as_secs_f64() * 1e6);
        if row.name.contains("strict") {
            strict = strict.max(ratio);
        }
    }
    strict
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

/// Measures one document; gives the most that strict decoding costs.
fn measure(sample: &Sample) -> f64 {
    let Sample { name, kind, object } = sample;
    let (root, limits) = (&kind.version.schema, Limits::default());
    let message = Message::of_object(root).expect("all fields are numbered");
    let json = written(|out| codec::encode(object, out));
    let yaml = written(|out| yaml::encode(object, out));
    let cbor = written(|out| cbor::encode(object, out));
    let protobuf = protobuf::encode(&message, object).expect("an object of the kind");
    let read = |bytes: &[u8]| protobuf::object(&message, &protobuf::open(bytes).expect("an envelope"), &limits);
    assert_eq!(codec::decode_strict(&json, &limits, root, Order::AsMet).expect("JSON").faults, [""; 0], "{name}");
    assert_eq!(read(&protobuf).as_ref(), Ok(object), "{name}");
    println!("{name}: {} bytes of JSON", json.len());

    let strict = |order| codec::decode_strict(black_box(&json), &limits, root, order).expect("JSON");
    let worst = show(vec![
        row("JSON decode, serde_json", json.len(), || serde_json::from_slice::<Document>(black_box(&json))),
        row("JSON decode", json.len(), || codec::decode(black_box(&json), &limits)),
        row("JSON decode, strict", json.len(), || strict(Order::AsMet)),
        row("JSON decode, strict, custom", json.len(), || strict(Order::UnknownLast)),
        row("YAML decode", yaml.len(), || yaml::decode(black_box(&yaml), &limits)),
        row("CBOR decode", cbor.len(), || cbor::decode(black_box(&cbor), &limits)),
        row("Protobuf decode", protobuf.len(), || read(black_box(&protobuf))),
    ]);
    show(vec![
        row("JSON encode, serde_json", json.len(), || serde_json::to_vec(black_box(object))),
        row("JSON encode", json.len(), || written(|out| codec::encode(black_box(object), out))),
        row("YAML encode", yaml.len(), || written(|out| yaml::encode(black_box(object), out))),
        row("CBOR encode", cbor.len(), || written(|out| cbor::item(Some(root), black_box(object), out))),
        row("Protobuf encode", protobuf.len(), || protobuf::encode(&message, black_box(object))),
    ]);
    worst
}

fn main() -> ExitCode {
    let asked = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    if asked == "bombs" {
        bombs::measure();
        return ExitCode::SUCCESS;
    }
    let samples = documents::samples();
    let worst = samples.iter().filter(|sample| sample.name.contains(&asked)).map(measure).fold(0.0, f64::max);
    println!("strict decoding costs {worst:.2} times what serde_json does, of {MOST} that it may");
    if worst <= MOST { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
