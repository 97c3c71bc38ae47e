#!/usr/bin/env python3
"""What a derived kind adds to a clean build and to the binary, beyond serde, Clone and Debug on the same types.

    python3 tests/fifty/measure.py [RUNS]

Makes two programs under target/fifty: both have the same fifty kinds' types, read and write all of them as JSON, and link
kindsmith with one derived kind; in the second all fifty are derived. The difference, divided by 49, is what one adds.
The dependencies are built before; of RUNS builds of the program itself (5) the fastest counts. Standard library only."""
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "fifty"
KINDS = 50

HEAD = """//! Made by tests/fifty/measure.py.
use std::{collections::BTreeMap, hint::black_box};

use kindsmith::{ApiType, Condition, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};
"""

ROOT_DERIVED = """
/// The kind number N.
#[derive(Resource, Clone, Debug)]
#[resource(group = "fifty.example.com", version = "v1", kind = "ThingN", shortname = "tN", category = "all", status)]
#[resource(scale(replicas = spec.replicas, status = status.replicas, selector = status.selector))]
#[resource(selectable(spec.color), column("Size", path = spec.size), column("Color", path = spec.color))]
#[resource(column("Phase", path = status.phase, priority = 1))]
pub struct ThingN {
    pub metadata: ObjectMeta,
    pub spec: SpecN,
    pub status: Option<StatusN>,
}
"""

ROOT_PLAIN = """
/// The kind number N.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThingN {
    pub api_version: String,
    pub kind: String,
    pub metadata: ObjectMeta,
    pub spec: SpecN,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<StatusN>,
}
"""

NESTED = """
/// What is wanted of number N.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpecN {
    /// How large it is.
    #[api(minimum = 1, maximum = 100)]
    pub size: i32,
    /// Its color.
    #[api(default = ColorN::Red)]
    pub color: ColorN,
    #[api(max_length = 64)]
    pub description: Option<String>,
    #[api(pattern = "^[A-Z]{2}-[0-9]+$")]
    pub code: Option<String>,
    #[api(default = 1, minimum = 0)]
    pub replicas: i32,
    pub paused: Option<bool>,
    #[serde(default)]
    #[api(list = map(key = name), merge)]
    pub ports: Vec<PortN>,
    #[serde(default)]
    #[api(list = set)]
    pub tags: Vec<String>,
    #[serde(default)]
    #[api(max_items = 5)]
    pub args: Vec<String>,
    #[serde(default)]
    #[api(max_properties = 3)]
    pub options: BTreeMap<String, String>,
}

/// A color of number N.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ColorN {
    Red,
    Green,
    Blue,
}

/// A port of number N.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PortN {
    pub name: String,
    #[api(minimum = 1, maximum = 65535)]
    pub port: i32,
    pub target_port: Option<i32>,
}

/// What is observed of number N.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusN {
    pub phase: Option<String>,
    pub replicas: Option<i32>,
    pub selector: Option<String>,
    pub observed_generation: Option<i64>,
    #[serde(default)]
    #[api(list = map(key = kind))]
    pub conditions: Vec<Condition>,
}
""".replace("#[derive(Clone, Debug, Serialize, Deserialize)]\npub struct PortN", "#[derive(Clone, Debug, Serialize, Deserialize)]\n#[serde(rename_all = \"camelCase\")]\npub struct PortN")


def program(derived):
    """The text of a program of which so many kinds are derived."""
    parts, uses = [HEAD], []
    for n in range(KINDS):
        nested = NESTED
        if n < derived:
            nested = nested.replace("#[derive(Clone", "#[derive(ApiType, Clone")
            uses.append(f"    black_box(Thing{n}::kind());")
        else:
            nested = re.sub(r"    #\[api\(.*\)\]\n", "", nested)
        text = (ROOT_DERIVED if n < derived else ROOT_PLAIN) + nested
        parts.append(re.sub(r"\b(Thing|Spec|Status|Color|Port|t|number )N\b", rf"\g<1>{n}", text))
        uses.append(f"    let thing: Thing{n} = serde_json::from_str(&text).expect(\"it decodes\");")
        uses.append("    black_box(serde_json::to_string(&black_box(thing).clone()).expect(\"it encodes\"));")
    return "".join(parts) + "\nfn main() {\n    let text = std::env::args().nth(1).unwrap_or_default();\n" + "\n".join(uses) + "\n}\n"


def prepare(name, derived):
    folder = WORK / name
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "main.rs").write_text(program(derived))
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "{name}"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n\n[dependencies]\n'
        f'kindsmith = {{ path = "{ROOT / "runtime"}" }}\nserde = {{ version = "1", features = ["derive"] }}\nserde_json = "1"\n'
        '\n[profile.release]\nstrip = true\n')
    lock = folder / "Cargo.lock"
    if not lock.exists():
        lock.write_bytes((ROOT / "Cargo.lock").read_bytes())
    return folder


def build(folder, profile):
    """Seconds of processor time and by the clock that the program itself takes to build."""
    arguments = ["cargo", "build", "--quiet", "--offline", *(["--release"] if profile == "release" else [])]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(WORK / "target"), "CARGO_INCREMENTAL": "0"}
    (folder / "src" / "main.rs").touch()
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(arguments, cwd=folder, env=environment, check=True)
    clock, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    programs = {"plain": prepare("plain", 1), "derived": prepare("derived", KINDS)}
    for profile in ("dev", "release"):
        for folder in programs.values():
            build(folder, profile)
        times = {name: [build(folder, profile) for _ in range(runs)] for name, folder in programs.items()}
        best = {name: [min(column) for column in zip(*found)] for name, found in times.items()}
        each = [(d - p) / (KINDS - 1) for p, d in zip(best["plain"], best["derived"])]
        print(f"{profile}: build {best['plain'][1]:.2f} s without, {best['derived'][1]:.2f} s with; "
              f"a kind adds {each[1]:.3f} s by the clock, {each[0]:.3f} s of processor time")
    sizes = {name: (WORK / "target" / "release" / name).stat().st_size for name in programs}
    print(f"release binary, stripped: {sizes['plain']} bytes without, {sizes['derived']} with; "
          f"a kind adds {(sizes['derived'] - sizes['plain']) / (KINDS - 1) / 1024:.1f} KiB")


main()
