//! The built-in kinds, declared with our own derive, and their lifecycle controllers.
