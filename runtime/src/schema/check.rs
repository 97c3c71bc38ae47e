//! What a schema must hold to by itself, beyond what the derive can see.
use super::Schema;

impl Schema {
    /// Checks the schema by itself: defaults valid against their own schema, required fields and list keys that exist.
    ///
    /// # Errors
    /// Everything that is wrong, each with its path.
    pub fn check(&self) -> Result<(), Vec<String>> {
        todo!()
    }
}
