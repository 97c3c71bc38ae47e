//! Records: what is stored for an object. The canonical body, and beside it the storage version and a fingerprint of the
//! schema that the body was checked against.
