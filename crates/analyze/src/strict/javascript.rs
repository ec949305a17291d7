//! JavaScript: stub.
