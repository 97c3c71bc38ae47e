//! Between bytes and documents: JSON in and out, strict or not, with limits. No I/O.
