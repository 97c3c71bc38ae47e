//! The server: the builder, listeners, TLS, the first run, a graceful stop, and a server for tests.
