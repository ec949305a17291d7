//! Which of the differences a person means.
//!
//! A path selects itself and everything below it, or itself alone; no path selects everything. A
//! rename is one change: either of its names selects both. An unknown path is an error that names it: a typing
//! mistake must not silently apply less than intended.

use crate::{
    error::WorkspaceError,
    journal::rename::Rename,
    tree::{delta::Delta, relative::Relative, scan::Scan},
};
use interpreter_core::{Extent, LeftOut, Pick};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
};

#[derive(Debug)]
pub(crate) struct Chosen<'a> {
    /// The differences, sorted by path.
    pub(crate) deltas: Vec<&'a Delta>,
    /// Selected entries that cannot be taken over, with the reason.
    pub(crate) left_out: Vec<LeftOut>,
    /// Which of it is a rename.
    pub(crate) renames: Vec<Rename>,
}

/// Everything at and below these paths.
pub(crate) fn below(paths: &[String]) -> Vec<Pick> {
    paths.iter().map(Pick::below).collect()
}

/// Chooses what `picks` mean.
pub(crate) fn choose<'a>(scan: &'a Scan, picks: &[Pick]) -> Result<Chosen<'a>, WorkspaceError> {
    let mut wanted = Wanted::parse(picks);
    let deltas: Vec<_> = scan.waiting().filter(|delta| wanted.has(&delta.path)).collect();
    let left_out = scan
        .skipped
        .iter()
        .filter(|(path, _)| wanted.has(path))
        .map(|(path, why)| path.left_out(why.as_str()))
        .collect();
    let unknown = wanted.unknown();
    if unknown.is_empty() {
        Ok(Chosen { deltas, left_out, renames: Vec::new() }.with_renames(scan))
    } else {
        Err(WorkspaceError::NotAChange { paths: unknown })
    }
}

impl<'a> Chosen<'a> {
    /// Adds the other half of every rename of which one half was chosen.
    fn with_renames(self, scan: &'a Scan) -> Self {
        if scan.renames.is_empty() {
            return self;
        }
        let mut deltas: BTreeMap<&Relative, &Delta> =
            self.deltas.into_iter().map(|delta| (&delta.path, delta)).collect();
        let mut renames = Vec::new();
        for rename in &scan.renames {
            if deltas.contains_key(&rename.from) || deltas.contains_key(&rename.to) {
                let halves = [&rename.from, &rename.to].into_iter().flat_map(|half| {
                    let start = scan.deltas.partition_point(|delta| delta.path < *half);
                    scan.deltas[start..].iter().take_while(move |delta| delta.path.is_within(half))
                });
                deltas.extend(halves.map(|delta| (&delta.path, delta)));
                renames.push(rename.clone());
            }
        }
        Self { deltas: deltas.into_values().collect(), renames, ..self }
    }

    /// Leaves out what has the name of a secret, or belongs to a version control system, unless it
    /// was named itself: nobody who says yes to everything means to have their keys replaced, a file
    /// made that others trust as theirs, or a hook that runs at their next commit.
    #[must_use]
    pub(crate) fn without_withheld(mut self, root: &Path, picks: &[Pick]) -> Self {
        let named: Vec<_> = picks.iter().filter_map(|one| Relative::parse(&one.path)).collect();
        let mut repositories: BTreeMap<Relative, usize> = BTreeMap::new();
        let left_out = &mut self.left_out;
        self.deltas.retain(|delta| {
            let is_named = |place: &Relative| {
                named.iter().any(|one| one.is_within(place) && delta.path.is_within(one))
            };
            if let Some(place) = delta.repository().filter(|place| !is_named(place)) {
                *repositories.entry(place).or_default() += 1;
                return false;
            }
            let Some((_, reason)) = delta.sensitive(root).filter(|(place, _)| !is_named(place))
            else {
                return true;
            };
            left_out.push(
                delta.path.left_out(format!(
                    "it has the name of a secret ({reason}); name it to apply it"
                )),
            );
            false
        });
        for (place, count) in repositories {
            let changes = if count == 1 { "1 change".into() } else { format!("{count} changes") };
            let name = place.text();
            left_out.push(place.left_out(format!(
                "{changes} to a repository, which can run programs; name it to apply it: \
                 `interpreter changes apply {name}`"
            )));
        }
        left_out.sort();
        self
    }

    /// Adds the new folders that what was chosen is in: it cannot be applied without them.
    #[must_use]
    pub(crate) fn with_parents(self, scan: &'a Scan) -> Self {
        let folders: HashMap<&Relative, &Delta> = scan
            .deltas
            .iter()
            .filter(|delta| delta.is_new_folder())
            .map(|delta| (&delta.path, delta))
            .collect();
        let mut deltas: BTreeMap<&Relative, &Delta> = BTreeMap::new();
        for delta in self.deltas {
            let parents = delta.path.ancestors().filter_map(|path| folders.get(&path).copied());
            deltas.extend(parents.map(|parent| (&parent.path, parent)));
            deltas.insert(&delta.path, delta);
        }
        Self { deltas: deltas.into_values().collect(), ..self }
    }
}

/// The paths asked for, and which of them were met.
enum Wanted {
    All,
    These { found: HashMap<Relative, Meeting>, unreadable: Vec<String> },
}

struct Meeting {
    text: String,
    /// Whether everything below the path is meant too.
    below: bool,
    met: bool,
}

impl Wanted {
    fn parse(picks: &[Pick]) -> Self {
        if picks.is_empty() {
            return Self::All;
        }
        let mut found: HashMap<Relative, Meeting> = HashMap::new();
        let mut unreadable = Vec::new();
        for Pick { path: text, extent } in picks {
            let below = *extent == Extent::Below;
            match Relative::parse(text) {
                Some(path) => {
                    let meeting = Meeting { text: text.clone(), below: false, met: false };
                    found.entry(path).or_insert(meeting).below |= below;
                }
                None => unreadable.push(text.clone()),
            }
        }
        Self::These { found, unreadable }
    }

    fn has(&mut self, path: &Relative) -> bool {
        match self {
            Self::All => true,
            Self::These { found, .. } => {
                let mut any = false;
                let whole = [path.clone(), Relative::root()];
                for above in path.ancestors().chain(whole) {
                    if let Some(meeting) = found.get_mut(&above)
                        && (meeting.below || above == *path)
                    {
                        meeting.met = true;
                        any = true;
                    }
                }
                any
            }
        }
    }

    fn unknown(self) -> Vec<String> {
        match self {
            Self::All => Vec::new(),
            Self::These { found, mut unreadable } => {
                let missed: HashSet<String> = found
                    .into_values()
                    .filter(|meeting| !meeting.met)
                    .map(|meeting| meeting.text)
                    .collect();
                unreadable.extend(missed);
                unreadable.sort();
                unreadable
            }
        }
    }
}
