//! Faults on demand, for tests of programs that must survive them: conflicts, refusals, lost answers, cut watches, slow answers.
//!
//! A server has this layer only if a test put it there; others have no code of it on the way of their requests. Of the rules that
//! fit a request, the one that was added first counts, as often as it was said.
//!
//! - `rules`: the rules of a server; `rule`: which requests a rule is for, how often, and how often it was met;
//! - `request`: what a rule sees of a request;
//! - `effect`: what a rule does, and the answers of kube-apiserver that it gives;
//! - `service`: the layer; `watch`: the bodies of watches.
mod effect;
mod request;
mod rule;
mod rules;
mod service;
mod watch;

pub use effect::ConnectionReset;
pub use rule::{Fault, FaultBuilder};
pub use rules::Faults;
pub use service::FaultLayer;
