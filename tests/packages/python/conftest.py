"""The plugin that runs pytest in tests."""

pytest_plugins = "pytester"
