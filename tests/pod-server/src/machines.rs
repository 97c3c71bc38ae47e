//! Machines: a kind with a log and commands in a group of its own, for a server behind another one.

use kindsmith::{
    ApiType, Context, ObjectMeta, Resource,
    handlers::{self, ExecOptions, Parent, Result, Session, Text},
    server::Builder,
};
use serde::{Deserialize, Serialize};

use crate::{
    logs::{self, PodLogOptions},
    sessions,
};

/// A machine.
#[derive(Resource, Clone, Debug)]
#[resource(group = "machines.example.com", version = "v1", default = Machine::sign)]
pub struct Machine {
    /// Standard object's metadata.
    pub metadata: ObjectMeta,
    /// The desired state.
    pub spec: MachineSpec,
}

/// The desired state of a machine.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineSpec {
    /// How large it is.
    pub size: Option<i32>,
    /// The user who made it, as this server knows them, and their groups.
    #[api(list = atomic)]
    pub made_by: Option<Vec<String>>,
}

impl Machine {
    fn sign(&mut self, context: &Context<'_, Self>) {
        let maker = || std::iter::once(&context.user.name).chain(&context.user.groups).cloned().collect();
        self.spec.made_by.get_or_insert_with(maker);
    }
}

/// Adds machines to a server.
pub fn serve(server: Builder) -> Builder {
    server.kind::<Machine>().subresource("log", handlers::text(log)).subresource("exec", handlers::exec(exec))
}

async fn log(machine: Parent<Machine>, options: PodLogOptions) -> Result<Text> {
    Ok(logs::lines(&machine.metadata.name, &options))
}

async fn exec(_machine: Parent<Machine>, options: ExecOptions) -> Result<Session> {
    Ok(sessions::command(options))
}
