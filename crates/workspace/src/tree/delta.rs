//! One path that differs between the work folder and the staged changes.

use crate::tree::{
    about::Sides,
    listing::Difference,
    relative::Relative,
    stat::{Kind, Moment, Stat},
};
use interpreter_core::{
    autorun,
    sensitive::{self, SensitiveForm},
};
use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

/// One path that differs.
#[derive(Clone, Debug)]
pub(crate) struct Delta {
    /// Its path in the work folder.
    pub(crate) path: Relative,
    pub(crate) before: Option<Stat>,
    /// The staged version, unless it is deleted.
    pub(crate) after: Option<Stat>,
    /// The time of the change.
    pub(crate) staged: Moment,
    /// Whether it is a new folder that was applied before and that the person has removed since:
    /// it only matters to what is in it.
    pub(crate) settled: bool,
}

impl Delta {
    /// Whether it is a folder where none is.
    pub(crate) fn is_new_folder(&self) -> bool {
        let is_folder = |stat: &Option<Stat>| stat.is_some_and(|stat| stat.kind == Kind::Folder);
        is_folder(&self.after) && !is_folder(&self.before)
    }

    /// The place of secrets that it is or is in, and what is kept there. `root` is the work folder.
    pub(crate) fn sensitive(&self, root: &Path) -> Option<(Relative, &'static str)> {
        let is_folder = |stat: Option<Stat>| stat.is_some_and(|stat| stat.kind == Kind::Folder);
        let forms = [is_folder(self.before), is_folder(self.after)];
        let path = Path::new(OsStr::from_bytes(self.path.bytes()));
        forms.into_iter().find_map(|folder| {
            let form = if folder { SensitiveForm::Folder } else { SensitiveForm::File };
            let (place, sensitive) = sensitive::place_of(root, path, form)?;
            Some((Relative::of(place.as_os_str()), sensitive.reason))
        })
    }

    /// The repository of a version control system that it is or is in.
    pub(crate) fn repository(&self) -> Option<Relative> {
        let path = Path::new(OsStr::from_bytes(self.path.bytes()));
        autorun::repository(path).map(|place| Relative::of(place.as_os_str()))
    }

    /// Both versions of it.
    pub(crate) fn sides(&self) -> Sides<'_> {
        Sides { path: &self.path, before: self.before.as_ref(), after: self.after.as_ref() }
    }

    /// As one line of a listing.
    pub(crate) fn difference(&self) -> Difference<'_> {
        let kind = |stat: Option<Stat>| stat.map(|stat| stat.kind);
        Difference { path: &self.path, before: kind(self.before), after: kind(self.after) }
    }
}
