//! A session at a terminal: one way to draw, one way to ask.
//!
//! Everything that is drawn goes through [`screen`], which tells our own rows from foreign ones.
//! Every answer comes through [`ask`], which takes none that was typed before its question was
//! visible.

mod again;
pub(crate) mod answer;
pub(crate) mod ask;
mod changes_question;
pub(crate) mod chat;
mod code_question;
pub(crate) mod confined;
mod countdown;
mod device;
pub(crate) mod download;
mod draft;
pub(crate) mod editor;
pub(crate) mod first_start;
mod fold;
mod foreign;
pub(crate) mod found;
pub(crate) mod frontend;
pub(crate) mod gallery;
pub(crate) mod generated;
mod host_question;
pub(crate) mod hosts;
mod hunks_question;
pub(crate) mod json;
mod keyboard;
mod life;
mod line_editor;
mod link;
pub(crate) mod listing;
mod long_run;
mod markdown;
mod model_question;
pub(crate) mod opener;
pub(crate) mod ours;
pub(crate) mod outlet;
pub(crate) mod outline_question;
mod own_rows;
mod package_question;
mod packages;
pub(crate) mod pager;
mod passing;
pub(crate) mod person;
mod picture;
pub(crate) mod plain;
mod prompt_history;
mod questions;
pub(crate) mod repl;
pub(crate) mod repl_editor;
pub(crate) mod replay_question;
mod rows;
mod run_clock;
pub(crate) mod screen;
mod section;
pub(crate) mod signals;
mod status;
mod strokes;
mod style;
pub(crate) mod syntax;
mod terminal_lock;
pub(crate) mod theme;
pub(crate) mod transcript;
mod tty;
pub(crate) mod view;
mod width;
