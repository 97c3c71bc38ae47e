"""Puts the binary that KINDSMITH_BINARY names into the wheel, and says on which systems it runs."""

import os
import platform
import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def platform_tag(binary: bytes) -> str:
    """Return the platform of a binary: the newest glibc that it names, or any Linux if it names none."""
    minor_versions = [int(version) for version in re.findall(rb"GLIBC_2\.(\d+)", binary)]
    if minor_versions:
        return f"manylinux_2_{max(minor_versions)}_{platform.machine()}"
    return f"manylinux_2_17_{platform.machine()}.musllinux_1_1_{platform.machine()}"


class BinaryHook(BuildHookInterface[Any]):
    """The hook of hatchling."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the binary as a script, which pip installs beside python. An editable install has none."""
        if version == "editable":
            return
        binary = Path(os.environ["KINDSMITH_BINARY"]).resolve()
        build_data["shared_scripts"][str(binary)] = "kindsmith"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(binary.read_bytes())}"
