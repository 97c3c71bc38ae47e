//! A project that was written for a cluster with kube-rs: `tenant` is its kind, `controller` its controller. Neither
//! names Kindsmith, which serves the kind and runs the controller in one process; `serve` and `main.rs` are all that it takes. The
//! hooks here take the place of an admission webhook.
//!
//! `cargo run -p kube-rs` runs it.

pub mod controller;
pub mod tenant;

use std::collections::BTreeSet;

use kindsmith::{Context, FieldError, FieldErrorKind, FieldPath, Hooks, handlers::Result, server::Builder};

use crate::tenant::{Plan, Tenant};

/// Adds tenants to a server.
pub fn serve(server: Builder) -> Builder {
    server.kube_kind_with::<Tenant>(Members)
}

/// What the definition of tenants cannot say, on the type that kube's derive makes.
struct Members;

impl Hooks<Tenant> for Members {
    /// Each member is listed once, in order.
    async fn set_defaults(&self, tenant: &mut Tenant, _: &Context<'_, Tenant>) -> Result<()> {
        let members: BTreeSet<_> = tenant.spec.members.drain(..).collect();
        tenant.spec.members.extend(members);
        Ok(())
    }

    /// A plan is never taken back.
    async fn validate(&self, tenant: &Tenant, context: &Context<'_, Tenant>) -> Result<Vec<FieldError>> {
        let is_less = context.old().is_some_and(|old| old.spec.plan == Plan::Team && tenant.spec.plan == Plan::Free);
        let plan = FieldPath::new("spec").child("plan");
        let error = || FieldError::new(&plan, FieldErrorKind::Forbidden, "a team does not become free");
        Ok(is_less.then(error).into_iter().collect())
    }
}
