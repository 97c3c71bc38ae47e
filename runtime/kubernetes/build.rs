//! Compresses the files in `schemas` to one, which the library includes.
use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use flate2::{Compression, write::DeflateEncoder};

fn main() -> io::Result<()> {
    let root = Path::new("schemas");
    let mut paths = Vec::new();
    list(root, &mut paths)?;
    paths.sort();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets it")).join("files");
    let mut encoder = DeflateEncoder::new(fs::File::create(out)?, Compression::best());
    for path in paths {
        let (text, name) = (fs::read(&path)?, path.strip_prefix(root).expect("it was found there").display());
        writeln!(encoder, "{} {name}", text.len())?;
        encoder.write_all(&text)?;
    }
    encoder.finish()?;
    println!("cargo::rerun-if-changed=schemas");
    Ok(())
}

fn list(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.extension().and_then(|end| end.to_str()) {
            Some("json" | "proto" | "yaml") => paths.push(path),
            _ if path.is_dir() => list(&path, paths)?,
            _ => {}
        }
    }
    Ok(())
}
