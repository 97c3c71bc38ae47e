//! The library for a build.rs: generation of kinds from OpenAPI documents and CRD manifests. Nothing is here yet; the model
//! that it will emit from is `kindsmith::kind`.
//!
//! The package also holds the command `kindsmith`, behind the feature `cli`, which is on by default. With
//! `default-features = false` neither the command nor the server is built.
