//! The plugins of admission as the server calls them: in order, again where they ask for it, and measured.
use std::{mem, pin::Pin, time::Instant};

use super::{
    Admission, Attributes, Error, Request, Verbs,
    admission::{Options, ReinvocationPolicy},
    waiting::Permits,
};
use crate::{
    meta::{GroupKind, Operation, options::DeleteOptions, refusal},
    metrics::{self, Step},
    schema::{self, Document, Schema, model::Type},
};

/// The answer of a plugin.
type Decision<'a> = Pin<Box<dyn Future<Output = refusal::Result<()>> + Send + 'a>>;

/// [`Admission`] as an object.
trait DynAdmission: Send + Sync {
    fn name(&self) -> &str;
    fn handles(&self, operation: Operation) -> bool;
    fn has_side_effects(&self) -> bool;
    fn reinvocation_policy(&self) -> ReinvocationPolicy;
    fn admit<'a>(&'a self, attributes: &'a Attributes<'a>, object: &'a mut Document) -> Decision<'a>;
    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, object: &'a Document) -> Decision<'a>;
}

impl<A: Admission> DynAdmission for A {
    fn name(&self) -> &str {
        A::name(self)
    }

    fn handles(&self, operation: Operation) -> bool {
        A::handles(self, operation)
    }

    fn has_side_effects(&self) -> bool {
        A::has_side_effects(self)
    }

    fn reinvocation_policy(&self) -> ReinvocationPolicy {
        A::reinvocation_policy(self)
    }

    fn admit<'a>(&'a self, attributes: &'a Attributes<'a>, object: &'a mut Document) -> Decision<'a> {
        Box::pin(A::admit(self, attributes, object))
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, object: &'a Document) -> Decision<'a> {
        Box::pin(A::validate(self, attributes, object))
    }
}

/// A plugin of admission, and how long it took.
pub struct Plugin {
    plugin: Box<dyn DynAdmission>,
    durations: metrics::Admission,
}

impl Plugin {
    /// A plugin that has not been called yet.
    pub fn new(plugin: impl Admission) -> Self {
        Self { plugin: Box::new(plugin), durations: metrics::Admission::default() }
    }

    /// Awaits the plugin's decision, and measures it.
    async fn run(&self, step: Step, attributes: &Attributes<'_>, decision: Decision<'_>) -> Result<(), Error> {
        if attributes.dry_run && self.plugin.has_side_effects() {
            let name = self.plugin.name();
            return Err(Error::BadRequest(format!("admission plugin {name:?} does not support dry run")));
        }
        let start = Instant::now();
        let result = attributes.permits.outside(decision).await;
        self.durations.observe(step, attributes.operation, result.is_err(), start.elapsed());
        result.map_err(|refusal| attributes.refused(refusal))
    }
}

impl Verbs {
    /// True if a plugin decides about an operation.
    pub fn admits(&self, operation: Operation) -> bool {
        self.plugins(operation).next().is_some()
    }

    fn plugins(&self, operation: Operation) -> impl Iterator<Item = &Plugin> {
        self.admission.iter().filter(move |plugin| plugin.plugin.handles(operation))
    }

    /// Mutating admission.
    pub(super) async fn admit(&self, attributes: &Attributes<'_>, object: &mut Document) -> Result<(), Error> {
        self.measured(Step::Admit, attributes, self.mutate(attributes, object)).await
    }

    /// Validating admission.
    pub(super) async fn validate_by_admission(
        &self,
        attributes: &Attributes<'_>,
        object: &Document,
    ) -> Result<(), Error> {
        let ask_all = async {
            for plugin in self.plugins(attributes.operation) {
                plugin.run(Step::Validate, attributes, plugin.plugin.validate(attributes, object)).await?;
            }
            Ok(())
        };
        self.measured(Step::Validate, attributes, ask_all).await
    }

    /// Awaits all plugins together, and measures them.
    async fn measured(
        &self,
        step: Step,
        attributes: &Attributes<'_>,
        plugins: impl Future<Output = Result<(), Error>>,
    ) -> Result<(), Error> {
        let start = Instant::now();
        let result = plugins.await;
        self.admission_durations.observe(step, attributes.operation, result.is_err(), start.elapsed());
        result
    }

    async fn mutate(&self, attributes: &Attributes<'_>, object: &mut Document) -> Result<(), Error> {
        let plugins: Vec<&Plugin> = self.plugins(attributes.operation).collect();
        let asks = |plugin: &Plugin| plugin.plugin.reinvocation_policy() == ReinvocationPolicy::IfNeeded;
        // Plugins with `IfNeeded` that were called since the last change, and plugins to call again because of one.
        let (mut called, mut again) = (vec![false; plugins.len()], vec![false; plugins.len()]);
        for round in [1, 2] {
            for (at, plugin) in plugins.iter().enumerate() {
                if round == 2 && !again[at] {
                    continue;
                }
                // Compared only for plugins called before that would be called again.
                let before = called.contains(&true).then(|| object.clone());
                plugin.run(Step::Admit, attributes, plugin.plugin.admit(attributes, object)).await?;
                if before.is_some_and(|before| before != *object) {
                    again.iter_mut().zip(&mut called).for_each(|(again, called)| *again |= mem::take(called));
                }
                called[at] = asks(plugin);
            }
        }
        Ok(())
    }

    /// Admits the deletion of an object, which is `None` if it cannot be read.
    pub(super) async fn admit_deletion(
        &self,
        request: &Request,
        permits: Permits<'_>,
        options: &DeleteOptions,
        object: Option<&Document>,
    ) -> Result<(), Error> {
        if !self.admits(Operation::Delete) {
            return Ok(());
        }
        let operation = (Operation::Delete, Options::Delete(options));
        let kind = &*request.resource.kind;
        let kind = (&kind.group_version, kind.names().kind.as_str());
        let attributes = Attributes::new(self, request, kind, operation, (&request.name, object));
        let attributes = Attributes { permits, ..attributes };
        self.admit(&attributes, &mut Document::Null).await?;
        self.validate_by_admission(&attributes, &Document::Null).await
    }

    /// Admits a connection to the requested object through a subresource, with its parameters. What plugins leave of them is
    /// checked like the parameters of a client. Without a schema they are empty.
    ///
    /// # Errors
    /// Why a plugin refuses the connection, or why the parameters that it has changed are invalid.
    pub async fn admit_connection(
        &self,
        request: &Request,
        schema: Option<&Schema>,
        parameters: &mut Document,
    ) -> Result<(), Error> {
        if !self.admits(Operation::Connect) {
            return Ok(());
        }
        let group_version = &request.resource.kind.group_version;
        let kind = schema.and_then(|schema| schema.name.as_deref()).unwrap_or_default();
        let operation = (Operation::Connect, Options::Connect);
        let attributes = Attributes::new(self, request, (group_version, kind), operation, (&request.name, None));
        self.admit(&attributes, parameters).await?;
        let none = Schema { kind: Type::Object, ..Schema::default() };
        let schema = schema.unwrap_or(&none);
        if let Some(why) = schema::check_types(schema, parameters) {
            return Err(Error::Internal(format!("admission has left invalid parameters: {why}")));
        }
        schema::prune(schema, parameters);
        schema::default(schema, parameters, &request.meter)?;
        let errors = schema::validate(schema, parameters, &request.meter)?;
        if !errors.is_empty() {
            let kind = GroupKind { group: group_version.group.clone(), kind: kind.to_owned() };
            return Err(Error::Invalid(kind, request.name.clone(), errors));
        }
        self.validate_by_admission(&attributes, parameters).await
    }

    /// How long admission took: each plugin by name, and under no name all plugins together.
    pub fn admission_durations(&self) -> impl Iterator<Item = (Option<&str>, &metrics::Admission)> {
        let each = self.admission.iter().map(|plugin| (Some(plugin.plugin.name()), &plugin.durations));
        each.chain([(None, &self.admission_durations)])
    }
}
