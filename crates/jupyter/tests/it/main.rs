//! Drives the real bridge with real kernels, as the host does, and with kernels that misbehave.
//!
//! The kernels are ipykernel and xeus-python, which has nothing of it but its language: it is
//! written in C++. `scripts/test` installs both; without them these tests fail.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::format_collect,
    reason = "a test that cannot go on fails, and tests start the bridge itself"
)]

mod hostile;
mod kernels;
mod life;
mod scene;
