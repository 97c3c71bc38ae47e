//! Rules: which requests meet a fault, how often, and how often it was met.
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::sync::watch;

use super::{effect::Effect, request::FaultyRequest, rules::Faults};

/// The methods and verbs that [`FaultBuilder::on`] takes.
const METHODS: [&str; 14] = [
    "*", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "get", "list", "watch", "create", "update", "patch", "delete",
];
const DELETE_COLLECTION: &str = "deletecollection";

/// A fault of a server.
pub(super) struct Rule {
    pub effect: Effect,
    /// An HTTP method or a verb; `None` for all.
    method: Option<String>,
    target: Option<Target>,
    /// The beginning of the client's user agent.
    client: Option<String>,
    /// True if the request is carried out before.
    pub carried_out: bool,
    /// The number of events that a watch has before.
    pub after_events: u64,
    /// The revision before which a request begins.
    before: Option<u64>,
    left: AtomicU64,
    count: watch::Sender<u64>,
}

/// The requests that a rule is for.
enum Target {
    /// The segments of a path: a text, `*` for one, or a last `**` for any number.
    Path(Vec<String>),
    /// A resource with its group, and a subresource.
    Resource(String, String),
}

impl Target {
    /// # Panics
    /// If the text is neither a path nor a resource.
    fn parse(text: &str) -> Self {
        if let Some(path) = text.strip_prefix('/') {
            let segments: Vec<_> = path.split('/').map(str::to_owned).collect();
            let misplaced = segments.iter().rev().skip(1).any(|segment| segment == "**")
                || segments.iter().any(|segment| segment.contains('*') && !matches!(segment.as_str(), "*" | "**"));
            assert!(!misplaced, "the path {text:?} of a fault has `*` for a whole segment, and `**` only at its end");
            return Self::Path(segments);
        }
        let (resource, subresource) = text.split_once('/').unwrap_or((text, ""));
        assert!(
            !resource.is_empty() && !text.contains('*') && !subresource.contains('/'),
            "{text:?} is not what a fault can be on: a path such as \"/api/v1/namespaces/*/pods/*\", or a resource such as \
             \"deployments.apps\" or \"deployments.apps/status\""
        );
        Self::Resource(resource.to_owned(), subresource.to_owned())
    }

    fn fits(&self, request: &FaultyRequest) -> bool {
        match self {
            Self::Path(pattern) => {
                let segments: Vec<&str> = request.path.trim_start_matches('/').split('/').collect();
                let (pattern, has_rest) = match pattern.split_last() {
                    Some((last, before)) if last == "**" => (before, true),
                    _ => (&pattern[..], false),
                };
                let is_long_enough =
                    if has_rest { segments.len() >= pattern.len() } else { segments.len() == pattern.len() };
                is_long_enough && pattern.iter().zip(&segments).all(|(wanted, given)| wanted == "*" || wanted == given)
            }
            Self::Resource(resource, subresource) => {
                request.verb.is_some()
                    && request.group_resource().to_string() == *resource
                    && request.resource.subresource == *subresource
            }
        }
    }
}

impl Rule {
    /// True if the rule is for a request.
    pub(super) fn fits(&self, request: &FaultyRequest) -> bool {
        let of_method = self.method.as_ref().is_none_or(|method| {
            method == request.method.as_str() || request.verb.is_some_and(|verb| verb.as_str() == method)
        });
        of_method
            && self.effect.fits(request)
            && self.target.as_ref().is_none_or(|target| target.fits(request))
            && self.client.as_ref().is_none_or(|client| request.is_by(client))
            && self.before.is_none_or(|revision| request.begins_before(revision))
    }

    /// True if it was met as often as it was said.
    pub(super) fn is_spent(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0
    }

    /// Meets it once more. Returns false if it is spent.
    pub(super) fn take(&self) -> bool {
        let less = |left: u64| if left == u64::MAX { Some(left) } else { left.checked_sub(1) };
        let taken = self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_ok();
        if taken {
            self.count.send_modify(|count| *count += 1);
        }
        taken
    }
}

/// A fault that is not added yet.
#[must_use = "a fault is added by `once`, `times` or `always`"]
pub struct FaultBuilder {
    faults: Faults,
    rule: Rule,
}

impl FaultBuilder {
    pub(super) fn new(faults: Faults, effect: Effect) -> Self {
        let rule = Rule {
            effect,
            method: None,
            target: None,
            client: None,
            carried_out: false,
            after_events: 0,
            before: None,
            left: AtomicU64::new(0),
            count: watch::Sender::new(0),
        };
        Self { faults, rule }
    }

    /// The requests that meet it; without this, all that can.
    ///
    /// The first argument is an HTTP method (`PUT`), a verb as in roles (`update`, `watch`), or `*`. The second is a path, in which `*`
    /// is any segment, and a last `**` any rest (`/apis/example.com/v1/namespaces/*/widgets/*`), or a resource in any version and
    /// namespace (`widgets.example.com`, `widgets.example.com/status`, `pods`).
    ///
    /// # Panics
    /// If an argument is none of these.
    pub fn on(mut self, method: &str, target: &str) -> Self {
        assert!(
            METHODS.contains(&method) || method == DELETE_COLLECTION,
            "{method:?} is not what a fault can be on: it is an HTTP method ({}), a verb ({}, {DELETE_COLLECTION}), or \"*\"",
            METHODS[1..7].join(", "),
            METHODS[7..].join(", "),
        );
        self.rule.method = Some(method.to_owned()).filter(|method| method != "*");
        self.rule.target = Some(Target::parse(target));
        self
    }

    /// Only requests of the client whose user agent begins with this: the name of a client of the cluster, or of a controller.
    pub fn by(mut self, client: &str) -> Self {
        self.rule.client = Some(client.to_owned());
        self
    }

    /// The request is carried out, and its answer is what the fault is about: it is lost, late, or another one.
    pub fn carried_out(mut self) -> Self {
        self.rule.carried_out = true;
        self
    }

    /// A watch meets it after this many further events; without this, at once.
    pub fn after_events(mut self, events: u64) -> Self {
        self.rule.after_events = events;
        self
    }

    /// Only lists and watches that begin at a past revision before this one: the `resourceVersion` of a list or an object. With
    /// [`Faults::gone`] and [`always`](Self::always), the history before it is as if it was compacted, for good.
    ///
    /// # Panics
    /// If the text is no number, as all revisions of this server are.
    pub fn before(mut self, resource_version: &str) -> Self {
        let revision = resource_version.parse();
        self.rule.before = Some(revision.unwrap_or_else(|_| panic!("{resource_version:?} is not a resourceVersion")));
        self
    }

    /// Adds it for the next request.
    pub fn once(self) -> Fault {
        self.times(1)
    }

    /// Adds it for the next requests, this many.
    pub fn times(self, times: u64) -> Fault {
        let Self { faults, rule } = self;
        rule.left.store(times, Ordering::Release);
        let rule = Arc::new(rule);
        faults.add(rule.clone());
        Fault { faults, rule }
    }

    /// Adds it for all further requests, until [`Fault::remove`].
    pub fn always(self) -> Fault {
        self.times(u64::MAX)
    }
}

/// A fault that was added. It stays if this is dropped.
pub struct Fault {
    faults: Faults,
    rule: Arc<Rule>,
}

impl Fault {
    /// How often it was met.
    pub fn count(&self) -> u64 {
        *self.rule.count.borrow()
    }

    /// Waits until it was met this many times in total. A test that waits for something that never happens should have a time limit, as
    /// by `tokio::time::timeout`.
    pub async fn met(&self, times: u64) {
        // The sender lives as long as the rule.
        let _ = self.rule.count.subscribe().wait_for(|count| *count >= times).await;
    }

    /// Removes it.
    pub fn remove(&self) {
        self.faults.remove(&self.rule);
        self.rule.left.store(0, Ordering::Release);
    }
}
