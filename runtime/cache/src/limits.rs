//! The limits of the cache's memory.

/// Limits of the cache.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum memory of past changes of all resources together, in bytes. Watches resume from these changes, and
    /// lists at past revisions are made from them. Beyond it the oldest change is dropped.
    pub history_bytes: usize,
    /// The maximum size of kept renderings in bytes: objects in other encodings than JSON and in other versions.
    pub rendering_bytes: usize,
    /// The maximum size of all indexes of fields and labels in bytes.
    pub index_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            history_bytes: 128 << 20,
            // A list rendering is kept if it takes at most a quarter of this: a page, or a whole small kind. Together
            // with the buffers of 64 slow readers of long lists this stays below 64 MB.
            rendering_bytes: 16 << 20,
            // Three indexes of all of a million objects.
            index_bytes: 64 << 20,
        }
    }
}
