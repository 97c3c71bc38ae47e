//! Compiles the Protobuf definitions that the server exports, as a user would: protox parses them and prost-build
//! generates Rust. `proto/` has the files of kinds as `--definitions` writes them; a step of the check compares them
//! with the server's. The files of the API machinery come from the runtime.

use std::{env, error::Error, fs, path::Path};

/// The files that do not depend on kinds, with their import paths.
const SHARED: [(&str, &str); 4] = [
    ("meta_v1.proto", "k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto"),
    ("resource.proto", "k8s.io/apimachinery/pkg/api/resource/generated.proto"),
    ("runtime.proto", "k8s.io/apimachinery/pkg/runtime/generated.proto"),
    ("intstr.proto", "k8s.io/apimachinery/pkg/util/intstr/generated.proto"),
];

/// The files of kinds, in `proto/`.
const KINDS: [&str; 7] = [
    "k8s.io/api/authentication/v1/generated.proto",
    "k8s.io/api/authorization/v1/generated.proto",
    "k8s.io/api/core/v1/generated.proto",
    "k8s.io/api/coordination/v1/generated.proto",
    "k8s.io/api/events/v1/generated.proto",
    "k8s.io/api/rbac/v1/generated.proto",
    "sample.example.com/v1/generated.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    let out = env::var("OUT_DIR")?;
    let include = Path::new(&out).join("proto");
    let shared = SHARED.map(|(name, path)| (format!("../../../runtime/formats/src/proto/{name}"), path));
    let kinds = KINDS.map(|path| (format!("proto/{path}"), path));
    for (from, path) in shared.into_iter().chain(kinds) {
        let to = include.join(path);
        fs::create_dir_all(to.parent().ok_or("a file is in a folder")?)?;
        fs::copy(&from, to).map_err(|error| format!("{from}: {error}"))?;
        println!("cargo::rerun-if-changed={from}");
    }
    let files = protox::compile(KINDS, [&include])?;
    let mut build = prost_build::Config::new();
    // In key order, so that equal maps have equal bytes.
    build.btree_map(["."]);
    build.include_file("messages.rs");
    build.compile_fds(files)?;
    Ok(())
}
