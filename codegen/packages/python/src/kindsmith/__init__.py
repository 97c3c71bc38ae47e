"""API servers like Kubernetes' own, for tests: start one, use it with any client, stop it.

The command `kindsmith` is part of this package. The fixtures of pytest are in `kindsmith.pytest_plugin`.
"""

from kindsmith.server import Server, ServerError, find_binary

__all__ = ["Server", "ServerError", "find_binary"]
