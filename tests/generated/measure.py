#!/usr/bin/env python3
"""What it costs to generate all of Kubernetes and to build the generated crate, beside k8s-openapi; and what a build.rs costs.

    python3 tests/generated/measure.py [RUNS]

Reads ../shared/corpus/kubernetes, and makes crates under target/measure. All builds have the profile dev without debug symbols. A
crate is built RUNS times (3), with its dependencies built before, and the build with the least CPU time counts. The memory is that
of the largest process. The build.rs is that of a crate with one small document, built clean with all that it needs, beside the same crate
with the generated file committed. Standard library only."""
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "measure"
CORPUS = ROOT.parent / "shared" / "corpus" / "kubernetes"
DOCUMENT = ROOT / "schemas" / "marina.example.com"
KINDSMITH = f'kindsmith = {{ path = "{ROOT}/runtime", default-features = false }}\nserde = {{ version = "1", features = ["derive"] }}\n'
GENERATOR = f'kindsmith-codegen = {{ path = "{ROOT}/codegen", default-features = false }}\n'
FOREIGN = 'k8s-openapi = { version = "0.29", features = ["latest"] }\n'


def cargo(package, *words):
    """Runs cargo in a package of WORK. Returns seconds of CPU and of the clock, and megabytes of the largest process."""
    environment = {**os.environ, "CARGO_TARGET_DIR": str(WORK / "target"), "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "0"}
    started = time.monotonic()
    process = subprocess.Popen(
        ["cargo", *words], cwd=WORK / package, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    errors = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"cargo {' '.join(words)} in {WORK / package} failed:\n{errors}")
    return used.ru_utime + used.ru_stime, time.monotonic() - started, used.ru_maxrss / 1024


def package(name, dependencies, lib, build=None):
    """Makes a package of WORK."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "src").mkdir(parents=True)
    scripts = f"[build-dependencies]\n{GENERATOR}" if build else ""
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "{name}"\nedition = "2024"\n[dependencies]\n{dependencies}{scripts}[workspace]\n'
    )
    shutil.copy(ROOT / "Cargo.lock", folder)
    (folder / "src" / "lib.rs").write_text(lib)
    if build:
        (folder / "build.rs").write_text(build)


def alone(name, crate, runs):
    """The cheapest of some builds of a crate alone: seconds of CPU and of the clock, and megabytes."""
    cargo(name, "build")
    builds = []
    for _ in range(runs):
        cargo(name, "clean", "-p", crate)
        builds.append(cargo(name, "build", "-p", crate))
    return min(builds)


def packages(name):
    """The packages that a package needs, with those of build scripts."""
    tree = subprocess.run(
        ["cargo", "tree", "--prefix", "none", "-e", "normal,build"], cwd=WORK / name, capture_output=True, text=True, check=True
    )
    return {line.split()[0] for line in tree.stdout.splitlines() if line}


def kubernetes(runs):
    """All of Kubernetes."""
    environment = {**os.environ, "CARGO_PROFILE_DEV_DEBUG": "0"}
    subprocess.run(["cargo", "build", "-q", "-p", "kindsmith-codegen"], cwd=ROOT, env=environment, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    kindsmith = ROOT / target / "debug" / "kindsmith"
    package("kinds", KINDSMITH, "")
    started = time.monotonic()
    subprocess.run(
        [kindsmith, "generate", CORPUS, "--out", WORK / "kinds" / "src" / "generated"], check=True, capture_output=True
    )
    print(f"generating all of Kubernetes, unoptimized: {time.monotonic() - started:.1f} s")
    (WORK / "kinds" / "src" / "lib.rs").write_text("pub mod generated;\n")
    lines = sum(len(path.read_text().splitlines()) for path in (WORK / "kinds" / "src").rglob("*.rs"))
    print(f"lines of the generated crate: {lines}")
    package("foreign", FOREIGN, "")
    for name, crate in [("kinds", "kinds"), ("foreign", "k8s-openapi")]:
        cpu, clock, memory = alone(name, crate, runs)
        print(f"building {crate}: {cpu:.1f} s of CPU, {clock:.1f} s of the clock, {memory:.0f} MB")


def script():
    """A build.rs, beside the file that it generates."""
    build = f'fn main() {{ kindsmith_codegen::Builder::new()' + "".join(
        f'.file("{path}")' for path in sorted(DOCUMENT.iterdir()) if path.suffix in {".json", ".yaml"}
    ) + ".quiet().compile().unwrap() }\n"
    package("script", KINDSMITH, 'include!(concat!(env!("OUT_DIR"), "/kinds.rs"));\n', build)
    cargo("script", "build")
    generated = max((WORK / "target" / "debug" / "build").glob("script-*/out/kinds.rs"), key=os.path.getmtime)
    package("committed", KINDSMITH, generated.read_text())
    further = packages("script") - packages("committed") - {"script"}
    clean = {}
    for name in ["committed", "script"]:
        shutil.rmtree(WORK / "target")
        clean[name] = cargo(name, "build")
        print(f"clean build, {name}: {clean[name][0]:.1f} s of CPU, {clean[name][1]:.1f} s of the clock")
    print(f"a build.rs: {len(further)} further packages ({', '.join(sorted(further))})")


def main():
    if not CORPUS.is_dir():
        sys.exit(f"NOT RUN: {CORPUS} is missing")
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    kubernetes(runs)
    script()


if __name__ == "__main__":
    main()
