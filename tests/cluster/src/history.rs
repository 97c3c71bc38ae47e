//! What clients did and saw in one round: operations on objects, and the steps of watchers. Recorded by the workload,
//! written to a file, and judged by `check`. Times are nanoseconds of one monotonic clock.
use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// Nanoseconds since the program began.
pub(crate) type Time = u64;
/// A resourceVersion as a number.
pub(crate) type Version = u64;
/// The objects of a list: name, version and value.
pub(crate) type Items = BTreeMap<String, (Version, String)>;

/// A request with its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Operation {
    pub(crate) client: usize,
    pub(crate) server: usize,
    /// Before the request was sent.
    pub(crate) start: Time,
    /// After the answer, or when the client gave up.
    pub(crate) end: Time,
    pub(crate) call: Call,
    pub(crate) outcome: Outcome,
}

/// A request. Each written value is unique, so that readers know which write they see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Call {
    Create {
        object: String,
        value: String,
    },
    /// An update; without `expect` it has no precondition (PUT without resourceVersion, or PATCH).
    Update {
        object: String,
        value: String,
        expect: Option<Version>,
    },
    Delete {
        object: String,
        expect: Option<Version>,
    },
    Get {
        object: String,
    },
    /// A list of all objects. Of a list in pages, the times are those of the first page, which chooses the version.
    List {
        pages: usize,
    },
}

/// What the client learned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Outcome {
    Written {
        version: Version,
    },
    Deleted,
    Found {
        version: Version,
        value: String,
    },
    /// 404.
    Absent,
    /// 409 for a create.
    Exists,
    /// 409 for a precondition.
    Conflict,
    Listed {
        version: Version,
        items: Items,
    },
    /// Nothing happened, and the client learned nothing.
    Refused,
    /// The request may have its effect at any later time, or never.
    Unknown,
}

/// One client's list and watch, resumed on other servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Watcher {
    /// The only object that it selects; `None` for all.
    #[serde(default)]
    pub(crate) selects: Option<String>,
    pub(crate) steps: Vec<Step>,
}

impl Watcher {
    /// True if the watcher selects an object.
    pub(crate) fn covers(&self, object: &str) -> bool {
        self.selects.as_deref().is_none_or(|only| only == object)
    }
}

/// What a watcher received, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) time: Time,
    pub(crate) server: usize,
    pub(crate) seen: Seen,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Seen {
    /// A consistent list: at the beginning, and after 410.
    Listed {
        version: Version,
        items: Items,
    },
    /// A watch from the last position was accepted.
    Resumed,
    Added {
        object: String,
        version: Version,
        value: String,
    },
    Modified {
        object: String,
        version: Version,
        value: String,
    },
    /// The value is that before the deletion, the version that of the deletion.
    Deleted {
        object: String,
        version: Version,
        value: String,
    },
    Bookmark {
        version: Version,
    },
    /// 410: a list follows.
    Expired,
}

impl Seen {
    /// The object and the version of a change.
    pub(crate) fn change(&self) -> Option<(&str, Version)> {
        match self {
            Self::Added { object, version, .. }
            | Self::Modified { object, version, .. }
            | Self::Deleted { object, version, .. } => Some((object, *version)),
            _ => None,
        }
    }
}

/// Everything that was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct History {
    pub(crate) operations: Vec<Operation>,
    pub(crate) watchers: Vec<Watcher>,
}

impl Call {
    /// The object, for all but lists.
    pub(crate) fn object(&self) -> Option<&str> {
        match self {
            Self::Create { object, .. }
            | Self::Update { object, .. }
            | Self::Delete { object, .. }
            | Self::Get { object } => Some(object),
            Self::List { .. } => None,
        }
    }

    /// The written value.
    pub(crate) fn value(&self) -> Option<&str> {
        match self {
            Self::Create { value, .. } | Self::Update { value, .. } => Some(value),
            _ => None,
        }
    }
}

impl Outcome {
    /// True if the request has had no effect, by what the server answered.
    pub(crate) fn failed(&self) -> bool {
        matches!(self, Self::Absent | Self::Exists | Self::Conflict | Self::Refused)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = (seconds(self.start), seconds(self.end));
        write!(f, "{start}..{end} client {} at server {}: ", self.client, self.server)?;
        let given = |expect: &Option<Version>| expect.map_or(String::new(), |at| format!(" if at {at}"));
        match &self.call {
            Call::Create { object, value } => write!(f, "create {object} = {value}")?,
            Call::Update { object, value, expect } => write!(f, "update {object} = {value}{}", given(expect))?,
            Call::Delete { object, expect } => write!(f, "delete {object}{}", given(expect))?,
            Call::Get { object } => write!(f, "get {object}")?,
            Call::List { pages } => write!(f, "list in {pages} pages")?,
        }
        match &self.outcome {
            Outcome::Written { version } => write!(f, ": version {version}"),
            Outcome::Found { version, value } => write!(f, ": {value} of version {version}"),
            Outcome::Listed { version, items } => write!(f, ": {} objects at version {version}", items.len()),
            other => write!(f, ": {other:?}"),
        }
    }
}

/// A time in seconds, for people.
pub(crate) fn seconds(time: Time) -> String {
    format!("{}.{:06}", time / 1_000_000_000, time / 1_000 % 1_000_000)
}
