"""Checks dependencies: each has a reason and is used, no package is built in two versions without a reason here, and the
library without the server needs no runtime, network or store."""

import pathlib
import re
import subprocess
import sys
import tomllib

# Packages built in two versions, each with the reason.
DUPLICATES = {
    "base64": "pem, which rcgen uses, has a newer version than ours",
    "getrandom": "ring has an older version",
}
# Dependencies that no source of their package names, each with the reason.
UNNAMED = {
    ("controller", "k8s-openapi"): "kube needs one of its features",
    ("from-openapi", "k8s-openapi"): "kube needs one of its features",
    ("kindsmith-tests", "library"): "README's blocks of code, which are compiled as documentation tests",
    ("from-openapi", "serde"): "what its build script generates",
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


def duplicates():
    """Packages in two versions that are not listed, and listed ones that are not."""
    tree = subprocess.run(
        ["cargo", "tree", "--workspace", "--locked", "-d", "-e", "normal", "--depth", "0"],
        capture_output=True, text=True, check=True,
    )
    packages = {tuple(line.split()[:2]) for line in tree.stdout.splitlines() if line}
    # The same version may be there with other features, for a macro.
    found = {name for name, version in packages if any(n == name and v != version for n, v in packages)}
    for name in sorted(found - DUPLICATES.keys()):
        yield f"{name} is built in two versions; see `cargo tree -d`"
    for name in sorted(DUPLICATES.keys() - found):
        yield f"{name} is built in one version; remove it from the list"


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


ROOT = pathlib.Path(__file__).parent.parent
MANIFESTS = [ROOT / m / "Cargo.toml" for m in ["macros", "macros/proto", "runtime", "codegen", "tests"]]
MANIFESTS += sorted((ROOT / "examples").glob("*/Cargo.toml"))
MANIFESTS += [ROOT / "tests" / m / "Cargo.toml" for m in ["conformance-server", "pod-server", "renamed", "load", "cluster"]]
wrong = [*reasons((ROOT / "Cargo.toml").read_text()), *duplicates(), *impure()]
for path in MANIFESTS:
    wrong += unused(path)
print("\n".join(wrong))
sys.exit(bool(wrong))
