//! Files on their way to a client: one by one, as a patch, or as an archive.
//!
//! Nothing is held but a piece at a time. The length of an answer is known before its first byte, so
//! one that breaks off is noticed. Must not know what a session or a connection is.

pub(crate) use self::{
    download::{FilesDownload, FilesForm, FilesWish},
    lasting::LastingRight,
    zip::ZipPlan,
};

mod download;
mod lasting;
mod member_names;
mod zip;
