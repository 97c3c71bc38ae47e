//! The blocks of code in README, in the guide, and in the documentation of the derives. Compiles all of them, and runs the ones that
//! end by themselves. Those of `ApiType` are in tests/foreign, which has schemars.
//!
//! They are compiled here and not in `kindsmith`, because they use the example `library` and axum. A page without Rust is not listed.

#[doc = include_str!("../../README.md")]
struct Readme;

#[doc = include_str!("../../runtime/docs/first-kind.md")]
struct FirstKind;

#[doc = include_str!("../../runtime/docs/fields.md")]
struct Fields;

#[doc = include_str!("../../runtime/docs/rules.md")]
struct Rules;

#[doc = include_str!("../../runtime/docs/hooks.md")]
struct Hooks;

#[doc = include_str!("../../runtime/docs/subresources.md")]
struct Subresources;

#[doc = include_str!("../../runtime/docs/versions.md")]
struct Versions;

#[doc = include_str!("../../runtime/docs/controllers.md")]
struct Controllers;

#[doc = include_str!("../../runtime/docs/clients.md")]
struct Clients;

#[doc = include_str!("../../runtime/docs/definitions.md")]
struct Definitions;

#[doc = include_str!("../../runtime/docs/running.md")]
struct Running;

#[doc = include_str!("../../runtime/docs/settings.md")]
struct Settings;

#[doc = include_str!("../../runtime/docs/oidc.md")]
struct Oidc;

#[doc = include_str!("../../runtime/docs/testing.md")]
struct Testing;

#[doc = include_str!("../../runtime/docs/coming-from.md")]
struct ComingFrom;

#[doc = include_str!("../../macros/src/docs/resource.md")]
struct Resource;

#[doc = include_str!("../../macros/src/docs/message.md")]
struct Message;
