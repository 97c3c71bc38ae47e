//! The operations that admission tells apart.

/// What a request does to an object, as admission and its metrics name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The object is new.
    Create,
    /// The object changes.
    Update,
    /// The object is deleted.
    Delete,
    /// A connection to the object is opened, such as `exec`.
    Connect,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 4] = [Self::Create, Self::Update, Self::Delete, Self::Connect];

    /// The name in metrics and in Kubernetes' AdmissionReview: `CREATE`, `UPDATE`, `DELETE`, `CONNECT`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        }
    }
}
