//! Fuzz targets for everything that reads foreign bytes: see `tests/targets.rs`.
