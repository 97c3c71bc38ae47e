//! How far a storage migration is, which a server reports to the client of the store's socket.

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

/// The progress of a resource's storage migration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Migration {
    /// The resource, such as `books.library.example.com`.
    pub resource: String,
    /// The number of objects examined.
    pub seen: u64,
    /// The number of objects rewritten.
    pub rewritten: u64,
    /// The number of objects left unchanged because they cannot be read or converted, or would be too large.
    pub skipped: u64,
    /// Key, below the resource's prefix, and reason of the first hundred skipped objects.
    pub reasons: Vec<(String, String)>,
    /// The number of objects not yet examined.
    pub left: u64,
}

/// A line of a server's answer.
#[derive(Debug, Serialize, Deserialize)]
pub enum Report {
    /// The progress of one resource. Only the last report of a resource has the reasons.
    Progress(Migration),
    /// Why the migration ended early; the last line.
    Failed(String),
    /// The migration is complete; the last line.
    Done,
}

/// The reports of a running migration. Dropping the receiver ends the migration.
pub type Reports = mpsc::Receiver<Report>;
