//! Drives a real host with real interpreters, as the outside does.
//!
//! The host takes its whole process (it waits for every child), so each test starts this binary
//! again to be one. `python3`, `node`, `bash`, `zsh`, `dash` and
//! `busybox` must be installed: a test without them fails.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod calls;
mod javascript;
mod javascripts;
mod life;
mod python;
mod refused;
mod role;
mod scene;
mod shell;
mod shells;
