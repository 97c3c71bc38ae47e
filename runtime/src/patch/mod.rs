//! Patches as pure functions on documents: JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7386).
