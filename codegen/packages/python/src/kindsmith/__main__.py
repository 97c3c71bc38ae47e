"""Runs the command: `python -m kindsmith`."""

import os
import sys

from kindsmith.server import find_binary

if __name__ == "__main__":
    binary = str(find_binary())
    os.execv(binary, [binary, *sys.argv[1:]])  # noqa: S606
