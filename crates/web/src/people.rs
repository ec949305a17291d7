//! The people of a team: what each may do, and with whose sessions.
//!
//! [`TeamRole`]s and [`ShareKind`]s become rights in pure code. [`TeamHub`] serves everybody: each person
//! has sessions and folders of their own, and reaches another's session by a share and in no other
//! way.
//!
//! Must not let anybody learn whether a session exists that is not theirs and not shared with them.

pub use self::{
    roles::TeamRole,
    share_kind::ShareKind,
    team::{TeamError, TeamHub},
};

mod approving;
mod guests;
mod kept_table;
mod listing;
pub(crate) mod reaching;
mod roles;
pub(crate) mod share_kind;
mod shares;
mod sharing;
mod team;
