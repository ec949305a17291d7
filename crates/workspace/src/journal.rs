//! Brings the person's folder from one state to another and back, so that no crash leaves it half
//! changed: planned, written beside, logged, and only then renamed into place.

pub(crate) mod apply;
pub(crate) mod changeover;
pub(crate) mod conflict;
pub(crate) mod crash;
pub(crate) mod discard;
pub(crate) mod durability;
pub(crate) mod history;
pub(crate) mod intention;
pub(crate) mod log;
pub(crate) mod numbered;
pub(crate) mod partial;
pub(crate) mod plan;
pub(crate) mod prune;
pub(crate) mod recover;
pub(crate) mod rename;
pub(crate) mod scratch;
pub(crate) mod undo;
