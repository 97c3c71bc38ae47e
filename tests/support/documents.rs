//! The blocks of code in README and in the documentation of the derives. Compiles all of them, and runs the ones that end by
//! themselves. Those of `ApiType` are in tests/foreign, which has schemars.

#[doc = include_str!("../../README.md")]
struct Readme;

#[doc = include_str!("../../macros/src/docs/resource.md")]
struct Resource;

#[doc = include_str!("../../macros/src/docs/message.md")]
struct Message;
