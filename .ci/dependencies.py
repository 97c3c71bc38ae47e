"""Checks what cargo-deny cannot: each dependency has a reason and is used, the library without the server needs no
runtime, network or store, and the lock of the Rust client, a workspace of its own, has what Kindsmith needs. Licenses, sources and
packages in two versions are in deny.toml."""

import pathlib
import re
import subprocess
import sys
import tomllib

# Dependencies that no source of their package names, each with the reason.
UNNAMED = {
    ("controller", "k8s-openapi"): "kube needs one of its features",
    ("shop", "k8s-openapi"): "kube needs one of its features",
    ("from-openapi", "k8s-openapi"): "kube needs one of its features",
    ("kindsmith-tests", "library"): "the guide's blocks of code, which are compiled as documentation tests",
    ("from-openapi", "serde"): "what its build script generates",
    ("kindsmith-cel", "getrandom"): "tests/support/random.rs, which its fuzz tests include by its path",
    ("kindsmith-codegen", "serde"): "tests/versions/lamp.rs, which its tests include by its path",
}
# What the library without the feature `server` must not need: a runtime, network or store. Files of users it reads
# and writes (`files`), with rustix. A name stands for all that begin so.
NOT_PURE = ["tokio", "axum", "hyper", "http", "tower", "redb", "rustls", "ring", "rcgen", "prometheus", "tracing"]
TABLES = ["dependencies", "dev-dependencies", "build-dependencies"]


def reasons(text):
    """Workspace dependencies without a comment on their line. Crates of the workspace need none."""
    table = text.split("[workspace.dependencies]\n")[1].split("\n[")[0]
    for line in table.splitlines():
        name = line.split("=")[0].strip()
        if line and not line.startswith("#") and "path = " not in line and " # " not in line:
            yield f"{name} has no reason beside it in Cargo.toml"


def unused(manifest):
    """Dependencies that no source of the package names."""
    package = tomllib.loads(manifest.read_text())
    name = package["package"]["name"]
    members = [m.parent for m in MANIFESTS if m != manifest]
    sources = [
        path.read_text(errors="replace")
        for path in manifest.parent.rglob("*.rs")
        if not any(member in path.parents for member in members if manifest.parent in member.parents)
    ]
    for table in TABLES:
        for dependency in package.get(table, {}):
            word = re.compile(rf"\b{dependency.replace('-', '_')}\b")
            if not any(word.search(source) for source in sources) and (name, dependency) not in UNNAMED:
                yield f"{name} does not use its dependency {dependency}"


def impure():
    """Packages in the tree of the library without the server that belong to the server."""
    tree = subprocess.run(
        ["cargo", "tree", "-p", "kindsmith", "--no-default-features", "--features", "messages", "--locked", "-e", "normal",
         "--prefix", "none"],
        capture_output=True, text=True, check=True,
    )
    names = {line.split()[0] for line in tree.stdout.splitlines() if line}
    for name in sorted(names):
        if any(name == server or name.startswith(server + "-") for server in NOT_PURE):
            yield f"kindsmith without the feature server needs {name}; see `cargo tree -p kindsmith --no-default-features -i {name}`"


def outdated():
    """The lock of the Rust client, if it lacks something. Cargo adds it without `--locked`."""
    metadata = ["cargo", "metadata", "--format-version", "1", "--manifest-path", CLIENT]
    if subprocess.run([*metadata, "--locked"], stdout=subprocess.DEVNULL).returncode != 0:
        yield f"its Cargo.lock is not up to date; run `cargo update --workspace --manifest-path {CLIENT}`"


ROOT = pathlib.Path(__file__).parent.parent
MANIFESTS = [ROOT / m / "Cargo.toml" for m in ["macros", "macros/proto", "runtime", "codegen", "tests"]]
MANIFESTS += sorted((ROOT / "runtime").glob("*/Cargo.toml"))
MANIFESTS += sorted((ROOT / "examples").glob("*/Cargo.toml"))
MANIFESTS += [ROOT / "tests" / m / "Cargo.toml" for m in ["conformance-server", "pod-server", "renamed", "load", "cluster"]]
CLIENT = "tests/clients/rust/Cargo.toml"
wrong = [*reasons((ROOT / "Cargo.toml").read_text()), *impure(), *outdated()]
for path in MANIFESTS:
    wrong += unused(path)
print("\n".join(wrong))
sys.exit(bool(wrong))
