//! The registry: which kinds are served, under which group and version, and where each one's objects are cached.
