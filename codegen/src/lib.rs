//! The library for a build.rs, to generate kinds from OpenAPI documents and CRD manifests. It is still empty; the
//! generator will use the model in `kindsmith::kind`.
//!
//! The package also contains the command `kindsmith`, behind the feature `cli`, which is enabled by default. With
//! `default-features = false` neither the command nor the server is built, but the pure layers of `kindsmith` are.
