#!/usr/bin/env python3
"""Puts a binary of the command into a wheel and into two npm packages, and writes them to a folder. Publishes nothing.

    build.py --binary target/release/kindsmith --output FOLDER [wheel] [npm]

The wheel needs pip, which fetches hatchling. The npm packages need npm: `kindsmith` has the fixtures, and `@kindsmith/linux-x64`, or
another of the system on which this runs, has the binary. Versions are that of Cargo.toml.
"""
import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# What Node calls processors.
CPUS = {"x86_64": "x64", "aarch64": "arm64"}


def version() -> str:
    """The version of the workspace."""
    found = re.search(r'^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    return found[1] if found else sys.exit("Cargo.toml has no version")


def wheel(binary: pathlib.Path, output: pathlib.Path) -> None:
    """Builds the wheel."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    environment = {**os.environ, "KINDSMITH_BINARY": str(binary)}
    subprocess.run([*command, "--wheel-dir", output, HERE / "python"], env=environment, check=True)


def npm(binary: pathlib.Path, output: pathlib.Path) -> None:
    """Packs the two npm packages, with the version and the license filled in."""
    system, cpu = sys.platform, CPUS[platform.machine()]
    package = json.loads((HERE / "npm" / "package.json").read_text())
    package |= {"version": version(), "optionalDependencies": {f"@kindsmith/{system}-{cpu}": version()}}
    of_platform = {
        "name": f"@kindsmith/{system}-{cpu}",
        "description": f"The command kindsmith for {system} on {cpu}",
        "version": version(),
        "license": package["license"],
        "os": [system],
        "cpu": [cpu],
        "files": ["bin"],
        "preferUnplugged": True,
    }
    if b"GLIBC_2." in binary.read_bytes():
        of_platform["libc"] = ["glibc"]
    with tempfile.TemporaryDirectory() as folder:
        main, system_folder = pathlib.Path(folder, "main"), pathlib.Path(folder, "system")
        shutil.copytree(HERE / "npm", main, ignore=shutil.ignore_patterns("node_modules"))
        (system_folder / "bin").mkdir(parents=True)
        shutil.copy(binary, system_folder / "bin" / "kindsmith")
        (system_folder / "bin" / "kindsmith").chmod(0o755)
        for place, manifest in [(main, package), (system_folder, of_platform)]:
            (place / "package.json").write_text(json.dumps(manifest, indent=2) + "\n")
            shutil.copy(ROOT / "LICENSE", place)
            subprocess.run(["npm", "pack", "--silent", "--pack-destination", output], cwd=place, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("packages", nargs="*", help="wheel, npm: both if none is named")
    given = parser.parse_args()
    builders = {"wheel": wheel, "npm": npm}
    given.output.mkdir(parents=True, exist_ok=True)
    for name in given.packages or builders:
        builders[name](given.binary.resolve(), given.output.resolve())


if __name__ == "__main__":
    main()
